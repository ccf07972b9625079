"""The Data Entry Trigger: one form-encoded POST, no retry (reference/redcap_dify.md 1.10)."""

from __future__ import annotations

import threading
from typing import Any

import httpx

from demo.simulators.redcap.contents import VERSION
from demo.simulators.redcap.dictionary import Dictionary
from demo.simulators.redcap.store import Record, RowKey

TIMEOUT_S = 5.0


def det_fields(
    dictionary: Dictionary, record: Record, key: RowKey, instrument: str, user: str
) -> dict[str, str]:
    """The body of one trigger, without the two addresses."""
    project_id = str(dictionary.study.project.get("project_id", ""))
    status = f"{instrument}_complete"
    fields = {
        "project_id": project_id,
        "username": user,
        "instrument": instrument,
        "record": record.id,
        "redcap_event_name": key.event,
        "redcap_data_access_group": record.dag,
        "redcap_repeat_instance": str(key.instance or ""),
        "redcap_repeat_instrument": key.instrument,
    }
    sent = {name: value for name, value in fields.items() if value}
    return sent | {status: record.rows.get(key, {}).get(status, "0")}


def addresses(base: str, project_id: str) -> dict[str, str]:
    """`redcap_url` and `project_url` of a server at `base`, which ends in a slash."""
    project_url = f"{base}redcap_v{VERSION}/index.php?pid={project_id}"
    return {"redcap_url": base, "project_url": project_url}


class Trigger:
    """Sends triggers in the background and remembers what became of them."""

    def __init__(self) -> None:
        self.url = ""
        self.sent: list[dict[str, Any]] = []

    def fire(self, fields: dict[str, str]) -> None:
        """One attempt in a thread of its own; nothing without a URL."""
        if self.url:
            thread = threading.Thread(target=self._post, args=(self.url, fields), daemon=True)
            thread.start()

    def _post(self, url: str, fields: dict[str, str]) -> None:
        outcome: dict[str, Any] = {"url": url, "fields": fields, "status": None, "error": ""}
        try:
            with httpx.Client(timeout=TIMEOUT_S, trust_env=False) as client:
                outcome["status"] = client.post(url, data=fields).status_code
        except httpx.HTTPError as error:
            outcome["error"] = type(error).__name__
        self.sent.append(outcome)

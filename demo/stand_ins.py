"""Telling the stand-ins who may read what (contracts.md, Stand-ins, /_control/configure)."""

from __future__ import annotations

from datetime import date
from typing import Any

from django.conf import settings

from integrations.pool import http

DATASET_ID = "6f1d1a52-3c1f-4d0c-9a57-5f1b7f0c2d11"


def base_url() -> str:
    """Where the stand-ins listen."""
    return f"http://127.0.0.1:{settings.SIM_PORT}"


def configure(run: dict[str, Any], *, det_url: str, today: date) -> None:
    """Post tokens, Dify key, members and the Data Entry Trigger's address. Raises httpx.HTTPError."""
    tokens = run["redcap_tokens"]
    content = {
        "today": today.isoformat(),
        "redcap": {
            "tokens": [
                _token(tokens["full"], "iit_manager", "full", None),
                _token(tokens["deidentified"], "iit_deidentified", "deidentified", None),
                _token(tokens["site_a"], "iit_site_a", "full", "site_a"),
                _token(tokens["site_b"], "iit_site_b", "full", "site_b"),
            ],
            "det_url": det_url,
        },
        "dify": {"key": run["dify_key"], "dataset_id": DATASET_ID},
        "wecom": {"users": members()},
    }
    url = f"{base_url()}/_control/configure"
    http().post(url, json=content, timeout=20).raise_for_status()


def _token(token: str, user: str, export: str, dag: str | None) -> dict[str, Any]:
    return {
        "token": token,
        "user": user,
        "export": export,
        "dag": dag,
        "api_export": True,
        "api_import": False,
        "logging": True,
    }


def members() -> list[dict[str, str]]:
    """Who may be chosen on the phone page."""
    from projects.models import Member

    rows = Member.objects.filter(project__code="LUNG-IIT", is_active=True)
    return [
        {"userid": row.wecom_userid, "name": row.display_name, "title": row.get_role_display()}
        for row in rows
    ]

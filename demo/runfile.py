"""`var/run.json`: ports, pids, demo logins and tokens of `make run`, kept across runs (contracts.md)."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path
from typing import Any

from django.conf import settings

USERS = ("admin", "zhangyi", "wanghushi", "crc_b", "auditor")
RIGHTS = ("full", "deidentified", "site_a", "site_b")


def path() -> Path:
    """Where the file is."""
    return Path(settings.VAR_DIR) / "run.json"


def load() -> dict[str, Any]:
    """What was written before; missing parts are generated."""
    try:
        content: dict[str, Any] = json.loads(path().read_text("utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        content = {}
    logins = content.setdefault("logins", {})
    for user in USERS:
        logins.setdefault(
            user, {"password": secrets.token_urlsafe(9), "token": secrets.token_hex(20)}
        )
        logins[user]["api_token"] = logins[user]["token"]
    tokens = content.setdefault("redcap_tokens", {})
    for right in RIGHTS:
        tokens.setdefault(right, secrets.token_hex(16).upper())
    content.setdefault("house_token", secrets.token_hex(20))
    content.setdefault("dify_key", f"dataset-{secrets.token_urlsafe(16)}")
    return content


def save(content: dict[str, Any]) -> None:
    """Replace the file; only its owner may read it."""
    target = path()
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_suffix(".tmp")
    draft.unlink(missing_ok=True)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(content, file, ensure_ascii=False, indent=2)
    draft.replace(target)

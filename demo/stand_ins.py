"""Telling the stand-ins who may read what (contracts.md, Stand-ins, /_control/configure)."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import date
from enum import Enum
from typing import Any

import httpx
from django.conf import settings
from django.utils.translation import gettext as _

from core.integrations.pool import http

DATASET_ID = "6f1d1a52-3c1f-4d0c-9a57-5f1b7f0c2d11"


def base_url() -> str:
    """Where the stand-ins listen."""
    return f"http://127.0.0.1:{settings.SIM_PORT}"


class Owner(Enum):
    """Whose stand-ins answer."""

    OURS = "ours"
    NOBODY = "nobody"
    """Started by hand, without a house: whoever comes may configure them."""
    OTHERS = "others"
    """Another house's, or something that is no stand-in at all."""


def are_others(run: dict[str, Any]) -> bool:
    """Whether something answers on our port that is not for us to configure."""
    try:
        return owner(run) is Owner.OTHERS
    except httpx.HTTPError:
        return False


def taken() -> str:
    """What is said where the port of our stand-ins is not ours."""
    return _(
        "Port %(port)s is used by another house or another program; choose another with %(name)s=…"
    ) % {"port": settings.SIM_PORT, "name": "SIM_PORT"}


def owner(run: dict[str, Any]) -> Owner:
    """Whose the stand-ins on our port are; the token itself is not given away. Raises httpx.HTTPError."""
    nonce = secrets.token_hex(16)
    answer = http().get(f"{base_url()}/_control/house", params={"nonce": nonce}, timeout=5)
    try:
        said = answer.json()["house"]
    except (ValueError, TypeError, KeyError):
        return Owner.OTHERS
    proof = hmac.new(run["house_token"].encode(), nonce.encode(), hashlib.sha256).hexdigest()
    return {proof: Owner.OURS, "": Owner.NOBODY}.get(str(said), Owner.OTHERS)


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
    url, headers = f"{base_url()}/_control/configure", {"X-House-Token": run["house_token"]}
    http().post(url, json=content, headers=headers, timeout=20).raise_for_status()


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

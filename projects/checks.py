"""System checks: production refuses to start with demo or missing secrets (contracts.md)."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError
from django.utils.timezone import localdate

from core.house import crypto, holidays, key_ring
from core.house.proxies import networks
from core.privacy.outbound_policy import OutsideRefused, check_url
from projects.models.project import Role

REQUIRED = (
    "SECRET_KEY",
    "ALLOWED_HOSTS",
    "PUBLIC_URL",
    "WECOM_CORP_ID",
    "WECOM_AGENT_ID",
    "WECOM_SECRET",
)
CALLBACK = ("WECOM_TOKEN", "WECOM_AES_KEY")
"""Not where the smart bot comes by its long connection: then nothing has to reach us."""
HINT = "Set it in the environment or in .env; .env.example explains each value."


@register()
def encryption_keys(**_: Any) -> list[CheckMessage]:
    """Encrypted columns need keys in every mode."""
    try:
        crypto.keys()
    except ImproperlyConfigured as error:
        return [Error(str(error), hint="make install writes them into .env", id="iit.E001")]
    try:
        key_ring.check()
    except key_ring.WrongKeys as error:
        hint = "Set the keys that the database was written with: a new one before them, none instead of them."
        return [Error(str(error), hint=hint, id="iit.E006")]
    except DatabaseError:  # whether there is one is for /readyz to tell
        return []
    return []


@register()
def demo_day(**_: Any) -> list[CheckMessage]:
    """The day the demo is at must be one."""
    try:
        date.fromisoformat(settings.DEMO_TODAY or "2026-01-01")
    except ValueError:
        return [Error("DEMO_TODAY is not a date (YYYY-MM-DD)", hint=HINT, id="iit.E005")]
    return []


@register()
def production_values(**_: Any) -> list[CheckMessage]:
    """Without DEBUG nothing has a default that could pass for a secret."""
    if settings.DEBUG:
        return []
    callback = () if _value("WECOM_AIBOT_ID") and _value("WECOM_AIBOT_SECRET") else CALLBACK
    values = {name: _value(name) for name in (*REQUIRED, *callback)}
    found: list[CheckMessage] = [
        Error(f"{name} is not set", hint=HINT, id="iit.E002")
        for name, value in values.items()
        if not value
    ]
    if 0 < len(values["SECRET_KEY"]) < 32:
        found.append(Error("SECRET_KEY is too short", hint=HINT, id="iit.E003"))
    if _value("LLM_BASE_URL") and not _value("LLM_API_KEY"):
        # Without an address of the house each study may name its own, with a key of its own.
        found.append(Error("LLM_API_KEY is not set", hint=HINT, id="iit.E002"))
    found += [
        Error(f"{name} has the value of the demo", hint=HINT, id="iit.E004")
        for name, demo in settings.DEMO_VALUES.items()
        if _value(name) == demo
    ]
    return found


def _value(name: str) -> Any:
    try:
        return getattr(settings, name)
    except ImproperlyConfigured:  # Django's own word on a blank SECRET_KEY
        return ""


@register()
def trusted_proxies(**_: Any) -> list[CheckMessage]:
    """Who may say where a request comes from, and that it came by https."""
    try:
        networks(tuple(settings.TRUSTED_PROXIES))
    except ValueError as error:
        hint = "Addresses or networks, comma separated: 127.0.0.1,10.1.2.0/24"
        return [Error(f"TRUSTED_PROXIES: {error}", hint=hint, id="iit.E005")]
    if settings.DEBUG or settings.TRUSTED_PROXIES:
        return []
    return [
        Warning(
            "No proxy is trusted: pages are redirected to https again and again, and people share one address.",
            hint="Set TRUSTED_PROXIES to the address that the TLS proxy's requests come from.",
            id="iit.W003",
        )
    ]


@register()
def inspection_networks(**_: Any) -> list[CheckMessage]:
    """Who may read the counters without a token."""
    try:
        networks(tuple(settings.INSPECTION_NETWORKS))
    except ValueError as error:
        hint = "Addresses or networks, comma separated: 127.0.0.1,10.1.2.0/24"
        return [Error(f"INSPECTION_NETWORKS: {error}", hint=hint, id="iit.E007")]
    return []


@register()
def ways_in(**_: Any) -> list[CheckMessage]:
    """The settings of the log-in belong together, and roles are spelt right."""
    found = []
    if settings.OIDC_ISSUER:
        try:
            check_url(settings.OIDC_ISSUER)
        except OutsideRefused as error:
            found.append(f"OIDC_ISSUER: {error}")
        if not (settings.OIDC_CLIENT_ID and settings.OIDC_CLIENT_SECRET):
            found.append("OIDC_CLIENT_ID or OIDC_CLIENT_SECRET is not set")
    elif not (settings.LOCAL_PASSWORDS or settings.WECOM_SCAN):
        found.append("LOCAL_PASSWORDS is off, and there is no other way to log in")
    unknown = {*settings.MFA_ROLES} - {*Role.values, "SUPERUSER"}
    found += [f"MFA_ROLES: {name} is no role" for name in sorted(unknown)]
    hint = "docs/operating/login.md says how people log in."
    return [Error(text, hint=hint, id="iit.E009") for text in found]


@register()
def private_folder(**_: Any) -> list[CheckMessage]:
    """The folder of database, logins and anchors is for its owner alone; we may not be the one to close it."""
    if not settings.VAR_DIR.stat().st_mode & 0o077:
        return []
    return [
        Warning(
            "VAR_DIR can be read by others than its owner.",
            hint="chmod 700, as its owner or as root.",
            id="iit.W004",
        )
    ]


@register()
def embedded_mode(**_: Any) -> list[CheckMessage]:
    """The embedded mode is for one host (design.md 3)."""
    if settings.EMBEDDED and not settings.DEBUG:
        return [
            Warning(
                "Embedded mode: one host, at most three writing processes.",
                hint="Set DATABASE_URL and REDIS_URL for a hospital with many users.",
                id="iit.W001",
            )
        ]
    return []


@register()
def redis_password(**_: Any) -> list[CheckMessage]:
    """Who can write Redis can start any background task (THREAT_MODEL.md)."""
    url = urlsplit(settings.REDIS_URL)
    if settings.DEBUG or not url.hostname or url.password:
        return []
    return [
        Warning(
            "Redis is asked without a password: whoever reaches it can start background tasks.",
            hint="requirepass in redis.conf, and REDIS_URL=redis://:PASSWORD@HOST:6379/0",
            id="iit.W005",
        )
    ]


@register()
def public_holidays(**_: Any) -> list[CheckMessage]:
    """The State Council announces a year's holidays in the November before: the table must follow."""
    soon = (localdate() + timedelta(days=31)).year
    if holidays.is_known(soon):
        return []
    return [
        Warning(
            f"The table of public holidays does not hold {soon}: messages are sent on its holidays.",
            hint="Add the year to projects/holidays.cn.v1.json, as the State Council announced it.",
            id="iit.W002",
        )
    ]

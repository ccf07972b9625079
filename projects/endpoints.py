"""A study's addresses outside and the secret that goes to each: a secret stays where it was given for."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from core.integrations.llm import PRESETS
from core.privacy.outbound_policy import OutsideRefused, check_url


class Purpose(StrEnum):
    """What a study's model is asked for; each may have a provider and a model of its own.

    Seed 001 gives the engines qwen, seed 003 the chat DeepSeek, seed 004 extraction a small model. Chat:
    answers to people. Engines: ReAct, soft rules, reports. Small: understanding, extraction, distilling.
    """

    CHAT = "chat"
    ENGINES = "engines"
    SMALL = "small"

    @property
    def prefix(self) -> str:
        """How the study's settings for this purpose begin: `<prefix>_preset`, `_base_url`, …"""
        return "llm" if self is Purpose.CHAT else f"llm_{self}"


ADDRESSES = {
    "redcap_url": "redcap_token",
    "dify_url": "dify_key",
    **{f"{one.prefix}_base_url": f"{one.prefix}_api_key" for one in Purpose},
}
NOT_ALLOWED = _(
    "This address may not be asked: https only, and addresses inside the house as the operator named them."
)
OWED = _("The address changed: type the token or key for the new address.")
MISSING = _("This address needs its token or key.")
NO_PRESET = _("There is no such preset: %(presets)s.")
NO_ADDRESS = _("This preset has no address of its own: give one.")
NO_MODEL = _("Name the model: this preset has none of its own.")
KEYED = ("redcap_url", "dify_url")
"""Nothing answers there without a key; a model of the house may."""
_PORTS = {"https": 443, "http": 80}


class SecretOwed(ValidationError):
    """A stored secret would go to an address that it was not given for."""

    def __init__(self, names: Collection[str]) -> None:
        super().__init__(dict.fromkeys(names, OWED))


def is_allowed(url: str) -> bool:
    """Whether the policy lets this address be asked."""
    try:
        check_url(url)
    except OutsideRefused:
        return False
    return True


def without_secret(study: Any) -> list[str]:
    """Secrets that are missing for an address which is there."""
    return [
        ADDRESSES[name]
        for name in KEYED
        if getattr(study, name) and not getattr(study, ADDRESSES[name])
    ]


def owed(before: Any, after: Any, typed: Collection[str]) -> list[str]:
    """Stored secrets that would go to another address now and were not typed anew.

    `before` and `after` are studies, or what has their fields. Another path is another address, a slash at
    its end is not.
    """
    return [
        secret
        for name, secret in ADDRESSES.items()
        if secret not in typed
        and getattr(after, secret)
        and address(after, name)
        and not is_same(address(before, name), address(after, name))
    ]


def address(study: Any, name: str) -> str:
    """The study's address of this name; that of the LLM's preset where the study gives none itself."""
    given: str = getattr(study, name) or ""
    stem, is_model, _rest = name.partition("_base_url")
    preset = getattr(study, f"{stem}_preset") if is_model else ""
    return given or (PRESETS[preset].base_url if preset in PRESETS else "")


def has_own(study: Any, purpose: Purpose) -> bool:
    """Whether the study names a provider for this purpose; without one it is that of the chat."""
    return any(getattr(study, f"{purpose.prefix}_{part}") for part in ("preset", "base_url"))


def incomplete(study: Any) -> dict[str, Any]:
    """Setting → what is wrong with it, of the models by purpose; `study` or what has its fields."""
    found: dict[str, Any] = {}
    for purpose in Purpose:
        preset = getattr(study, f"{purpose.prefix}_preset")
        if preset and preset not in PRESETS:
            found[f"{purpose.prefix}_preset"] = NO_PRESET % {"presets": ", ".join(PRESETS)}
        elif purpose is not Purpose.CHAT and has_own(study, purpose):
            found |= _gaps(study, purpose, preset)
    return found


def _gaps(study: Any, purpose: Purpose, preset: str) -> dict[str, Any]:
    """An address or a model that nothing gives; the chat's model serves a provider of the same kind."""
    found = {}
    if not address(study, f"{purpose.prefix}_base_url"):
        found[f"{purpose.prefix}_base_url"] = NO_ADDRESS
    is_other = preset and preset != study.llm_preset
    if is_other and not (getattr(study, f"{purpose.prefix}_model") or PRESETS[preset].model):
        found[f"{purpose.prefix}_model"] = NO_MODEL
    return found


def is_same(one: str, other: str) -> bool:
    """Whether both addresses are one place."""
    return _place(one) == _place(other)


def _place(url: str) -> tuple[object, ...]:
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return (url,)
    path = parts.path.rstrip("/")
    return parts.scheme, parts.hostname, port, path, parts.query, parts.username, parts.password

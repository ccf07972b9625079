"""System checks of the WeCom settings (wecom.md 1.1)."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from core.integrations.wecom.crypto import CryptoError, decode_key

PAIRS = (
    ("WECOM_TOKEN", "WECOM_AES_KEY"),
    ("WECOM_TOKEN_OLD", "WECOM_AES_KEY_OLD"),
    ("WECOM_AIBOT_TOKEN", "WECOM_AIBOT_AES_KEY"),
    ("WECOM_AIBOT_TOKEN_OLD", "WECOM_AIBOT_AES_KEY_OLD"),
)
TOKENS, KEYS = zip(*PAIRS, strict=True)
_TOKEN = re.compile(r"[0-9A-Za-z]{1,32}")
HINT = "Copy it from the callback settings of the app in the WeCom console."


@register()
def wecom_settings(**_: Any) -> list[CheckMessage]:
    """Keys that decode to 32 bytes, tokens WeCom would accept, pairs that are complete, a safe address."""
    return [*_bad_keys(), *_bad_tokens(), *_half_pairs(), *_long_connection()]


def _bad_keys() -> list[CheckMessage]:
    found: list[CheckMessage] = []
    for name in KEYS:
        try:
            if value := getattr(settings, name):
                decode_key(value)
        except CryptoError as error:
            found.append(Error(f"{name}: {error}", hint=HINT, id="wechat.E001"))
    return found


def _bad_tokens() -> list[CheckMessage]:
    values = ((name, getattr(settings, name)) for name in TOKENS)
    return [
        Error(f"{name}: letters and digits only, at most 32", hint=HINT, id="wechat.E002")
        for name, value in values
        if value and not _TOKEN.fullmatch(value)
    ]


def _half_pairs() -> list[CheckMessage]:
    return [
        Error(f"{token} and {key} belong together", hint=HINT, id="wechat.E003")
        for token, key in PAIRS
        if bool(getattr(settings, token)) != bool(getattr(settings, key))
    ]


def _long_connection() -> list[CheckMessage]:
    if not settings.WECOM_AIBOT_SECRET:
        return []
    found: list[CheckMessage] = []
    if not settings.WECOM_AIBOT_ID:
        hint = "Copy Bot ID and Secret of the bot's long connection from the WeCom console."
        found.append(Error("WECOM_AIBOT_SECRET needs WECOM_AIBOT_ID", hint=hint, id="wechat.E004"))
    address = urlsplit(settings.WECOM_AIBOT_SOCKET)
    inside = address.scheme == "ws" and address.hostname in settings.PRIVATE_HTTP_HOSTS
    if not address.hostname or not (address.scheme == "wss" or inside):
        hint = "wss://…; ws:// only to a host that PRIVATE_HTTP_HOSTS names."
        found.append(Error("WECOM_AIBOT_SOCKET is not safe", hint=hint, id="wechat.E005"))
    return found

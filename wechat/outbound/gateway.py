"""The configured corp: crypts for what comes in, the client for what goes out."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from core.integrations.wecom import Crypt, SendError, Sent, WecomClient, respond
from wechat.outbound.tokens import DatabaseTokens, key_of


def crypts() -> list[Crypt]:
    """The new token and key, then the old pair while it is being rotated (wecom.md 9.7)."""
    pairs = [
        (settings.WECOM_TOKEN, settings.WECOM_AES_KEY),
        (settings.WECOM_TOKEN_OLD, settings.WECOM_AES_KEY_OLD),
    ]
    return [Crypt(token, key, settings.WECOM_CORP_ID) for token, key in pairs if token and key]


def aibot_crypts() -> list[Crypt]:
    """The pairs of the smart bot: its receiveid is blank (wecom.md 5). None where no bot is configured."""
    pairs = [
        (settings.WECOM_AIBOT_TOKEN, settings.WECOM_AIBOT_AES_KEY),
        (settings.WECOM_AIBOT_TOKEN_OLD, settings.WECOM_AIBOT_AES_KEY_OLD),
    ]
    return [Crypt(token, key, "") for token, key in pairs if token and key]


def respond_to_bot(message: dict[str, Any]) -> Sent | SendError:
    """POST an answer of the smart bot to its response_url."""
    return respond(settings.WECOM_API_BASE, str(message["url"]), message["body"])


def client() -> WecomClient:
    """WeCom's server API with the shared token."""
    corp, agent, secret = settings.WECOM_CORP_ID, settings.WECOM_AGENT_ID, settings.WECOM_SECRET
    store = DatabaseTokens(key_of(corp, agent, secret))
    return WecomClient(settings.WECOM_API_BASE, corp, agent, secret, store)

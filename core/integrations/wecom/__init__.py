"""Client and cryptography of WeCom (reference/wecom.md 1-3). No Django."""

from core.integrations.wecom.aibot import respond
from core.integrations.wecom.client import WecomClient
from core.integrations.wecom.crypto import Crypt, CryptoError
from core.integrations.wecom.results import Kind, SendError, Sent, Standing
from core.integrations.wecom.tokens import Token, TokenRefused, TokenStore

__all__ = [
    "Crypt",
    "CryptoError",
    "Kind",
    "SendError",
    "Sent",
    "Standing",
    "Token",
    "TokenRefused",
    "TokenStore",
    "WecomClient",
    "respond",
]

"""Client and cryptography of WeCom (reference/wecom.md 1-3). No Django."""

from integrations.wecom.aibot import respond
from integrations.wecom.client import WecomClient
from integrations.wecom.crypto import Crypt, CryptoError
from integrations.wecom.results import Kind, SendError, Sent, Standing
from integrations.wecom.tokens import Token, TokenRefused, TokenStore

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

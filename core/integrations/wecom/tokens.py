"""What the client needs from whoever keeps the access token (wecom.md 3.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from core.integrations.wecom.results import SendError


@dataclass(frozen=True)
class Token:
    """An access token as gettoken gives it; `expires_in` seconds."""

    value: str
    expires_in: int

    def __repr__(self) -> str:
        return "Token(***)"


class TokenRefused(Exception):
    """No access token is to be had; `error` says why and how long to wait."""

    def __init__(self, error: SendError) -> None:
        self.error = error
        super().__init__(f"no access token: {error.code} {error.detail}")


class TokenStore(Protocol):
    """One token for all processes, fetched by one of them at a time."""

    def get(self, fetch: Callable[[], Token], stale: str = "") -> str:
        """A token that is not `stale` where another is to be had; `fetch` asks WeCom.

        Raises TokenRefused: from `fetch`, from an open circuit, or because nobody got one in time.
        """
        ...

"""gettoken and the life of an access token (reference/wecom.md 3.1 and section 4)."""

from __future__ import annotations

import secrets
import threading
from dataclasses import dataclass

from demo.simulators.state import State
from demo.simulators.wecom.config import App, Config, Switches
from demo.simulators.wecom.errors import WecomError

TTL = 7200
BAN_SECONDS = 3600


@dataclass
class Token:
    """An access token of one app; times in seconds of the stand-ins' clock."""

    value: str
    agent_id: int
    expires_at: float
    revoked: bool = False


class Tokens:
    """Issues and checks access tokens."""

    def __init__(self, state: State, config: Config, switches: Switches) -> None:
        self._state, self._config, self._switches = state, config, switches
        self._lock = threading.Lock()
        self._tokens: dict[str, Token] = {}
        self._wrong: dict[str, int] = {}
        self._banned_until: dict[str, float] = {}

    def issue(self, corp_id: str, secret: str, ip: str) -> Token:
        """Answer gettoken. Raises WecomError."""
        with self._lock:
            if self._state.timestamp() < self._banned_until.get(ip, 0.0):
                raise WecomError(45009, "too many wrong secrets from this ip")
            return self._issue(self._app(corp_id, secret, ip))

    def _app(self, corp_id: str, secret: str, ip: str) -> App:
        if not corp_id:
            raise WecomError(41002)
        if not secret:
            raise WecomError(41004)
        if corp_id != self._config.corp_id:
            raise WecomError(40013)
        app = next((app for app in self._config.apps() if app.secret == secret), None)
        if app is None:
            self._count_wrong(ip)
            raise WecomError(40001)
        if app.disabled:
            raise WecomError(40001, "app is disabled")
        self._wrong.pop(ip, None)
        return app

    def _count_wrong(self, ip: str) -> None:
        self._wrong[ip] = self._wrong.get(ip, 0) + 1
        if self._wrong[ip] >= self._switches.secret_ban_after:
            self._banned_until[ip] = self._state.timestamp() + BAN_SECONDS
            del self._wrong[ip]

    def _issue(self, app: App) -> Token:
        now, mode = self._state.timestamp(), self._switches.gettoken_same_within_ttl
        mine = [t for t in self._tokens.values() if t.agent_id == app.agent_id and not t.revoked]
        valid = [token for token in mine if token.expires_at > now]
        if mode is True and valid:
            return valid[-1]
        if mode == "new_kills_old":
            for token in mine:
                token.revoked = True
        token = Token(secrets.token_urlsafe(48), app.agent_id, now + TTL)
        self._tokens[token.value] = token
        return token

    def check(self, value: str) -> Token:
        """The token of a call. Raises WecomError 41001, 40014 or the switch's expired code."""
        if not value:
            raise WecomError(41001)
        with self._lock:
            token = self._tokens.get(value)
        if token is None or token.revoked:
            raise WecomError(40014)
        if token.expires_at <= self._state.timestamp():
            raise WecomError(int(self._switches.expired_code))
        return token

    def revoke(self) -> int:
        """Kill every token at once (a fault of section 4); returns how many were alive."""
        with self._lock:
            alive = [token for token in self._tokens.values() if not token.revoked]
            for token in alive:
                token.revoked = True
        return len(alive)

"""The access token in the database: one for all processes, one refresh at a time (wecom.md 3.1; O3-O5)."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from datetime import timedelta

from django.db.models import F, Q, QuerySet
from django.utils.timezone import now

from core.integrations.wecom import Kind, SendError, Token, TokenRefused
from wechat.models import AccessToken
from wechat.outbound import alerts

MARGIN = timedelta(seconds=300)
REFRESH_LEASE = timedelta(seconds=20)
POLL_S, WAIT_S = 0.05, 15.0


def key_of(corp_id: str, agent_id: int, secret: str) -> str:
    """One token per app and secret."""
    return f"{corp_id}:{agent_id}:{hashlib.sha256(secret.encode()).hexdigest()[:16]}"


class DatabaseTokens:
    """core.integrations.wecom.TokenStore on one row."""

    def __init__(self, key: str, sleep: Callable[[float], None] = time.sleep) -> None:
        self._key = key
        self._sleep = sleep

    def get(self, fetch: Callable[[], Token], stale: str = "") -> str:
        """The stored token; where it is absent, old or `stale`, one caller fetches and the others wait.

        Raises TokenRefused.
        """
        waited = 0.0
        while waited < WAIT_S:
            row = self._row()
            _refuse_blocked(row)
            if _is_good(row, stale):
                return str(row.token)
            if self._claim(row):
                return self._refresh(row.fence, fetch)
            self._sleep(POLL_S)
            waited += POLL_S
        raise TokenRefused(SendError(Kind.RETRY, 0, "another process fetches the access token"))

    def _row(self) -> AccessToken:
        row = AccessToken.objects.filter(pk=self._key).first()
        if row is None:
            AccessToken.objects.bulk_create([AccessToken(key=self._key)], ignore_conflicts=True)
            row = AccessToken.objects.get(pk=self._key)
        return row

    def _claim(self, row: AccessToken) -> bool:
        # `fence` grows with every token stored: who read an old row loses.
        free = Q(refresh_until__isnull=True) | Q(refresh_until__lt=now())
        mine = self._mine(row.fence).filter(free)
        return mine.update(refresh_until=now() + REFRESH_LEASE) == 1

    def _refresh(self, fence: int, fetch: Callable[[], Token]) -> str:
        try:
            token = fetch()
        except TokenRefused as refused:
            self._store_refusal(fence, refused.error)
            raise
        self._mine(fence).update(
            token=token.value,
            expires_at=now() + _lifetime(token),
            fetched_at=now(),
            refresh_until=None,
            blocked_until=None,
            error_code=None,
            error="",
            fence=F("fence") + 1,
        )
        return token.value

    def _store_refusal(self, fence: int, error: SendError) -> None:
        blocked = now() + timedelta(seconds=error.wait_s) if error.kind is Kind.ALERT else None
        alerts.sound_for(error)
        self._mine(fence).update(
            refresh_until=None,
            blocked_until=blocked,
            error_code=error.code,
            error=error.detail,
            fence=F("fence") + 1,
        )

    def _mine(self, fence: int) -> QuerySet[AccessToken]:
        return AccessToken.objects.filter(pk=self._key, fence=fence)


def _lifetime(token: Token) -> timedelta:
    """Replaced before WeCom's own expiry, so that no call starts with a dying token."""
    whole = timedelta(seconds=token.expires_in)
    return max(whole - MARGIN, whole / 2)


def _is_good(row: AccessToken, stale: str) -> bool:
    if not row.token or row.token == stale or row.expires_at is None:
        return False
    return row.expires_at > now()


def _refuse_blocked(row: AccessToken) -> None:
    """The circuit: WeCom is not asked again before the time is up (O5)."""
    if row.blocked_until and (left := (row.blocked_until - now()).total_seconds()) > 0:
        raise TokenRefused(SendError(Kind.ALERT, row.error_code or 0, row.error, left))

"""The right to hold the bot's long connection: one process of the house has it, the others stand by."""

from __future__ import annotations

import hashlib
import os
import secrets
import socket
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import F, Q
from django.utils.timezone import now

from core.house import heartbeat
from wechat.models import BotConnection
from wechat.outbound import alerts

LEASE = timedelta(seconds=30)
PROCESS = "wecom_socket"
"""Its name among the heartbeats."""
CALM = timedelta(hours=1)
"""Who was taken over longer ago is taken over for the first time again."""


def is_configured() -> bool:
    """Whether the bot comes by its long connection."""
    return bool(settings.WECOM_AIBOT_ID and settings.WECOM_AIBOT_SECRET)


def row() -> BotConnection:
    """The configured bot's row as it is now."""
    bot = settings.WECOM_AIBOT_ID
    found = BotConnection.objects.filter(pk=bot).first()
    if found is None:
        BotConnection.objects.bulk_create([BotConnection(bot_id=bot)], ignore_conflicts=True)
        found = BotConnection.objects.get(pk=bot)
    return found


def is_held(connection: BotConnection) -> bool:
    """Whether a process has it now."""
    return connection.lease_until is not None and connection.lease_until > now()


def stands() -> bool:
    """Whether a process of the house has a connection that WeCom accepted; without a look at WeCom."""
    rows = BotConnection.objects.filter(pk=settings.WECOM_AIBOT_ID, connected_at__isnull=False)
    return is_configured() and rows.filter(lease_until__gt=now()).exists()


class Lease:
    """What one process knows of its claim, which every write names; `beats`: it gives signs of life."""

    def __init__(self, length: timedelta = LEASE, *, beats: bool = True) -> None:
        self._length, self._beats = length, beats
        self.holder = f"{socket.gethostname()[:60]}:{os.getpid()}:{secrets.token_hex(3)}"
        self._fence = -1

    def acquire(self) -> bool:
        """Claim the connection where nobody has it, whoever had it is gone, or it is our own from before."""
        found = row()
        free = Q(lease_until=None) | Q(lease_until__lt=now()) | Q(holder=self.holder)
        claimed = BotConnection.objects.filter(free, pk=found.pk, fence=found.fence).update(
            holder=self.holder,
            fence=F("fence") + 1,
            lease_until=now() + self._length,
            connected_at=None,
        )
        self._fence = found.fence + 1 if claimed else -1
        self._beat()
        return bool(claimed)

    def renew(self) -> bool:
        """Keep it; False where another process has it."""
        self._beat()
        return self._note(lease_until=now() + self._length)

    def release(self) -> None:
        """Let another process have it at once."""
        self._note(lease_until=None, connected_at=None)

    def connected(self) -> bool:
        """WeCom has accepted us; False where another process has the lease."""
        return self._note(connected_at=now(), error="", error_code=None, not_before=None)

    def disconnected(self, why: str, code: int | None = None) -> None:
        """The connection is gone, or did not come about; `why` holds no secret."""
        self._note(connected_at=None, error=why[:300], error_code=code)

    def block(self, span: timedelta) -> None:
        """Nobody of the house connects with this secret for `span`."""
        self._note(not_before=now() + span, secret=_digest())

    def kicked(self) -> int:
        """How many times in a row another connection has taken the bot over, this one included."""
        found, at = row(), now()
        recent = found.kicked_at is not None and found.kicked_at > at - CALM
        kicks = found.kicks + 1 if recent else 1
        self._note(kicks=kicks, kicked_at=at)
        return kicks

    def _beat(self) -> None:
        if self._beats:
            heartbeat.note(PROCESS)

    def _note(self, **values: object) -> bool:
        mine = BotConnection.objects.filter(pk=settings.WECOM_AIBOT_ID, fence=self._fence)
        return bool(mine.update(**values))


def blocked_until() -> datetime | None:
    """Until when nobody connects with this secret; None where one may."""
    found = row()
    holds = found.not_before is not None and found.secret == _digest()
    return found.not_before if holds and found.not_before and found.not_before > now() else None


def calm_down() -> None:
    """Close the alarm where nobody has taken the bot over for long."""
    kicked_at = row().kicked_at
    if kicked_at is not None and kicked_at < now() - CALM:
        alerts.clear(alerts.Code.BOT_KICKED)


def _digest() -> str:
    return hashlib.sha256(settings.WECOM_AIBOT_SECRET.encode()).hexdigest()

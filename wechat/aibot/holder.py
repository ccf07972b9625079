"""The process that holds the smart bot's long connection: lease, connection, and what to do when it ends."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Event

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connections
from django.utils.timezone import now

from core.integrations.wecom.socket import BotSocket, SocketDown, SocketRefused
from wechat.aibot import lease as leases
from wechat.aibot.lease import Lease
from wechat.aibot.link import Kicked, LeaseLost, Link, Timing
from wechat.outbound import alerts

logger = logging.getLogger(__name__)

Code = alerts.Code


@dataclass(frozen=True)
class Pauses:
    """Seconds to wait; tests are quicker."""

    standby_s: float = 5.0
    first_s: float = 1.0
    longest_s: float = 60.0
    kick_s: float = 60.0
    longest_kick_s: float = 1800.0
    refused_s: float = 600.0
    steady_s: float = 10.0  # a connection that lived so long was a good one
    told_after: int = 5  # failures in a row


@dataclass
class Holder:
    """Run in one thread; `stop` ends it from another or from a signal."""

    timing: Timing = field(default_factory=Timing)
    pauses: Pauses = field(default_factory=Pauses)
    lease: Lease = field(default_factory=Lease)
    stop: Event = field(default_factory=Event)
    failures: int = 0
    stood_at: float | None = None
    """Since when WeCom has accepted the present connection."""

    def run(self) -> None:
        """Until `stop` is set: hold the connection, or stand by for who holds it."""
        try:
            while not self.stop.is_set():
                self._try()
        finally:
            self._release()

    def _try(self) -> None:
        try:
            if self.lease.acquire():
                self._hold()
            else:
                self.stop.wait(self.pauses.standby_s)
        except LeaseLost:
            logger.warning("another process holds the long connection now")
        except (DatabaseError, InterfaceError) as error:
            logger.error("the database does not answer: %s", type(error).__name__)
            connections.close_all()
            self.stop.wait(self.pauses.standby_s)

    def _release(self) -> None:
        try:
            self.lease.release()
        except (DatabaseError, InterfaceError) as error:
            logger.error("the lease is left to run out: %s", type(error).__name__)

    def _hold(self) -> None:
        """One connection after the other, as long as the lease is ours. Raises LeaseLost."""
        while not self.stop.is_set():
            self._wait_out_block()
            if not self.stop.is_set():
                self._connect()

    def _connect(self) -> None:
        self.stood_at = None
        try:
            self._converse()
        except SocketRefused as refused:
            self._refused(refused)
        except Kicked:
            self._kicked()
        except SocketDown as down:
            self._down(str(down))

    def _converse(self) -> None:
        socket = BotSocket.open(
            settings.WECOM_AIBOT_SOCKET,
            settings.WECOM_AIBOT_ID,
            settings.WECOM_AIBOT_SECRET,
            timeout_s=self.timing.answer_s,
        )
        if not self.lease.connected():
            socket.close()
            raise LeaseLost
        self.stood_at = time.monotonic()
        logger.info("the long connection of the smart bot stands")
        alerts.clear(Code.BOT_SECRET, Code.BOT_DOWN)
        leases.calm_down()
        Link(socket, self.lease, self.timing).run(self.stop)

    def _refused(self, refused: SocketRefused) -> None:
        alerts.sound(Code.BOT_SECRET, str(refused))
        self.lease.disconnected(refused.detail, refused.code)
        self.lease.block(timedelta(seconds=self.pauses.refused_s))

    def _kicked(self) -> None:
        """Not fought over: whoever took the bot over has it for a while, and somebody is told."""
        if not self.lease.renew():
            raise LeaseLost  # it was a process of ours
        kicks = self.lease.kicked()
        pause = min(self.pauses.kick_s * 2 ** min(kicks - 1, 16), self.pauses.longest_kick_s)
        alerts.sound(Code.BOT_KICKED, f"{kicks}×, {pause:.0f} s")
        self.lease.disconnected("")
        self.lease.block(timedelta(seconds=pause))

    def _down(self, why: str) -> None:
        # To try for long is not to stand: a firewall that drops what we send lets every try last.
        stood_s = 0.0 if self.stood_at is None else time.monotonic() - self.stood_at
        self.failures = 1 if stood_s > self.pauses.steady_s else self.failures + 1
        logger.warning("the long connection ended: %s", why)
        self.lease.disconnected(why)
        if self.failures >= self.pauses.told_after:
            alerts.sound(Code.BOT_DOWN, why)
        longest = min(self.pauses.first_s * 2 ** min(self.failures - 1, 16), self.pauses.longest_s)
        end = time.monotonic() + longest * random.uniform(0.5, 1.0)
        self._wait(lambda: end - time.monotonic())

    def _wait_out_block(self) -> None:
        def left_s() -> float:
            until = leases.blocked_until()
            return (until - now()).total_seconds() if until else 0.0

        self._wait(left_s)

    def _wait(self, left_s: Callable[[], float]) -> None:
        """Keep the lease while there is something to wait for. Raises LeaseLost."""
        while (left := left_s()) > 0 and not self.stop.wait(min(left, self.timing.renew_s)):
            if not self.lease.renew():
                raise LeaseLost

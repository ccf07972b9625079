"""One life of the long connection: what comes is stored and answered, what is due goes out (wecom.md 5).

One thread does all of it, so that what is said of a request goes out in the order of the database.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Event
from typing import Any

from django.db import DatabaseError, InterfaceError, OperationalError
from django.utils import translation
from django.utils.timezone import now

from core.integrations.wecom import socket as protocol
from core.integrations.wecom.socket import BotSocket, Frame, SocketDown
from wechat.aibot import posting, streams
from wechat.aibot.answering import SOCKET, answer, language_of
from wechat.aibot.lease import Lease, calm_down
from wechat.aibot.posting import Posting
from wechat.inbound.callback import quarantine
from wechat.models import Alert, Stream
from wechat.outbound import alerts, sender

logger = logging.getLogger(__name__)


BUSY = 6
"""So many times as long an answer may take while other frames come."""


class Kicked(Exception):
    """Another connection has taken the bot over."""


class LeaseLost(Exception):
    """Another process of the house has the lease."""


@dataclass(frozen=True)
class Timing:
    """Seconds between things; tests are quicker."""

    poll_s: float = 0.3  # looking for answers that are due
    renew_s: float = 8.0  # the lease
    ping_s: float = 30.0  # as WeCom asks for
    answer_s: float = 10.0  # WeCom says something of a frame, else the connection is dead
    overdue_s: float = 5.0  # looking for questions that took too long
    calm_s: float = 60.0  # whether the last take-over is long ago
    stop_s: float = 5.0  # what is under way when we are told to stop


@dataclass(frozen=True)
class Waiting:
    """A frame of ours that WeCom has not said anything of; what it carried."""

    since: float
    cargo: Posting | Stream | None = None


class Link:
    """A subscribed connection under a lease."""

    def __init__(self, socket: BotSocket, lease: Lease, timing: Timing) -> None:
        self._socket, self._lease, self._timing = socket, lease, timing
        self._waiting: dict[str, Waiting] = {}
        self._next: dict[str, float] = {}

    def run(self, stop: Event) -> None:
        """Until `stop`. Raises SocketDown, Kicked, LeaseLost; nothing under way is forgotten."""
        try:
            sender.release_streams()
            for stream in posting.unopened():
                self._open(stream)
            while not stop.is_set():
                self._step(self._timing.poll_s)
                if self._is_due("post", self._timing.poll_s):
                    self._post()
            self._end()
        finally:
            self._socket.close()
            for waiting in self._waiting.values():
                if isinstance(waiting.cargo, Posting):
                    posting.lose(waiting.cargo)

    def _end(self) -> None:
        """Finish what is in hand: what has come is stored, what has gone out is noted."""
        end = time.monotonic() + self._timing.stop_s
        while time.monotonic() < end and (self._step(0.05) or self._waiting):
            continue

    def _step(self, timeout_s: float) -> bool:
        """Take one frame, where one comes in time, and do what the clock says."""
        frame = self._socket.receive(timeout_s)
        if frame is not None:
            self._take(frame)
        self._on_time()
        self._refuse_silence(quiet=frame is None)
        return frame is not None

    def _take(self, frame: Frame) -> None:
        if frame.code is not None:
            self._answered(frame)
        elif frame.event == protocol.KICKED:
            raise Kicked
        elif frame.cmd in (protocol.MESSAGE, protocol.EVENT):
            said = _stored(frame)
            if said:
                self._say(frame.req_id, said)

    def _say(self, req_id: str, said: Mapping[str, Any]) -> None:
        """Answer a callback with what is there now."""
        if said.get("response_type"):
            self._send(protocol.UPDATE, req_id, said)
        elif said["msgtype"] == "stream":
            opened = Stream.objects.filter(stream_id=said["stream"]["id"]).first()
            self._send(protocol.RESPOND, req_id, said, opened)
        else:
            self._send(protocol.WELCOME, req_id, said)

    def _open(self, stream: Stream) -> None:
        with translation.override(language_of(stream.inbox.from_user)):
            self._send(protocol.RESPOND, stream.req_id, streams.opening(stream), stream)

    def _send(
        self,
        cmd: str,
        req_id: str,
        body: Mapping[str, Any] | None = None,
        cargo: Posting | Stream | None = None,
    ) -> None:
        if req_id in self._waiting:
            return  # a frame that came twice is answered once
        self._waiting[req_id] = Waiting(time.monotonic(), cargo)
        self._socket.send(cmd, req_id, body)

    def _answered(self, frame: Frame) -> None:
        waiting = self._waiting.pop(frame.req_id, None)
        if waiting is None:
            return  # of a ping
        if isinstance(waiting.cargo, Posting):
            posting.settle_posting(waiting.cargo, frame)
        elif isinstance(waiting.cargo, Stream) and frame.code == 0:
            unopened = Stream.objects.filter(pk=waiting.cargo.pk, opened_at=None)
            unopened.update(opened_at=now())
        if frame.code:
            logger.warning("WeCom refuses a frame: %s %s", frame.code, frame.detail)
        if frame.code == protocol.NOT_SUBSCRIBED:
            raise SocketDown("WeCom says that we are not subscribed")

    def _post(self) -> None:
        cargoes = [waiting.cargo for waiting in self._waiting.values()]
        under_way = {one.row.pk for one in cargoes if isinstance(one, Posting)}
        for one in posting.due(frozenset(self._waiting), under_way):
            self._waiting[one.req_id] = Waiting(time.monotonic(), one)
            self._socket.send(one.cmd, one.req_id, one.body)

    def _on_time(self) -> None:
        if self._is_due("renew", self._timing.renew_s) and not self._lease.renew():
            raise LeaseLost
        if self._is_due("calm", self._timing.calm_s):
            calm_down()
        if self._is_due("ping", self._timing.ping_s):
            self._send(protocol.PING, protocol.new_id(protocol.PING))
        if self._is_due("overdue", self._timing.overdue_s):
            for stream in posting.overdue():
                with translation.override(language_of(stream.inbox.from_user)):
                    self._send(protocol.RESPOND, stream.req_id, streams.stream_body(stream))

    def _refuse_silence(self, *, quiet: bool) -> None:
        """Late answers would be taken for those of later frames: none comes on a new connection.

        `quiet`: nothing has come that we have not looked at; else the answer may stand behind it.
        """
        oldest = next(iter(self._waiting.values()), None)
        limit_s = self._timing.answer_s if quiet else self._timing.answer_s * BUSY
        if oldest and time.monotonic() - oldest.since > limit_s:
            raise SocketDown("WeCom does not answer")

    def _is_due(self, what: str, every_s: float) -> bool:
        clock = time.monotonic()
        if clock < self._next.setdefault(what, clock + (0 if what == "post" else every_s)):
            return False
        self._next[what] = clock + every_s
        return True


def _stored(frame: Frame) -> dict[str, Any]:
    """What is said at once to a callback that is stored now. Raises DatabaseError where that is away."""
    plain = json.dumps(frame.body, ensure_ascii=False).encode("utf-8", "replace")
    try:
        return answer(plain, SOCKET, frame.req_id)
    except (OperationalError, InterfaceError):
        raise
    except Exception as error:  # one frame, sent again and again, must not hold the connection down
        logger.exception("a frame of the long connection failed: %s", type(error).__name__)
        _set_aside(plain, error)
        return {}


def _set_aside(plain: bytes, error: Exception) -> None:
    """Keep a frame for an operator; where even that cannot be stored, say that there was one."""
    name = type(error).__name__
    try:
        quarantine(plain, error, SOCKET, why=name)
    except (OperationalError, InterfaceError):
        raise
    except DatabaseError:
        logger.exception("a frame of the long connection cannot be kept")
        alerts.sound(Alert.Code.NOT_UNDERSTOOD, name)

"""The long connection of the smart bot: one WebSocket, JSON frames both ways (wecom.md 5).

A frame is `{cmd, headers: {req_id}, body}`; what answers one has no `cmd`, but `errcode` and `errmsg`. WeCom
knows one connection a bot: a second one that subscribes ends the first with a `disconnected_event`, and may
leave its socket open.
"""

from __future__ import annotations

import json
import logging
import secrets
import socket
import time
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI
from websockets.sync.client import ClientConnection, connect
from websockets.uri import parse_uri

from core.privacy.outbound_policy import OutsideRefused, check_url, reachable

logger = logging.getLogger(__name__)

SUBSCRIBE, PING = "aibot_subscribe", "ping"
MESSAGE, EVENT = "aibot_msg_callback", "aibot_event_callback"
RESPOND, WELCOME, UPDATE = (
    "aibot_respond_msg",
    "aibot_respond_welcome_msg",
    "aibot_respond_update_msg",
)
SEND = "aibot_send_msg"
KICKED = "disconnected_event"
MOST_BYTES = 1024 * 1024
# The request is not known (any more), the stream is over: the answer goes as a message of its own.
OVER = frozenset({846605, 846608})
NOT_SUBSCRIBED = 846609
TOO_MANY = 846607
BUSY = frozenset({-1, 6000, 45009, 45033, TOO_MANY})


class SocketDown(Exception):
    """No connection, or the end of one; the text holds no secret."""


class SocketRefused(Exception):
    """WeCom takes neither this bot's id nor its secret. `code`: its errcode."""

    def __init__(self, code: int, detail: str) -> None:
        super().__init__(f"{code} {detail}".strip())
        self.code, self.detail = code, detail


@dataclass(frozen=True)
class Frame:
    """What came in. `code`: the errcode of an answer to a frame of ours, None for a callback."""

    cmd: str
    req_id: str
    body: Mapping[str, Any] = field(default_factory=dict)
    code: int | None = None
    detail: str = ""

    @property
    def event(self) -> str:
        """Kind of a callback that is an event."""
        event = self.body.get("event")
        return str(event.get("eventtype", "")) if isinstance(event, dict) else ""


def new_id(cmd: str) -> str:
    """The req_id of a frame that we begin."""
    return f"{cmd}_{int(time.time() * 1000)}_{secrets.token_hex(4)}"


class BotSocket:
    """An open connection that WeCom has accepted; of one thread."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._early: deque[Frame] = deque()

    @classmethod
    def open(cls, url: str, bot_id: str, secret: str, *, timeout_s: float = 10.0) -> BotSocket:
        """Connect and subscribe. Raises SocketDown, SocketRefused."""
        try:
            # WeCom has a ping of its own; a proxy of the environment is not asked for.
            connection = connect(
                url,
                sock=_connected(url, timeout_s),
                open_timeout=timeout_s,
                close_timeout=1.0,
                ping_interval=None,
                max_size=MOST_BYTES,
                proxy=None,
                legacy=True,
            )
        except (
            *(OSError, TimeoutError, UnicodeError, OutsideRefused),
            *(InvalidHandshake, InvalidURI, ConnectionClosed),
        ) as error:
            raise SocketDown(type(error).__name__) from error
        opened = cls(connection)
        try:
            opened._subscribe(bot_id, secret, timeout_s)
        except BaseException:
            opened.close()
            raise
        return opened

    def _subscribe(self, bot_id: str, secret: str, timeout_s: float) -> None:
        asked = new_id(SUBSCRIBE)
        self.send(SUBSCRIBE, asked, {"bot_id": bot_id, "secret": secret})
        early: list[Frame] = []
        for frame in self._until(time.monotonic() + timeout_s):
            if frame.req_id != asked or frame.code is None:
                early.append(frame)
                continue
            if frame.code in BUSY:
                raise SocketDown(f"{frame.code} {frame.detail}")
            if frame.code:
                raise SocketRefused(frame.code, frame.detail)
            self._early.extend(early)
            return
        raise SocketDown("no answer to the subscription")

    def send(self, cmd: str, req_id: str, body: Mapping[str, Any] | None = None) -> None:
        """Send a frame; that it arrived only its answer says. Raises SocketDown."""
        frame: dict[str, Any] = {"cmd": cmd, "headers": {"req_id": req_id}}
        if body is not None:
            frame["body"] = body
        try:
            self._connection.send(json.dumps(frame, ensure_ascii=False))
        except (ConnectionClosed, OSError) as error:
            raise SocketDown(type(error).__name__) from error

    def receive(self, timeout_s: float) -> Frame | None:
        """The next frame, None where none comes in time. Raises SocketDown."""
        if self._early:
            return self._early.popleft()
        return next(self._until(time.monotonic() + timeout_s), None)

    def _until(self, end: float) -> Iterator[Frame]:
        while True:
            try:
                raw = self._connection.recv(timeout=max(end - time.monotonic(), 0.0))
            except TimeoutError:
                return
            except (ConnectionClosed, OSError) as error:
                raise SocketDown(type(error).__name__) from error
            frame = parse_frame(raw)
            if frame is None:
                logger.warning("a frame of the long connection was not understood")
            else:
                yield frame

    def close(self) -> None:
        """End the connection; never raises."""
        self._connection.close()


def _connected(url: str, timeout_s: float) -> socket.socket:
    """A connection to an address that the house may ask. Raises OSError, InvalidURI, OutsideRefused."""
    at = parse_uri(url)
    check_url(f"{'https' if at.secure else 'http'}://{at.host}:{at.port}/")
    failure: OSError | None = None
    for address in reachable(at.host, at.port):
        try:
            return socket.create_connection((address, at.port), timeout_s)
        except OSError as error:
            failure = error
    raise failure or OSError("no address")


def parse_frame(raw: str | bytes) -> Frame | None:
    """A frame, None for what is none."""
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    headers, body, code = found.get("headers"), found.get("body"), found.get("errcode")
    cmd = found.get("cmd")
    req_id = headers.get("req_id") if isinstance(headers, dict) else None
    is_answer = not cmd
    if not isinstance(req_id, str) or not (is_answer or isinstance(cmd, str)):
        return None
    return Frame(
        cmd="" if is_answer else str(cmd),
        req_id=req_id,
        body=body if isinstance(body, dict) else {},
        code=(code if type(code) is int else 0) if is_answer else None,
        detail=str(found.get("errmsg") or "")[:200],
    )

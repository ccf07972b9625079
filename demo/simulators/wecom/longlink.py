"""The smart bot's long connection of the stand-in corp: one subscriber, the last (reference/wecom.md 5)."""

from __future__ import annotations

import itertools
import json
import random
import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from demo.simulators.sockets import WebSocket
from demo.simulators.state import State
from demo.simulators.wecom.config import Config
from demo.simulators.wecom.store import Store

LIMIT = 20480
PATIENCE_S = 360.0
WRONG_SECRET = 853000
REQUEST, OVER, NOT_SUBSCRIBED = 846605, 846608, 846609


@dataclass
class Switches:
    """How the network and WeCom stumble; `seed` makes it the same each time."""

    ack_delay_s: float = 0.0
    lose_acks: float = 0.0  # share of frames of which nothing is said, though they are taken
    duplicates: float = 0.0  # share of callbacks that come twice
    swap_acks: float = 0.0  # share of answers that the next one overtakes
    forget_requests: bool = False  # a new connection does not know the requests of the old one
    new_req_id: bool = False  # a frame that comes again has another id
    refuse_push: int = 0  # errcode of each message that answers no request
    closes_kicked: bool = False  # the socket of who was taken over is closed, too
    seed: int = 7


@dataclass
class Question:
    """A callback and what the member sees of its answer."""

    plain: dict[str, Any]
    req_id: str
    created: float
    answered: bool = False  # something was said of it
    stream_id: str = ""
    finished: str | None = None
    shown: dict[str, Any] | None = None


@dataclass
class LongLink:
    """All connections of the bot; the newest that subscribed gets the callbacks."""

    state: State
    config: Config
    store: Store
    switches: Switches = field(default_factory=Switches)

    def __post_init__(self) -> None:
        """Nobody is connected."""
        self._lock = threading.RLock()
        self._sockets: set[WebSocket] = set()
        self.clear()

    def clear(self) -> None:
        """Forget questions and what was said; connections end."""
        with self._lock:
            for one in [*self._sockets]:
                one.drop()
            self._subscriber: WebSocket | None = None
            self._questions: dict[str, Question] = {}
            self._by_request: dict[str, Question] = {}
            self._kept: list[tuple[WebSocket, str]] = []
            self._numbers = itertools.count(1)
            self.switches = Switches()
            self._random = random.Random(self.switches.seed)
            self.subscriptions: list[dict[str, Any]] = []
            self.refused: list[dict[str, Any]] = []

    @property
    def is_taken(self) -> bool:
        """Whether somebody has subscribed and is there."""
        return self._subscriber is not None

    def serve(self, socket: WebSocket) -> None:
        """One connection, from its first frame to its end."""
        with self._lock:
            self._sockets.add(socket)
        try:
            for text in socket.texts():
                self._take(socket, json.loads(text))
        finally:
            with self._lock:
                self._sockets.discard(socket)
                if self._subscriber is socket:
                    self._subscriber = None

    def _take(self, socket: WebSocket, frame: Mapping[str, Any]) -> None:
        cmd, req_id, body = frame["cmd"], frame["headers"]["req_id"], frame.get("body") or {}
        with self._lock:
            if cmd == "aibot_subscribe":
                self._subscribe(socket, req_id, body)
                return
            code = 0
            if cmd != "ping" and socket is not self._subscriber:
                code = NOT_SUBSCRIBED
            elif cmd.startswith("aibot_respond_"):
                code = self._respond(cmd, req_id, body)
            elif cmd == "aibot_send_msg":
                code = self._send(body)
            elif cmd != "ping":
                code = 40008
            if code:
                self.refused.append({"cmd": cmd, "code": code})
            lost = cmd != "ping" and self._random.random() < self.switches.lose_acks
        if not lost:
            self._ack(socket, req_id, code)

    def _ack(self, socket: WebSocket, req_id: str, code: int) -> None:
        said = {"headers": {"req_id": req_id}, "errcode": code, "errmsg": "no" if code else "ok"}
        text = json.dumps(said)
        if self.switches.ack_delay_s and self.state.stopping.wait(self.switches.ack_delay_s):
            return
        with self._lock:
            if self._random.random() < self.switches.swap_acks:
                self._kept.append((socket, text))
                threading.Timer(0.05, self._let_go).start()
                return
        socket.send(text)
        self._let_go()

    def _let_go(self) -> None:
        with self._lock:
            kept, self._kept = self._kept, []
        for socket, text in reversed(kept):
            socket.send(text)

    def _subscribe(self, socket: WebSocket, req_id: str, body: Mapping[str, Any]) -> None:
        right = (self.config.aibot_id, self.config.aibot_secret)
        self.subscriptions.append({"at": self.state.timestamp(), "bot_id": body.get("bot_id")})
        if (body.get("bot_id"), body.get("secret")) != right:
            said = {"headers": {"req_id": req_id}, "errcode": WRONG_SECRET}
            socket.send(json.dumps(said | {"errmsg": "invalid bot_id or secret"}))
            return
        if self._subscriber is not None and self._subscriber is not socket:
            self._kick(self._subscriber)
        self._subscriber = socket
        socket.send(json.dumps({"headers": {"req_id": req_id}, "errcode": 0, "errmsg": "ok"}))
        if self.switches.forget_requests:
            self._by_request.clear()
        for question in self._questions.values():
            if not question.answered:
                self._callback(question)

    def _kick(self, socket: WebSocket) -> None:
        self._event(socket, "disconnected_event")
        if self.switches.closes_kicked:
            socket.drop()

    def _event(self, socket: WebSocket, name: str) -> None:
        body = {
            "msgid": secrets.token_urlsafe(12),
            "create_time": int(self.state.timestamp()),
            "aibotid": self.config.aibot_id,
            "msgtype": "event",
            "event": {"eventtype": name},
        }
        headers = {"req_id": secrets.token_urlsafe(12)}
        frame = {"cmd": "aibot_event_callback", "headers": headers, "body": body}
        socket.send(json.dumps(frame, ensure_ascii=False))

    def push(self, plain: dict[str, Any], deliveries: int = 1) -> None:
        """A member writes, votes, clicks or enters; kept until somebody is subscribed."""
        with self._lock:
            question = self._questions.get(plain["msgid"])
            if question is None:
                req_id = f"req-{next(self._numbers)}"
                question = Question(plain, req_id, self.state.timestamp())
                self._questions[plain["msgid"]] = self._by_request[req_id] = question
            if self._random.random() < self.switches.duplicates:
                deliveries += 1
            for _ in range(deliveries):
                self._callback(question)

    def _callback(self, question: Question) -> None:
        if self._subscriber is None:
            return
        if self.switches.new_req_id or question.req_id not in self._by_request:
            question.req_id = f"req-{next(self._numbers)}"
        self._by_request[question.req_id] = question
        event = question.plain["msgtype"] == "event"
        cmd = "aibot_event_callback" if event else "aibot_msg_callback"
        question.answered |= event  # an event comes once
        frame = {"cmd": cmd, "headers": {"req_id": question.req_id}, "body": question.plain}
        self._subscriber.send(json.dumps(frame, ensure_ascii=False))

    def _respond(self, cmd: str, req_id: str, body: Mapping[str, Any]) -> int:
        question = self._by_request.get(req_id)
        if question is None:
            return REQUEST
        question.answered = True
        userid = question.plain["from"]["userid"]
        if cmd != "aibot_respond_msg":
            said = body.get("text", {}).get("content", "")
            self.store.log(userid, cmd, said or body, None)
            if said:
                self.store.show(userid, "bot", "text", said, bot=True)
            return 0
        if self.state.timestamp() - question.created > PATIENCE_S:
            return OVER
        return self._stream(question, userid, body.get("stream") or {})

    def _stream(self, question: Question, userid: str, stream: Mapping[str, Any]) -> int:
        content, finish = stream.get("content"), stream.get("finish")
        if not isinstance(content, str) or type(finish) is not bool:
            return 40008
        if len(content.encode()) > LIMIT:
            return 45002
        if question.finished is not None:
            return 0 if (finish, content) == (True, question.finished) else OVER
        question.stream_id = question.stream_id or str(stream.get("id"))
        if question.stream_id != stream.get("id"):
            return REQUEST
        self._show(question, userid, stream)
        if finish:
            question.finished = content
            self.store.log(userid, "stream", content, question.plain["msgid"])
        return 0

    def _show(self, question: Question, userid: str, stream: Mapping[str, Any]) -> None:
        vote = (stream.get("feedback") or {}).get("id", "")
        if question.shown is not None:
            self.store.touch(question.shown, content=stream["content"], finish=stream["finish"])
            return
        question.shown = self.store.show(
            userid, "bot", "stream", stream["content"], bot=True,
            finish=stream["finish"], feedback_id=vote, vote=None,
        )  # fmt: skip
        self.store.log(userid, "stream_first", stream["content"], question.plain["msgid"])

    def _send(self, body: Mapping[str, Any]) -> int:
        content = (body.get("markdown") or {}).get("content")
        if self.switches.refuse_push:
            return self.switches.refuse_push
        if body.get("msgtype") != "markdown" or not isinstance(content, str):
            return 40008
        userid = str(body["chatid"])
        self.store.log(userid, "aibot_push", content, None)
        self.store.show(userid, "bot", "stream", content, bot=True, finish=True)
        return 0

    def control(self, order: Mapping[str, Any]) -> dict[str, Any]:
        """POST /_control/aibot/link: `{"kick"}`, `{"drop"}`, `{"switches"}`; answers with how it stands.

        A kick is of a connection from elsewhere, which is gone at once.
        """
        with self._lock:
            self.switches = Switches(**(vars(self.switches) | dict(order.get("switches") or {})))
            if order.get("switches"):
                self._random = random.Random(self.switches.seed)
            socket = self._subscriber
            if socket is not None and order.get("kick"):
                self._subscriber = None
                self._kick(socket)
            if socket is not None and order.get("drop"):
                self._subscriber = None
                socket.drop()
            return {
                "subscribed": self.is_taken,
                "subscriptions": len(self.subscriptions),
                "refused": [*self.refused],
                "unfinished": [
                    one.plain["msgid"]
                    for one in self._questions.values()
                    if one.finished is None and one.plain["msgtype"] != "event"
                ],
            }

"""The WeCom stand-in: /wecom/cgi-bin/ and its part of the control API (reference/wecom.md 4)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from demo.simulators.http import Request, Response
from demo.simulators.sockets import WebSocket
from demo.simulators.state import State
from demo.simulators.wecom.aibot import Aibot
from demo.simulators.wecom.config import Config, Switches
from demo.simulators.wecom.corp import Corp
from demo.simulators.wecom.errors import WecomError
from demo.simulators.wecom.longlink import LongLink
from demo.simulators.wecom.media import Media
from demo.simulators.wecom.messages import JsonObject, Messages
from demo.simulators.wecom.scans import Scans
from demo.simulators.wecom.store import Store
from demo.simulators.wecom.tokens import TTL, Token, Tokens

# A \uXXXX escape whose backslash is not escaped itself.
ESCAPE = re.compile(rb"(?<!\\)(?:\\\\)*\\u[0-9a-fA-F]{4}")


class WecomService:
    """Answers the server API of one self-built app and pushes its callbacks."""

    name = "wecom"
    prefix = "/wecom/cgi-bin/"
    socket_path = "/wecom/aibot/"

    def __init__(self, state: State) -> None:
        self._state = state
        self.config = Config()
        self.switches = Switches()
        self.store = Store(state)
        self.corp = Corp(self.config, self.switches, self.store)
        self.link = LongLink(state, self.config, self.store)
        self.aibot = Aibot(state, self.config, self.store, self.link)
        self._posts: dict[str, Callable[[int, JsonObject], JsonObject]] = {}
        self._start()

    def _start(self) -> None:
        self.tokens = Tokens(self._state, self.config, self.switches)
        self.media = Media(self._state)
        self.scans = Scans()
        messages = Messages(self._state, self.config, self.switches, self.store, self.media)
        self._posts = {
            "message/send": messages.send,
            "message/update_template_card": messages.update_template_card,
            "message/recall": messages.recall,
        }

    def reset(self) -> None:
        """Forget tokens, messages, cards and switches; what was configured stays."""
        self.switches.update(vars(Switches()))
        self.store.clear()
        self.aibot.clear()
        self.link.clear()
        self._start()

    def configure(self, settings: dict[str, Any]) -> None:
        """Members, apps, addresses and limits of the corp; see Config."""
        self.config.configure(settings)

    def converse(self, socket: WebSocket) -> None:
        """Speak with a client of the long connection until it ends."""
        self.link.serve(socket)

    def handle(self, request: Request) -> Response:
        """Answer one call; WeCom refuses with HTTP 200 and an errcode."""
        call = request.path.removeprefix(self.prefix)
        try:
            answer = self._answer(call, request)
        except WecomError as error:
            return Response.json(error.body(request.client_ip))
        if answer is None:
            return Response.text("", 404, "text/html")
        return Response.json(answer)

    def _answer(self, call: str, request: Request) -> JsonObject | None:
        if call == "gettoken":
            return self._gettoken(request)
        if call == "getcallbackip":
            self._authorize(request)
            return {"errcode": 0, "errmsg": "ok", "ip_list": self.config.callback_ips}
        if call == "get_api_domain_ip":
            self._authorize(request)
            return {"errcode": 0, "errmsg": "ok", "ip_list": ["127.0.0.1"]}
        if call == "user/get":
            self._authorize(request)
            return self._member(_argument(request, "userid"))
        if call == "auth/getuserinfo":
            self._authorize(request)
            return self.scans.who(_argument(request, "code"))
        if call == "media/upload":
            self._authorize(request)
            return self.media.upload(_argument(request, "type"), request)
        if call == "aibot/response":
            return self.aibot.respond(_argument(request, "response_code"), self._body(request))
        if call in self._posts:
            token = self._authorize(request)
            return self._posts[call](token.agent_id, self._body(request))
        return None

    def _gettoken(self, request: Request) -> JsonObject:
        corp_id, secret = (_argument(request, name) for name in ("corpid", "corpsecret"))
        token = self.tokens.issue(corp_id, secret, request.client_ip)
        return {"errcode": 0, "errmsg": "ok", "access_token": token.value, "expires_in": TTL}

    def _authorize(self, request: Request) -> Token:
        token = self.tokens.check(_argument(request, "access_token"))
        if self.config.trusted_ips and request.client_ip not in self.config.trusted_ips:
            raise WecomError(60020)
        return token

    def _member(self, userid: str) -> JsonObject:
        """user/get (document 90196): without what new apps are not told any more."""
        if not 1 <= len(userid.encode()) <= 64:
            raise WecomError(40003)
        user = self.config.user(userid)
        if user is None:
            raise WecomError(60111)
        if not user.visible:
            raise WecomError(60011)
        told = {"userid": user.userid, "name": user.name, "position": user.title}
        return {"errcode": 0, "errmsg": "ok", **told, "department": [1], "status": user.status}

    def _body(self, request: Request) -> JsonObject:
        if request.method != "POST":
            raise WecomError(40058, "POST expected")
        try:
            body = request.json()
        except ValueError as error:
            raise WecomError(40058, "Warning: wrong json format.") from error
        if not isinstance(body, dict):
            raise WecomError(40058, "Warning: wrong json format.")
        if self.switches.reject_unicode_escape and ESCAPE.search(request.body):
            raise WecomError(40033)
        return body

    def control(self, path: str, request: Request) -> Response | None:
        """POST /_control/wecom/<path>, GET /_control/sent and /_control/aibot/<path>."""
        if path == "sent":
            return Response.json(list(self.store.sent))
        route = self._controls().get(path)
        if route is None:
            return None
        try:
            return Response.json(route(json.loads(request.body or b"{}")))
        except LookupError as error:
            if isinstance(error, KeyError):
                raise
            return Response.json({"error": str(error)}, 409)

    def _controls(self) -> dict[str, Callable[[Any], Any]]:
        return {
            "switches": self._switch,
            "push": self.corp.push,
            "click": self.corp.click,
            "verify": lambda _: self.corp.verify(),
            "aibot/push": self.aibot.push,
            "aibot/feedback": self.aibot.feedback,
            "aibot/click": self.aibot.click,
            "aibot/enter": self.aibot.enter,
            "scan": lambda said: {"code": self.scans.scan(str(said["user"]))},
            "media/forget": lambda _: {"ok": True, "forgotten": self.media.forget()},
            "aibot/link": self.link.control,
            "revoke_token": lambda _: {"ok": True, "revoked": self.tokens.revoke()},
        }

    def _switch(self, values: dict[str, Any]) -> dict[str, Any]:
        self.switches.update(values)
        return {"ok": True, **vars(self.switches)}


def _argument(request: Request, name: str) -> str:
    return request.query.get(name, [""])[0]

"""The WeCom stand-in over real HTTP, and a client of ours that talks to it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from core.integrations.wecom import Token, WecomClient
from demo.simulators.server import RunningServer, start_in_thread
from demo.simulators.state import Fault, State
from demo.simulators.wecom.service import WecomService

CORP, AGENT, SECRET = "ww00000000000000de", 1000002, "demo-secret-of-the-stand-in"
SEND, UPDATE, GETTOKEN = "message/send", "message/update_template_card", "gettoken"
USERS = ("zhangyi", "wanghushi", "crc_b", "admin", "chenyisheng")


class MemoryTokens:
    """A token store of one process."""

    def __init__(self) -> None:
        self.value = ""

    def get(self, fetch: Callable[[], Token], stale: str = "") -> str:
        if not self.value or self.value == stale:
            self.value = fetch().value
        return self.value


class WecomSim:
    """The running stand-in with its control calls as methods."""

    def __init__(self, state: State, service: WecomService, server: RunningServer) -> None:
        self.state, self.service = state, service
        self.base = f"{server.url}/wecom/cgi-bin"

    def client(self, *, secret: str = SECRET, read_s: float = 5.0) -> WecomClient:
        return WecomClient(self.base, CORP, AGENT, secret, MemoryTokens(), read_s=read_s)

    def fault(self, path: str, kind: str, value: Any = None, times: int | None = 1) -> None:
        self.state.add_faults([Fault("wecom", path, kind, value, times)])

    def errcode(self, path: str, code: Any, times: int | None = 1, errmsg: str = "no") -> None:
        self.fault(path, "body", {"errcode": code, "errmsg": errmsg}, times)

    def calls(self, path: str) -> list[dict[str, Any]]:
        """Requests below /wecom/cgi-bin/, oldest first."""
        return [row for row in self.state.requests("wecom") if row["path"].endswith(path)]

    def bodies(self, path: str = SEND) -> list[dict[str, Any]]:
        return [json.loads(row["body"]) for row in self.calls(path)]

    def delivered(self, userid: str = "") -> list[dict[str, Any]]:
        """What arrived, in order; dropped messages did not."""
        rows = [row for row in self.service.store.sent if not row["dropped"]]
        return [row for row in rows if userid in ("", row["to"])]

    def texts(self, userid: str = "") -> list[str]:
        rows = self.delivered(userid)
        return [str(row["content"]) for row in rows if row["type"] == "text"]

    def configure(self, **settings: Any) -> None:
        self.service.configure(settings)

    def switch(self, **values: Any) -> None:
        self.service.switches.update(values)


@contextmanager
def open_wecom() -> Iterator[WecomSim]:
    """A stand-in with five members, listening on a free port."""
    state = State()
    service = WecomService(state)
    service.configure({"users": [{"userid": name} for name in USERS]})
    server = start_in_thread(state, [service])
    try:
        yield WecomSim(state, service, server)
    finally:
        server.stop()


def text(to: str = "zhangyi", content: str = "你好") -> dict[str, Any]:
    """A text message as the client takes it."""
    return {"touser": to, "msgtype": "text", "text": {"content": content}}

"""The stand-ins in a thread: over real HTTP for the product, their control API in process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from demo.simulators.__main__ import DEMO_STUDY
from demo.simulators.http import Request
from demo.simulators.registry import build_services
from demo.simulators.server import start_in_thread
from demo.simulators.state import State


class StandIns:
    """A running set of stand-ins."""

    def __init__(self, study: Path = DEMO_STUDY) -> None:
        state = State()
        self._server = start_in_thread(state, build_services(state, study))
        self.url = self._server.url.rstrip("/")
        self.port = int(self.url.rpartition(":")[2])
        self._app = self._server.app

    def stop(self) -> None:
        self._server.stop()

    def post(self, path: str, content: Any = None) -> Any:
        return self._control("POST", path, {}, json.dumps(content).encode())

    def get(self, path: str, **query: str) -> Any:
        return self._control("GET", path, {name: [value] for name, value in query.items()}, b"")

    def _control(self, method: str, path: str, query: dict[str, list[str]], body: bytes) -> Any:
        """Raises AssertionError for what the control API refuses."""
        headers = {"content-type": "application/json"}
        answer = self._app.handle(Request(method, f"/_control/{path}", query, headers, body))
        assert answer.status < 400, answer.body.decode()
        return json.loads(answer.body)

    def reset(self) -> None:
        """Forget requests, faults, scripts, messages and changed data."""
        self.post("reset")
        self.post("llm/script", [])
        self.post("configure", {"llm": {"empty_content": False, "latency_s": 0}})

    def requests(self, service: str) -> list[dict[str, Any]]:
        """What a service received, oldest first."""
        found: list[dict[str, Any]] = self.get("requests", service=service)
        return found

    def sent(self) -> list[dict[str, Any]]:
        """What WeCom delivered."""
        found: list[dict[str, Any]] = self.get("sent")
        return found

    def fault(
        self, service: str, kind: str, value: Any = None, times: int | None = 1, path: str = ""
    ) -> None:
        """Let the next calls of a service go wrong."""
        fault = {"service": service, "path": path, "kind": kind, "value": value, "times": times}
        self.post("faults", [fault])

    def script(self, *messages: Any) -> None:
        """Exact assistant messages, answered in turn whatever is asked for, JSON too."""
        self.post("llm/script", [{**message, "any_request": True} for message in messages])

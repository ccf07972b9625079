"""The stand-ins in a thread, over real HTTP, with their control API."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx

from simulators.__main__ import DEMO_STUDY
from simulators.registry import build_services
from simulators.server import start_in_thread
from simulators.state import State


class StandIns:
    """A running set of stand-ins."""

    def __init__(self, study: Path = DEMO_STUDY) -> None:
        state = State()
        self._server = start_in_thread(state, build_services(state, study))
        self.url = self._server.url.rstrip("/")
        self.port = int(self.url.rpartition(":")[2])
        self._http = httpx.Client(base_url=self.url, timeout=30, trust_env=False)

    def stop(self) -> None:
        self._http.close()
        self._server.stop()

    def post(self, path: str, content: Any = None) -> Any:
        answer = self._http.post(f"/_control/{path}", json=content)
        answer.raise_for_status()
        return answer.json()

    def get(self, path: str, **query: str) -> Any:
        answer = self._http.get(f"/_control/{path}", params=query)
        answer.raise_for_status()
        return answer.json()

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

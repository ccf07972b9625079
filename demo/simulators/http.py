"""What a stand-in receives and answers: plain values, no socket.

The shapes are ours; the services decide what REDCap, Dify, WeCom or an LLM endpoint would answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import parse_qs


class Headers(Mapping[str, str]):
    """Request headers; names are compared without regard to case, iteration gives lower case."""

    def __init__(self, items: Mapping[str, str]) -> None:
        self._items = {name.lower(): value for name, value in items.items()}

    def __getitem__(self, name: str) -> str:
        return self._items[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)


@dataclass
class Request:
    """One HTTP request, read to its end."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: Mapping[str, str]
    body: bytes
    client_ip: str = "127.0.0.1"
    query_string: str = ""

    @property
    def text(self) -> str:
        """The body as UTF-8 text; undecodable bytes become U+FFFD."""
        return self.body.decode("utf-8", errors="replace")

    def json(self) -> Any:
        """The body as JSON. Raises ValueError when it is none."""
        return json.loads(self.body)

    def form(self) -> dict[str, list[str]]:
        """The body as application/x-www-form-urlencoded, blank values kept."""
        return parse_qs(self.text, keep_blank_values=True)


@dataclass
class Response:
    """One HTTP answer."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)

    @staticmethod
    def json(obj: Any, status: int = 200) -> Response:
        """`obj` as JSON in raw UTF-8 (no `\\uXXXX`)."""
        body = json.dumps(obj, ensure_ascii=False, separators=(",", ":")).encode()
        return Response(status, body)

    @staticmethod
    def text(
        text: str, status: int = 200, content_type: str = "text/plain; charset=utf-8"
    ) -> Response:
        """`text` in UTF-8."""
        return Response(status, text.encode(), content_type)


class DropConnectionError(Exception):
    """The connection ends without an answer; `reset` asks for an RST instead of a FIN."""

    def __init__(self, *, reset: bool) -> None:
        super().__init__("connection dropped on purpose")
        self.reset = reset


class Service(Protocol):
    """One stand-in: everything below `prefix` is answered by `handle`."""

    name: str
    prefix: str

    def handle(self, request: Request) -> Response:
        """Answer a request of the outside system's own API."""
        ...

    def reset(self) -> None:
        """Back to the loaded study; what `configure` set stays."""
        ...

    def configure(self, settings: dict[str, Any]) -> None:
        """Take this service's part of POST /_control/configure."""
        ...

    def control(self, path: str, request: Request) -> Response | None:
        """Answer /_control/<service>/<path>; None when there is no such route."""
        ...

"""The LLM stand-in: /llm/v1/ in the OpenAI protocol (reference/agents_memory.md 5 and 7)."""

from __future__ import annotations

import json
import threading
import uuid
from collections import deque
from typing import Any

from simulators.http import Request, Response
from simulators.llm import marks
from simulators.llm.completion import check_message, chunks, completion, reply
from simulators.llm.protocol import Chat, Json, RefusalError, parse
from simulators.state import State

MODELS = ("local", "deepseek-v3", "qwen")
ANY = "any_request"
EVENTS = "text/event-stream; charset=utf-8"


class LlmService:
    """A small honest assistant; what is scripted is answered first, in turn.

    A scripted message answers requests for prose only, with marks for its placeholders; one that says
    `"any_request": true` answers whatever comes, word for word.
    """

    name = "llm"
    prefix = "/llm/v1/"

    def __init__(self, state: State) -> None:
        self._state = state
        self._lock = threading.Lock()
        self._script: deque[Json] = deque()
        self._silent = False
        self._empty_content = False
        self._latency_s = 0.0

    def reset(self) -> None:
        """Forget the script; what was configured stays."""
        with self._lock:
            self._script.clear()
            self._silent = False

    def configure(self, settings: dict[str, Any]) -> None:
        """`empty_content`: always answer with empty content; `latency_s`: think that long."""
        if unknown := sorted(set(settings) - {"empty_content", "latency_s"}):
            raise ValueError(f"no such llm setting: {', '.join(unknown)}")
        self._empty_content = bool(settings.get("empty_content", self._empty_content))
        self._latency_s = float(settings.get("latency_s", self._latency_s))

    def handle(self, request: Request) -> Response:
        """Answer one call; errors in OpenAI's shape."""
        try:
            return self._answer(request)
        except RefusalError as error:
            return Response.json(error.body(), error.status)

    def _answer(self, request: Request) -> Response:
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not key.strip():
            raise RefusalError("You didn't provide an API key.", status=401)
        path = request.path.removeprefix(self.prefix).strip("/")
        if path == "models":
            listed = [{"id": model, "object": "model", "owned_by": "stand-in"} for model in MODELS]
            return Response.json({"object": "list", "data": listed})
        if path != "chat/completions":
            raise RefusalError(f"Unknown request URL: {request.path}", status=404)
        if request.method != "POST":
            raise RefusalError("Not allowed: use POST.", status=405)
        try:
            body = request.json()
        except ValueError as error:
            message = "We could not parse the JSON body of your request."
            raise RefusalError(message) from error
        return self._complete(parse(body))

    def _complete(self, chat: Chat) -> Response:
        scripted = self._scripted(chat)
        if self._latency_s:
            self._state.stopping.wait(self._latency_s)
        if isinstance(scripted, dict) and {"raw", "status"} & set(scripted):
            return _verbatim(scripted)
        message = self._message(chat, scripted)
        whole = completion(
            chat, message, created=int(self._state.timestamp()), number=uuid.uuid4().hex
        )
        if isinstance(scripted, dict):
            _override(whole, scripted)
        if chat.stream:
            return Response.text(chunks(chat, whole), content_type=EVENTS)
        return Response.json(whole)

    def _scripted(self, chat: Chat) -> Json | None:
        """The next message of the script, where it answers this request."""
        with self._lock:
            if not self._script:
                return None
            if not (_is_prose(chat) or self._script[0].get(ANY)):
                return None
            row: Json = self._script.popleft()
        if not row.get(ANY) and isinstance(said := row.get("content"), str):
            row = {**row, "content": marks.marked(said, chat)}
        return {key: value for key, value in row.items() if key != ANY}

    def _message(self, chat: Chat, scripted: Any) -> Json:
        if scripted is not None:
            own = {k: v for k, v in scripted.items() if k not in ("finish_reason", "usage")}
            return check_message(own)
        if self._silent or self._empty_content:
            return {"role": "assistant", "content": ""}
        return reply(chat)

    def control(self, path: str, request: Request) -> Response | None:
        """POST /_control/llm/script replaces the script; [] = default behaviour, {"silent": true} = no word."""
        if path != "script":
            return None
        rows = json.loads(request.body)
        if rows == {"silent": True}:
            with self._lock:
                self._silent = True
            return Response.json({"ok": True, "planned": 0})
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise ValueError("a list of assistant messages expected")
        with self._lock:
            self._script, self._silent = deque(rows), self._silent and bool(rows)
        return Response.json({"ok": True, "planned": len(rows)})


def _is_prose(chat: Chat) -> bool:
    return chat.format == "text" and chat.tool_choice in ("auto", "none")


def _verbatim(scripted: Json) -> Response:
    """{"raw": body, "status", "content_type"} as it is; a body that is no text goes out as JSON."""
    body, status = scripted.get("raw", ""), int(scripted.get("status", 200))
    if not isinstance(body, str):
        return Response.json(body, status)
    if "raw" not in scripted:
        return Response.json(RefusalError("scripted error").body(), status)
    return Response.text(body, status, str(scripted.get("content_type", "application/json")))


def _override(whole: Json, scripted: Json) -> None:
    if "finish_reason" in scripted:
        whole["choices"][0]["finish_reason"] = scripted["finish_reason"]
    if "usage" in scripted:
        whole["usage"] = scripted["usage"]

"""The LLM stand-in: /llm/v1/ in the OpenAI protocol (reference/agents_memory.md 5 and 7)."""

from __future__ import annotations

import json
import threading
import uuid
from collections import deque
from typing import Any

from demo.simulators.http import Request, Response
from demo.simulators.llm import marks, model
from demo.simulators.llm.completion import check_message, chunks, completion
from demo.simulators.llm.protocol import Chat, Json, RefusalError, parse
from demo.simulators.state import State

MODELS = ("local", "deepseek-v3", "qwen")
ANY = "any_request"
EVENTS = "text/event-stream; charset=utf-8"


class LlmService:
    """What is scripted is answered first, in turn; then a small honest model answers.

    A scripted message answers requests for prose only, with marks for its placeholders; one that says
    `"any_request": true` answers whatever comes, word for word.
    """

    name = "llm"
    prefix = "/llm/v1/"

    def __init__(self, state: State) -> None:
        self._state = state
        self._lock = threading.Lock()
        self._script: deque[Json] = deque()
        self._is_silent = False
        self._settings: Json = {"empty_content": False, "latency_s": 0.0}

    def reset(self) -> None:
        """Forget the script; what was configured stays."""
        with self._lock:
            self._script.clear()
            self._is_silent = False

    def configure(self, settings: dict[str, Any]) -> None:
        """`empty_content`: always answer with empty content; `latency_s`: think that long."""
        if unknown := sorted(set(settings) - set(self._settings)):
            raise ValueError(f"no such llm setting: {', '.join(unknown)}")
        self._settings |= settings

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
            listed = [{"id": name, "object": "model", "owned_by": "stand-in"} for name in MODELS]
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
        if self._settings["latency_s"]:
            self._state.stopping.wait(float(self._settings["latency_s"]))
        if scripted is not None and {"raw", "status"} & set(scripted):
            return _verbatim(scripted)
        whole = completion(
            chat,
            self._message(chat, scripted),
            created=int(self._state.timestamp()),
            number=uuid.uuid4().hex,
        )
        if scripted is not None and "finish_reason" in scripted:
            whole["choices"][0]["finish_reason"] = scripted["finish_reason"]
        if scripted is not None and "usage" in scripted:
            whole["usage"] = scripted["usage"]
        if chat.stream:
            return Response.text(chunks(chat, whole), content_type=EVENTS)
        return Response.json(whole)

    def _scripted(self, chat: Chat) -> Json | None:
        """The next message of the script, where it answers this request."""
        is_prose = chat.format == "text" and chat.tool_choice in (None, "auto", "none")
        with self._lock:
            if not self._script or not (is_prose or self._script[0].get(ANY)):
                return None
            row: Json = self._script.popleft()
        if not row.get(ANY):
            row = marks.marked_in(row, chat)
        return {key: value for key, value in row.items() if key != ANY}

    def _message(self, chat: Chat, scripted: Json | None) -> Json:
        if scripted is not None:
            own = {k: v for k, v in scripted.items() if k not in ("finish_reason", "usage")}
            return check_message(own)
        if self._is_silent or self._settings["empty_content"]:
            return {"role": "assistant", "content": ""}
        return model.reply(chat)

    def control(self, path: str, request: Request) -> Response | None:
        """POST /_control/llm/script replaces the script; [] = default behaviour, {"silent": true} = no word."""
        if path != "script":
            return None
        rows = json.loads(request.body)
        if rows == {"silent": True}:
            self._is_silent = True
            return Response.json({"ok": True, "planned": 0})
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise ValueError("a list of assistant messages expected")
        with self._lock:
            self._script, self._is_silent = deque(rows), self._is_silent and bool(rows)
        return Response.json({"ok": True, "planned": len(rows)})


def _verbatim(scripted: Json) -> Response:
    """{"raw": body, "status", "content_type"} as it is; a body that is no text goes out as JSON."""
    body, status = scripted.get("raw", ""), int(scripted.get("status", 200))
    if "raw" not in scripted:
        return Response.json(RefusalError("scripted error").body(), status)
    if not isinstance(body, str):
        return Response.json(body, status)
    return Response.text(body, status, str(scripted.get("content_type", "application/json")))

"""The assistant's message as a completion or as chunks, with a deterministic count of tokens."""

from __future__ import annotations

import json
import re
from typing import Any

from demo.simulators.llm.protocol import Chat, Json, RefusalError

PIECE = re.compile(r"[\u4e00-\u9fff]{1,2}|[A-Za-z]{1,4}|\d{1,3}|\s+|.", re.DOTALL)
CHUNK = 12


def count_tokens(text: str) -> int:
    """About 0.6 a Chinese character, 0.25 a Latin letter."""
    return sum(1 for piece in PIECE.finditer(text) if not piece[0].isspace())


def cut_tokens(text: str, limit: int) -> str:
    """The longest start of `text` with at most `limit` tokens."""
    used = 0
    for piece in PIECE.finditer(text):
        used += not piece[0].isspace()
        if used > limit:
            return text[: piece.start()]
    return text


def check_message(message: Json) -> Json:
    """A scripted assistant message, completed. Raises RefusalError when it is none."""
    calls = []
    for index, call in enumerate(message.get("tool_calls") or []):
        function = dict(call.get("function") or call)
        given = function.get("arguments", "{}")
        if "name" not in function:
            raise RefusalError("a scripted call must name its function")
        written = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        wanted = {"name": function["name"], "arguments": written}
        identity = call.get("id") or f"call_script_{index}"
        calls.append({"id": identity, "type": "function", "function": wanted})
    completed = {"role": "assistant", "content": None, **message}
    return {**completed, "tool_calls": calls} if calls else completed


def completion(chat: Chat, message: Json, *, created: int, number: str) -> Json:
    """The answer of POST /chat/completions; `max_tokens` cuts the content."""
    reason = "tool_calls" if message.get("tool_calls") else "stop"
    content = message.get("content")
    limit = chat.max_tokens or chat.max_completion_tokens
    if limit and isinstance(content, str) and count_tokens(content) > limit:
        message, reason = {**message, "content": cut_tokens(content, limit)}, "length"
    made = [json.dumps(call["function"]) for call in message.get("tool_calls") or []]
    generated = count_tokens(" ".join([message.get("content") or "", *made]))
    calls = [call.function.arguments for m in chat.messages for call in m.tool_calls]
    prompt = sum(count_tokens(m.text) + 4 for m in chat.messages) + sum(map(count_tokens, calls))
    prompt += sum(count_tokens(str(tool)) for tool in chat.offered.items())
    usage = {
        "prompt_tokens": prompt,
        "completion_tokens": generated,
        "total_tokens": prompt + generated,
    }
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reason}
    head = {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": created}
    return {**head, "model": chat.model, "choices": [choice], "usage": usage}


def chunks(chat: Chat, whole: Json) -> str:
    """A completion as server-sent events, with tool-argument deltas and the optional usage."""
    choice = whole["choices"][0]
    base = {name: whole[name] for name in ("id", "created", "model")}
    base |= {"object": "chat.completion.chunk"} | ({"usage": None} if _counts(chat) else {})
    deltas = [({"role": "assistant", "content": ""}, None), *_deltas(choice["message"])]
    rows = [(delta, reason) for delta, reason in (*deltas, ({}, choice["finish_reason"]))]
    events: list[Json] = [
        {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
        for delta, reason in rows
    ]
    events += [{**base, "choices": [], "usage": whole["usage"]}] if _counts(chat) else []
    lines = [f"data: {json.dumps(event, ensure_ascii=False)}\n\n" for event in events]
    return "".join(lines) + "data: [DONE]\n\n"


def _counts(chat: Chat) -> bool:
    return chat.stream_options is not None and chat.stream_options.include_usage


def _deltas(message: Json) -> list[tuple[Json, Any]]:
    found: list[Json] = [{"content": piece} for piece in _pieces(message.get("content") or "")]
    for index, call in enumerate(message.get("tool_calls") or []):
        start = {"name": call["function"]["name"], "arguments": ""}
        head = {"index": index, "id": call["id"], "type": "function", "function": start}
        parts = _pieces(call["function"]["arguments"])
        more = [{"index": index, "function": {"arguments": piece}} for piece in parts]
        found += [{"tool_calls": [one]} for one in (head, *more)]
    return [(delta, None) for delta in found]


def _pieces(text: str) -> list[str]:
    return [text[at : at + CHUNK] for at in range(0, len(text), CHUNK)]

"""From a request to the assistant's message, and the message as a completion or as chunks."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from simulators.llm import answers, schema, tools
from simulators.llm.fill import fill, is_verdict
from simulators.llm.material import read
from simulators.llm.protocol import Chat, Json, RefusalError
from simulators.llm.text import count_tokens, cut_tokens
from simulators.llm.verdict import judge

PIECE = 12


def reply(chat: Chat) -> Json:
    """The assistant message of the small stand-in: tool calls, structured output or an answer."""
    material = read(chat)
    form = _form(chat)
    grounded = _grounded(form, chat)
    calls = (
        [] if grounded and not chat.tool_choice.startswith("=") else tools.choose(chat, material)
    )
    if calls:
        return {"role": "assistant", "content": None, "tool_calls": [
            _call(chat, index, tool.name, arguments)
            for index, (tool, arguments) in enumerate(calls)
        ]}  # fmt: skip
    if chat.format == "text":
        return {"role": "assistant", "content": answers.answer(chat, material)}
    value = fill(form, chat) if form else {"answer": answers.answer(chat, material)}
    return {"role": "assistant", "content": json.dumps(value, ensure_ascii=False)}


def _form(chat: Chat) -> schema.Schema | None:
    if chat.format == "text":
        return None
    return chat.schema or schema.sketched(chat)


def _grounded(form: schema.Schema | None, chat: Chat) -> bool:
    """Whether a verdict can be given from what is in the request already."""
    if form is None or not is_verdict(form):
        return False
    return judge(chat).confidence > 0


def _call(chat: Chat, index: int, name: str, arguments: Json) -> Json:
    written = json.dumps(arguments, ensure_ascii=False)
    seed = json.dumps(chat.raw, sort_keys=True) + f"{index}{name}{written}"
    number = hashlib.sha256(seed.encode()).hexdigest()[:24]
    function = {"name": name, "arguments": written}
    return {"id": f"call_{number}", "type": "function", "function": function}


def check_message(message: Any) -> Json:
    """A scripted assistant message, completed. Raises RefusalError when it is none."""
    if not isinstance(message, dict):
        raise RefusalError("a scripted message must be an object")
    calls = []
    for index, call in enumerate(message.get("tool_calls") or []):
        function = dict(call.get("function") or call)
        if not isinstance(function.get("arguments", "{}"), str):
            function["arguments"] = json.dumps(function["arguments"], ensure_ascii=False)
        wanted = {"name": function["name"], "arguments": function.get("arguments", "{}")}
        identity = call.get("id") or f"call_script_{index}"
        calls.append({"id": identity, "type": "function", "function": wanted})
    completed = {"role": "assistant", "content": None, **message}
    return {**completed, "tool_calls": calls} if calls else completed


def completion(chat: Chat, message: Json, *, created: int, number: str) -> Json:
    """The answer of POST /chat/completions; `max_tokens` cuts the content."""
    message, reason = _cut(chat, message)
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": created,
        "model": chat.model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": reason}],
        "usage": answers.usage(chat, _generated(message)),
    }


def _generated(message: Json) -> str:
    calls = [json.dumps(call["function"]) for call in message.get("tool_calls") or []]
    return " ".join([message.get("content") or "", *calls])


def _cut(chat: Chat, message: Json) -> tuple[Json, str]:
    content = message.get("content")
    limit = chat.max_tokens
    if limit is not None and isinstance(content, str) and count_tokens(content) > limit:
        return {**message, "content": cut_tokens(content, limit)}, "length"
    return message, "tool_calls" if message.get("tool_calls") else "stop"


def chunks(chat: Chat, whole: Json) -> str:
    """A completion as server-sent events, with tool-argument deltas and the optional usage."""
    choice = whole["choices"][0]
    base = {name: whole[name] for name in ("id", "created", "model")}
    base["object"] = "chat.completion.chunk"
    deltas = [{"role": "assistant", "content": ""}, *_deltas(choice["message"])]
    usage: Json = {"usage": None} if chat.include_usage else {}
    events = [{**base, "choices": [_delta(delta)], **usage} for delta in deltas]
    events.append({**base, "choices": [_delta({}, choice["finish_reason"])], **usage})
    if chat.include_usage:
        events.append({**base, "choices": [], "usage": whole["usage"]})
    lines = [f"data: {json.dumps(event, ensure_ascii=False)}\n\n" for event in events]
    return "".join(lines) + "data: [DONE]\n\n"


def _delta(delta: Json, reason: str | None = None) -> Json:
    return {"index": 0, "delta": delta, "finish_reason": reason}


def _pieces(text: str) -> list[str]:
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)]


def _deltas(message: Json) -> list[Json]:
    found: list[Json] = [{"content": piece} for piece in _pieces(message.get("content") or "")]
    for index, call in enumerate(message.get("tool_calls") or []):
        start = {"name": call["function"]["name"], "arguments": ""}
        head = {"index": index, "id": call["id"], "type": "function", "function": start}
        found.append({"tool_calls": [head]})
        for piece in _pieces(call["function"]["arguments"]):
            found.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    return found

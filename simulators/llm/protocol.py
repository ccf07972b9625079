"""The OpenAI chat protocol: what a request may hold, refused as the real endpoints refuse it.

Source: reference/agents_memory.md sections 5 and 7 (DashScope and DeepSeek in their OpenAI mode).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

ROLES = ("system", "developer", "user", "assistant", "tool")
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
Json = dict[str, Any]


class RefusalError(Exception):
    """A request answered with an error object instead of a completion."""

    def __init__(self, message: str, *, status: int = 400, param: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.param = param

    def body(self) -> Json:
        """The error object in OpenAI's shape."""
        error = {"message": str(self), "type": "invalid_request_error", "param": self.param}
        return {"error": {**error, "code": None}}


@dataclass(frozen=True)
class Message:
    """One message of the conversation; list content is joined to text."""

    role: str
    content: str
    tool_calls: tuple[Json, ...] = ()
    tool_call_id: str = ""


@dataclass(frozen=True)
class Tool:
    """One offered function."""

    name: str
    description: str
    parameters: Json


@dataclass(frozen=True)
class Chat:
    """A valid request of POST /chat/completions."""

    model: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    tool_choice: str = "auto"
    format: str = "text"
    schema: Json | None = None
    max_tokens: int | None = None
    stream: bool = False
    include_usage: bool = False
    parallel: bool = True
    raw: Json = field(default_factory=dict)

    def tool(self, name: str) -> Tool | None:
        """The offered tool of that name."""
        return next((tool for tool in self.tools if tool.name == name), None)


def _require(condition: bool, message: str, param: str | None = None) -> None:
    if not condition:
        raise RefusalError(message, param=param)


def parse(body: Any) -> Chat:
    """A request body as a Chat. Raises RefusalError."""
    _require(isinstance(body, dict), "We could not parse the JSON body of your request.")
    model = body.get("model")
    _require(isinstance(model, str) and bool(model), "you must provide a model parameter", "model")
    messages = _messages(body.get("messages"))
    _numbers(body)
    tools = _tools(body.get("tools"))
    kind, schema = _format(body.get("response_format"), messages)
    return Chat(
        model=model,
        messages=messages,
        tools=tools,
        tool_choice=_tool_choice(body.get("tool_choice"), tools),
        format=kind,
        schema=schema,
        max_tokens=body.get("max_tokens") or body.get("max_completion_tokens"),
        stream=body.get("stream") is True,
        include_usage=bool((body.get("stream_options") or {}).get("include_usage")),
        parallel=body.get("parallel_tool_calls") is not False,
        raw=body,
    )


def _messages(value: Any) -> tuple[Message, ...]:
    _require(value is not None, "Missing required parameter: 'messages'.", "messages")
    _require(isinstance(value, list), "Invalid type for 'messages': expected an array.", "messages")
    _require(bool(value), "[] is too short - 'messages'", "messages")
    messages = tuple(_message(index, row) for index, row in enumerate(value))
    _check_order(messages)
    return messages


def _message(index: int, row: Any) -> Message:
    where = f"messages[{index}]"
    _require(isinstance(row, dict), f"Invalid type for '{where}': expected an object.", where)
    role = row.get("role")
    supported = ", ".join(repr(name) for name in ROLES)
    message = f"Invalid value: {role!r}. Supported values are: {supported}."
    _require(role in ROLES, message, f"{where}.role")
    calls = row.get("tool_calls") or []
    _require(isinstance(calls, list), f"Invalid type for '{where}.tool_calls'.", where)
    _require(not calls or role == "assistant", f"'tool_calls' is not allowed in '{where}'.", where)
    for call in calls:
        _check_call(call, where)
    content = _content(row.get("content"), where, optional=bool(calls))
    call_id = row.get("tool_call_id") or ""
    if role == "tool":
        _require(isinstance(call_id, str) and bool(call_id), f"Missing {where}.tool_call_id", where)
    return Message(role, content, tuple(calls), call_id)


def _check_call(call: Any, where: str) -> None:
    function = call.get("function") if isinstance(call, dict) else None
    fits = (
        isinstance(function, dict)
        and isinstance(call.get("id"), str)
        and isinstance(function.get("name"), str)
        and isinstance(function.get("arguments"), str)
    )
    _require(fits, f"Invalid tool call in '{where}.tool_calls'.", f"{where}.tool_calls")


def _content(value: Any, where: str, *, optional: bool) -> str:
    if value is None:
        _require(optional, f"Missing required parameter: '{where}.content'.", f"{where}.content")
        return ""
    if isinstance(value, str):
        return value
    message = f"Invalid type for '{where}.content': expected a string or text parts."
    _require(isinstance(value, list), message, f"{where}.content")
    for part in value:
        fits = isinstance(part, dict) and isinstance(part.get("text"), str)
        _require(fits and part.get("type") == "text", message, f"{where}.content")
    return "\n".join(part["text"] for part in value)


def _check_order(messages: tuple[Message, ...]) -> None:
    open_ids: list[str] = []
    for index, message in enumerate(messages):
        if message.role == "tool":
            _require(
                message.tool_call_id in open_ids,
                "Invalid parameter: messages with role 'tool' must be a response to a "
                "preceding message with 'tool_calls'.",
                f"messages.[{index}].role",
            )
            open_ids.remove(message.tool_call_id)
            continue
        _require_answered(open_ids, index)
        open_ids = [call["id"] for call in message.tool_calls]
    _require_answered(open_ids, len(messages))


def _require_answered(open_ids: list[str], index: int) -> None:
    _require(
        not open_ids,
        "An assistant message with 'tool_calls' must be followed by tool messages responding to "
        "each 'tool_call_id'. The following tool_call_ids did not have response messages: "
        + ", ".join(open_ids),
        f"messages.[{index}].role",
    )


def _numbers(body: Json) -> None:
    for name, low, high in (("temperature", 0, 2), ("top_p", 0, 1)):
        value = body.get(name)
        fits = value is None or (_is_number(value) and low <= value <= high)
        _require(fits, f"Invalid value for '{name}': expected {low} to {high}.", name)
    for name in ("max_tokens", "max_completion_tokens", "n"):
        value = body.get(name)
        fits = value is None or (_is_number(value) and isinstance(value, int) and value >= 1)
        _require(fits, f"Invalid value for '{name}': expected an integer of at least 1.", name)
    _require(body.get("n") in (None, 1), "Only 'n' = 1 is supported.", "n")
    _require(isinstance(body.get("stream", False), (bool, type(None))), "Bad 'stream'.", "stream")
    options = body.get("stream_options")
    message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
    _require(options is None or body.get("stream") is True, message, "stream_options")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _tools(value: Any) -> tuple[Tool, ...]:
    if value is None:
        return ()
    _require(isinstance(value, list) and bool(value), "[] is too short - 'tools'", "tools")
    return tuple(_tool(index, row) for index, row in enumerate(value))


def _tool(index: int, row: Any) -> Tool:
    where = f"tools[{index}]"
    fits = isinstance(row, dict) and row.get("type") == "function"
    _require(fits and isinstance(row.get("function"), dict), f"Invalid '{where}'.", where)
    function = row["function"]
    name = function.get("name")
    fits = isinstance(name, str) and TOOL_NAME.fullmatch(name) is not None
    _require(fits, f"Invalid '{where}.function.name'.", f"{where}.function.name")
    parameters = function.get("parameters") or {"type": "object", "properties": {}}
    fits = isinstance(parameters, dict) and parameters.get("type", "object") == "object"
    _require(fits, f"Invalid schema for function '{name}'.", f"{where}.function.parameters")
    return Tool(name, str(function.get("description") or ""), parameters)


def _tool_choice(value: Any, tools: tuple[Tool, ...]) -> str:
    """`none`, `auto`, `required`, or `=name` for a named function."""
    if value is None:
        return "auto" if tools else "none"
    message = "Invalid value for 'tool_choice': only allowed when 'tools' are specified."
    _require(bool(tools) or value == "none", message, "tool_choice")
    if isinstance(value, str):
        fits = value in ("none", "auto", "required")
        _require(fits, f"Invalid value for 'tool_choice': {value!r}.", "tool_choice")
        return value
    name = (value.get("function") or {}).get("name") if isinstance(value, dict) else None
    _require(name in {tool.name for tool in tools}, "Tool choice not in 'tools'.", "tool_choice")
    return f"={name}"


def _format(value: Any, messages: tuple[Message, ...]) -> tuple[str, Json | None]:
    if value is None:
        return "text", None
    kind = value.get("type") if isinstance(value, dict) else None
    known = kind in ("text", "json_object", "json_schema")
    _require(known, f"Invalid value for 'response_format.type': {kind!r}.", "response_format")
    if kind == "json_object":
        named = any("json" in message.content.lower() for message in messages)
        _require(named, "'messages' must contain the word 'json' in some form, to use "
                 "'response_format' of type 'json_object'.", "messages")  # fmt: skip
        return "json_object", None
    if kind == "json_schema":
        part = value.get("json_schema")
        fits = isinstance(part, dict) and isinstance(part.get("schema"), dict) and part.get("name")
        _require(bool(fits), "Missing 'response_format.json_schema'.", "response_format")
        return "json_schema", part["schema"]
    return "text", None

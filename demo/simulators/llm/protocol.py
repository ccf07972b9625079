"""The OpenAI chat protocol: what a request may hold, refused as the real endpoints refuse it.

Source: reference/agents_memory.md sections 5 and 7 (DashScope and DeepSeek in their OpenAI mode).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

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


class _Called(BaseModel, strict=True):
    name: str
    arguments: str


class _Call(BaseModel, strict=True):
    id: str
    function: _Called


class _Part(BaseModel, strict=True):
    type: Literal["text"]
    text: str


class _Message(BaseModel, strict=True):
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[_Part] | None = None
    tool_calls: Annotated[list[_Call], BeforeValidator(lambda value: value or [])] = []
    tool_call_id: str = ""

    @property
    def text(self) -> str:
        """The content in one piece."""
        parts = [part.text for part in self.content] if isinstance(self.content, list) else []
        return self.content if isinstance(self.content, str) else "\n".join(parts)


class Function(BaseModel, strict=True):
    """What an offered tool is called and takes."""

    name: str = Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$")
    parameters: Json = {}


class _Tool(BaseModel, strict=True):
    type: Literal["function"]
    function: Function


class _Named(BaseModel, strict=True):
    name: str = Field(min_length=1)
    form: Json = Field(alias="schema")


class _Format(BaseModel, strict=True):
    type: Literal["text", "json_object", "json_schema"] = "text"
    json_schema: _Named | None = None


class _Streaming(BaseModel, strict=True):
    include_usage: bool = False


class Chat(BaseModel, strict=True):
    """A valid request of POST /chat/completions."""

    model: str = Field(min_length=1)
    messages: list[_Message] = Field(min_length=1)
    tools: list[_Tool] | None = Field(None, min_length=1)
    tool_choice: Literal["none", "auto", "required"] | Json | None = None
    response_format: _Format | None = None
    max_tokens: int | None = Field(None, ge=1)
    max_completion_tokens: int | None = Field(None, ge=1)
    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, ge=0, le=1)
    n: Literal[1] | None = None
    stream: bool | None = None
    stream_options: _Streaming | None = None

    @property
    def format(self) -> str:
        """How the answer is to be written."""
        return self.response_format.type if self.response_format else "text"

    @property
    def offered(self) -> dict[str, Json]:
        """The tools: name to the schema of their arguments."""
        return {tool.function.name: tool.function.parameters for tool in self.tools or ()}

    @property
    def forced(self) -> str:
        """The tool that has to be called, "" for none in particular."""
        choice = self.tool_choice
        return str((choice.get("function") or {}).get("name")) if isinstance(choice, dict) else ""


def parse(body: Any) -> Chat:
    """A request body as a Chat. Raises RefusalError."""
    try:
        chat = Chat.model_validate(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise RefusalError(f"Invalid value for '{place}': {first['msg']}.", param=place) from None
    _check_order(chat)
    _check_choices(chat)
    return chat


def _require(condition: Any, message: str, param: str) -> None:
    if not condition:
        raise RefusalError(message, param=param)


def _check_order(chat: Chat) -> None:
    """Every tool call is answered at once, and nothing else is."""
    is_open: list[str] = []
    for index, message in enumerate((*chat.messages, None)):
        where = f"messages.[{index}].role"
        if message is not None and message.role == "tool":
            told = "messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
            _require(message.tool_call_id in is_open, f"Invalid parameter: {told}.", where)
            is_open.remove(message.tool_call_id)
            continue
        told = f"The following tool_call_ids did not have response messages: {', '.join(is_open)}"
        _require(not is_open, f"'tool_calls' must be followed by tool messages. {told}", where)
        is_open = [call.id for call in message.tool_calls] if message else []
        if message is not None:
            fits = message.role == "assistant" or not is_open
            _require(fits, "'tool_calls' is only allowed for the assistant.", where)
            told = f"Missing required parameter: 'messages[{index}].content'."
            _require(message.content is not None or is_open, told, where)


def _check_choices(chat: Chat) -> None:
    told = "Invalid value for 'tool_choice': only allowed when 'tools' are specified."
    _require(chat.tools or chat.tool_choice in (None, "none"), told, "tool_choice")
    fits = not chat.forced or chat.forced in chat.offered
    _require(fits, "Tool choice not in 'tools'.", "tool_choice")
    told = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
    _require(chat.stream or not chat.stream_options, told, "stream_options")
    if chat.format == "json_object":
        told = (
            "'messages' must contain the word 'json' in some form, to use 'response_format' of type"
        )
        named = any("json" in message.text.lower() for message in chat.messages)
        _require(named, f"{told} 'json_object'.", "messages")
    form = chat.response_format.json_schema if chat.response_format else None
    told = "Missing 'response_format.json_schema'."
    _require(form or chat.format != "json_schema", told, "response_format")

"""One class over the openai SDK: our retries, our limits, our errors."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from integrations import tokens
from integrations.llm.errors import (
    LlmAbilityMissing,
    LlmError,
    LlmProtocolError,
    LlmTimeout,
    LlmUnavailable,
)
from integrations.llm.messages import Completion, Message, ToolCall, Usage
from integrations.llm.presets import PRESETS
from integrations.pool import http
from privacy.outbound_policy import OutsideRefused, check_url

if TYPE_CHECKING:
    import openai
    from openai import OpenAI

TRIES = 3
LONGEST_WAIT_S = 5.0
_UNABLE = frozenset({400, 404, 422, 501})
_LACKS = re.compile(
    r"not support|unsupported|unavailable|not available|not implemented|unknown|unrecognized|不支持",
    re.IGNORECASE,
)
_RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504})


@cache
def _sdk(pid: int, base_url: str, api_key: str, timeout: float) -> OpenAI:
    from openai import OpenAI, Timeout

    return OpenAI(
        api_key=api_key or "none",
        base_url=base_url,
        max_retries=0,
        timeout=Timeout(timeout, connect=5.0),
        # The SDK takes a client of httpx too; its types know httpx2's alone.
        http_client=cast(Any, http()),
    )


class LlmClient:
    """One endpoint. `base_url` ends in /v1; raises OutsideRefused where it is not allowed."""

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str,
        model: str,
        preset: str = "local",
        timeout: float = 60.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.preset = preset
        self._preset = PRESETS[preset]
        self._url = base_url or self._preset.base_url
        check_url(self._url)
        self.model = model or self._preset.model
        if not self.model:
            raise ValueError(f"preset {preset} needs a model")
        self._key = api_key
        self._timeout = timeout
        self._sleep = sleep

    def __repr__(self) -> str:
        return f"LlmClient({self._url!r}, {self.model!r})"

    @property
    def endpoint(self) -> str:
        """Address and model: what is down or up as one."""
        return f"{self._url} {self.model}"

    @property
    def has_tools(self) -> bool:
        """Whether the endpoint takes tools."""
        return self._preset.tools

    def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Mapping[str, Any]] | None = None,
        schema: Mapping[str, Any] | None = None,
        must_call: bool = False,
        temperature: float = 0.0,
        top_p: float = 1.0,
        max_tokens: int = 500,
        tries: int = TRIES,
    ) -> Completion:
        """Ask. `tools` in OpenAI's form; `schema` asks for an object (the prompt must name json).

        `must_call`: an answer without a call of one of the tools is not wanted.

        Raises TypeError for messages that did not pass the gate, LlmUnavailable, LlmTimeout,
        LlmProtocolError, LlmError, OutsideRefused.
        """
        if not all(isinstance(message, Message) for message in messages):
            raise TypeError("the LLM accepts Message objects only")
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [message.wire() for message in messages],
            "temperature": temperature,
            "top_p": top_p,
            "max_tokens": max_tokens,
            **self._shape(tools, schema),
            **({"tool_choice": "required"} if must_call else {}),
        }
        started = time.monotonic()
        answer = self._ask_able(body, tries)
        return _completion(answer, body, int((time.monotonic() - started) * 1000))

    def stream(self, messages: Sequence[Message], *, max_tokens: int = 500) -> Completion:
        """An answer that comes in pieces, put together; asked once, at temperature 0.

        Raises LlmUnavailable, LlmTimeout, LlmProtocolError, LlmError, OutsideRefused.
        """
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [message.wire() for message in messages],
            "temperature": 0.0,
            "max_tokens": max_tokens,
            **self._shape(None, None),
        }
        streamed = {"stream": True, "stream_options": {"include_usage": True}}
        started = time.monotonic()
        content, told, model, reason = "", None, self.model, ""
        with _refusals(body):
            for piece in self._sdk().chat.completions.create(**body, **streamed):
                told, model = getattr(piece, "usage", None) or told, piece.model or model
                for choice in piece.choices[:1]:
                    content += choice.delta.content or ""
                    reason = choice.finish_reason or reason
        if not reason:
            raise LlmProtocolError(200, "no stream")
        took = int((time.monotonic() - started) * 1000)
        usage = _usage(told, body, content, ())
        return Completion(content, (), usage, str(model), reason, took)

    def _shape(
        self, tools: Sequence[Mapping[str, Any]] | None, schema: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        extra: dict[str, Any] = {}
        if tools:
            extra["tools"] = list(tools)
        if schema is not None and self._preset.json_schema:
            named = {"name": "answer", "schema": dict(schema), "strict": True}
            extra["response_format"] = {"type": "json_schema", "json_schema": named}
        elif schema is not None:
            extra["response_format"] = {"type": "json_object"}
        if self._preset.extra_body:
            extra["extra_body"] = dict(self._preset.extra_body)
        return extra

    def _ask_able(self, body: dict[str, Any], tries: int) -> Any:
        """Without a schema where the endpoint has none: the answer is checked by who asked for it."""
        try:
            return self._ask(body, tries)
        except LlmAbilityMissing as error:
            strict = (body.get("response_format") or {}).get("type") == "json_schema"
            if error.what != "schema" or not strict:
                raise
            return self._ask({**body, "response_format": {"type": "json_object"}}, tries)

    def _ask(self, body: Mapping[str, Any], tries: int) -> Any:
        for left in range(tries - 1, -1, -1):
            try:
                return self._once(body)
            except LlmTimeout:
                raise
            except LlmUnavailable as error:
                if not left:
                    raise
                self._sleep(_pause(error, tries - left))
        raise LlmUnavailable(0, "no try allowed")

    def _once(self, body: Mapping[str, Any]) -> Any:
        with _refusals(body):
            return self._sdk().chat.completions.create(**body)

    def _sdk(self) -> Any:
        return _sdk(os.getpid(), self._url, self._key, self._timeout)


@contextmanager
def _refusals(body: Mapping[str, Any]) -> Iterator[None]:
    """What goes wrong with a request, in our words."""
    import openai

    try:
        yield
    except openai.APITimeoutError:
        raise LlmTimeout(0, "timeout") from None
    except openai.APIConnectionError as error:
        if isinstance(error.__cause__, OutsideRefused):
            raise error.__cause__ from None
        raise LlmUnavailable(0, "connection") from None
    except openai.APIStatusError as error:
        raise _refusal(error, body) from None
    except (openai.APIError, json.JSONDecodeError, UnicodeDecodeError):
        # A gateway's page under application/json leaves the SDK as a bare JSONDecodeError.
        raise LlmProtocolError(200, "not JSON") from None


def _refusal(error: openai.APIStatusError, body: Mapping[str, Any]) -> LlmError:
    status = error.status_code
    missing = _missing(str(error.message), body) if status in _UNABLE else ""
    if missing:
        return LlmAbilityMissing(status, missing)
    kind = LlmUnavailable if status in _RETRIED else LlmError
    return kind(status, "refused", _seconds(error.response.headers.get("retry-after")))


def _missing(message: str, body: Mapping[str, Any]) -> str:
    """What the endpoint says it lacks, of what this request used."""
    if not _LACKS.search(message):
        return ""
    if body.get("tools") and re.search(r"tool|function", message, re.IGNORECASE):
        return "tools"
    schema = re.search(r"json_schema|response_format|structured", message, re.IGNORECASE)
    return "schema" if schema and body.get("response_format") else ""


def _seconds(text: str | None) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None


def _pause(error: LlmUnavailable, turn: int) -> float:
    wait = 0.4 * 2 ** (turn - 1) if error.retry_after is None else error.retry_after
    return min(max(wait, 0.0), LONGEST_WAIT_S)


def _completion(answer: Any, body: Mapping[str, Any], duration_ms: int) -> Completion:
    """Raises LlmProtocolError for a page of HTML (a plain str) or an error object under status 200."""
    choices = getattr(answer, "choices", None) or [None]
    message = getattr(choices[0], "message", None)
    if choices[0] is None or message is None:
        raise LlmProtocolError(200, "no choices")
    content = message.content if isinstance(message.content, str) else ""
    calls = tuple(
        ToolCall(str(call.id), str(call.function.name), str(call.function.arguments or ""))
        for call in message.tool_calls or ()
        if getattr(call, "function", None) is not None
    )
    return Completion(
        content=content,
        tool_calls=calls,
        usage=_usage(getattr(answer, "usage", None), body, content, calls),
        model=str(getattr(answer, "model", "") or body["model"]),
        finish_reason=str(choices[0].finish_reason or ""),
        duration_ms=duration_ms,
        reasoning=str(getattr(message, "reasoning_content", "") or ""),
    )


def _usage(told: Any, body: Mapping[str, Any], content: str, calls: tuple[ToolCall, ...]) -> Usage:
    given = getattr(told, "prompt_tokens", None), getattr(told, "completion_tokens", None)
    if isinstance(given[0], int) and isinstance(given[1], int):
        return Usage(given[0], given[1])
    sent = "".join(str(message["content"] or "") for message in body["messages"])
    made = content + "".join(call.name + call.arguments for call in calls)
    return Usage(tokens.count(sent), tokens.count(made), counted=True)

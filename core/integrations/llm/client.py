"""One class over the openai SDK: our retries, our limits, our errors."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from core.integrations import tokens
from core.integrations.llm.errors import (
    LlmAbilityMissing,
    LlmError,
    LlmIncomplete,
    LlmProtocolError,
    LlmTimeout,
    LlmUnavailable,
)
from core.integrations.llm.messages import Completion, Message, ToolCall, json_object
from core.integrations.llm.presets import PRESETS
from core.integrations.llm.structured import NAME, Mode, schema_prompt, shape
from core.integrations.llm.usage import Usage
from core.integrations.pool import http
from core.privacy.outbound_policy import OutsideRefused, check_url

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
_OF_FORMAT = re.compile(r"json_schema|response_format|structured", re.IGNORECASE)
_OF_SCHEMAS = re.compile(rf"{_OF_FORMAT.pattern}|schema|strict|tool_choice", re.IGNORECASE)
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
        pause: float = 0.4,
    ) -> None:
        self.preset = preset
        self._preset = PRESETS[preset]
        self.mode: Mode | None = None
        """The structured mode that is asked for first, and after a call the one that was answered."""
        self._url = base_url or self._preset.base_url
        check_url(self._url)
        self.model = model or self._preset.model
        if not self.model:
            raise ValueError(f"preset {preset} needs a model")
        self._key = api_key
        self._timeout = timeout
        self._sleep, self._pause = sleep, pause

    def __repr__(self) -> str:
        return f"LlmClient({self._url!r}, {self.model!r})"

    @property
    def endpoint(self) -> str:
        """Address and model: what is down or up as one."""
        return f"{self._url} {self.model}"

    @property
    def modes(self) -> tuple[Mode, ...]:
        """How the endpoint may be held to a schema, in the order in which it is tried."""
        first = (self.mode,) if self.mode in self._preset.modes else ()
        return tuple(dict.fromkeys((*first, *self._preset.modes)))

    def held_by(self, mode: Mode) -> LlmClient:
        """The same endpoint, held to a schema in this way alone."""
        other = copy(self)
        other.mode, other._preset = mode, replace(self._preset, modes=(mode,))
        return other

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
        """Ask. `tools` in OpenAI's form; `schema` asks for an object, which is then the content as JSON.

        `must_call`: an answer without a call of one of the tools is not wanted.

        Raises TypeError for messages that did not pass the gate, LlmUnavailable, LlmTimeout,
        LlmProtocolError (LlmIncomplete for an answer that is no whole one), LlmError, OutsideRefused.
        """
        if not all(isinstance(message, Message) for message in messages):
            raise TypeError("the LLM accepts Message objects only")
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [message.wire() for message in messages],
            "temperature": temperature,
            "top_p": top_p,
            "max_tokens": max_tokens,
            **self._extra(tools),
            **({"tool_choice": "required"} if must_call else {}),
        }
        if schema is None:
            return self._answered(body, tries)
        return self._formed(body, schema, tries)

    def stream(self, messages: Sequence[Message], *, max_tokens: int = 500) -> Completion:
        """An answer that comes in pieces, put together; asked once, at temperature 0.

        Raises LlmUnavailable, LlmTimeout, LlmProtocolError, LlmError, OutsideRefused.
        """
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [message.wire() for message in messages],
            "temperature": 0.0,
            "max_tokens": max_tokens,
            **self._extra(None),
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
        return _whole(Completion(content, (), usage, str(model), reason, took), body)

    def _extra(self, tools: Sequence[Mapping[str, Any]] | None) -> dict[str, Any]:
        extra: dict[str, Any] = {"tools": list(tools)} if tools else {}
        if self._preset.extra_body:
            extra["extra_body"] = dict(self._preset.extra_body)
        return extra

    def _formed(self, body: dict[str, Any], schema: Mapping[str, Any], tries: int) -> Completion:
        """An object of the schema, in the first mode that the endpoint has; who asked checks it."""
        # Tools of the caller's own leave no room for ours.
        modes = [mode for mode in self.modes if mode is not Mode.TOOLS or not body.get("tools")]
        for mode in modes:
            try:
                done = self._answered(_asking(body, mode, schema), tries, self._address(mode))
                done = _unwrapped(done) if mode is Mode.TOOLS else done
            except LlmAbilityMissing as error:
                if mode is modes[-1] or (error.what == "tools" and body.get("tools")):
                    raise
            except _NotCalled:
                if mode is modes[-1]:
                    raise
            else:
                self.mode = mode
                return done
        raise LlmAbilityMissing(0, "schema")

    def _address(self, mode: Mode) -> str:
        """Strict tools are at an address of their own where the preset's own address is used."""
        is_own = self._url.rstrip("/") == self._preset.base_url.rstrip("/")
        return self._preset.strict_url if mode is Mode.TOOLS and is_own else ""

    def _answered(self, body: Mapping[str, Any], tries: int, url: str = "") -> Completion:
        started = time.monotonic()
        answer = self._ask(body, tries, url)
        return _whole(_completion(answer, body, int((time.monotonic() - started) * 1000)), body)

    def _ask(self, body: Mapping[str, Any], tries: int, url: str) -> Any:
        for left in range(tries - 1, -1, -1):
            try:
                return self._once(body, url)
            except LlmTimeout:
                raise
            except LlmUnavailable as error:
                if not left:
                    raise
                self._sleep(self._wait(error, tries - left))
        raise LlmUnavailable(0, "no try allowed")

    def _wait(self, error: LlmUnavailable, turn: int) -> float:
        asked = error.retry_after
        return min(
            max(self._pause * 2 ** (turn - 1) if asked is None else asked, 0.0), LONGEST_WAIT_S
        )

    def _once(self, body: Mapping[str, Any], url: str) -> Any:
        with _refusals(body):
            return self._sdk(url).chat.completions.create(**body)

    def _sdk(self, url: str = "") -> Any:
        return _sdk(os.getpid(), url or self._url, self._key, self._timeout)


class _NotCalled(LlmProtocolError):
    """The strict tool was not called, or with what is no JSON (DeepSeek's beta drops a quote at times)."""


def _asking(body: dict[str, Any], mode: Mode, schema: Mapping[str, Any]) -> dict[str, Any]:
    asked = {**body, **shape(mode, schema)}
    if mode is Mode.JSON_OBJECT:
        asked["messages"] = _with_schema(body["messages"], schema)
    return asked


def _with_schema(
    messages: Sequence[dict[str, Any]], schema: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The schema in words behind the first system message: some templates allow only one."""
    words = schema_prompt(schema)
    if messages and messages[0]["role"] == "system":
        first = {**messages[0], "content": f"{messages[0]['content']}\n\n{words}"}
        return [first, *messages[1:]]
    return [{"role": "system", "content": words}, *messages]


def _unwrapped(done: Completion) -> Completion:
    """The arguments of the strict tool as content. Raises _NotCalled."""
    told_by = [call.arguments for call in done.tool_calls if call.name == NAME] or [done.content]
    try:
        json_object(told_by[0])
    except LlmProtocolError:
        raise _NotCalled(200, "no call of the strict tool") from None
    return replace(done, content=told_by[0], tool_calls=())


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
    if _is_held(body) and _OF_SCHEMAS.search(message):
        return "schema"
    if not _LACKS.search(message):
        return ""
    if body.get("tools") and re.search(r"tool|function", message, re.IGNORECASE):
        return "schema" if _is_held(body) else "tools"
    return "schema" if _OF_FORMAT.search(message) and body.get("response_format") else ""


def _is_held(body: Mapping[str, Any]) -> bool:
    """Whether the request holds the endpoint to a schema: some refuse schemas that others take."""
    choice = body.get("tool_choice")
    by_tool = isinstance(choice, Mapping) and choice["function"]["name"] == NAME
    return by_tool or (body.get("response_format") or {}).get("type") == "json_schema"


def _seconds(text: str | None) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None


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


def _whole(done: Completion, body: Mapping[str, Any]) -> Completion:
    """The completion, if its endpoint says that it is one. Raises LlmIncomplete."""
    called = bool(body.get("tools")) and bool(done.tool_calls)
    if done.finish_reason != "stop" and not (called and done.finish_reason == "tool_calls"):
        raise LlmIncomplete(done.finish_reason[:40], done.usage)
    return done


def _usage(told: Any, body: Mapping[str, Any], content: str, calls: tuple[ToolCall, ...]) -> Usage:
    given = getattr(told, "prompt_tokens", None), getattr(told, "completion_tokens", None)
    if isinstance(given[0], int) and isinstance(given[1], int):
        return Usage(given[0], given[1])
    sent = "".join(str(message["content"] or "") for message in body["messages"])
    made = content + "".join(call.name + call.arguments for call in calls)
    return Usage(tokens.count(sent), tokens.count(made), counted=True)

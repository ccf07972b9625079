"""The ReAct engine: thought, action, observation with read-only tools (seed 001, 5; decisions.md).

Only the final answer leaves; the trace is for the console. It never writes.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from engines.assistant.chat import texts
from engines.assistant.context import Assembled, marked
from engines.assistant.tools import (
    READONLY_TOOLS,
    Status,
    ToolContext,
    ToolResult,
    definitions,
    execute,
)
from engines.parallel import run_all
from integrations import tokens
from integrations.llm import (
    Completion,
    LlmAbilityMissing,
    LlmError,
    LlmProtocolError,
    Message,
    ToolCall,
)
from integrations.llm.messages import json_object
from llm import prompts
from llm.asking import Llm, TokenCapReached
from privacy.outbound_policy import PrivacyError

logger = logging.getLogger(__name__)

MAX_ITERATIONS = 5
MAX_TOKENS = 4000
FUSE = 2
OBSERVED = 200
RESULT_TOKENS = 900


_STEP = re.compile(
    r"(?:^|[。;!\uff1b\uff01])[\s*#>_-]*(?:\d+[.、]\s*)?"
    r"(?:思考|行动|行动输入|观察|thought|action(?: input)?|observation)[\s*_]*\d*[:\uff1a]",
    re.IGNORECASE | re.MULTILINE,
)
_FINAL = re.compile(
    r"(?:最终答案|最终回答|最终回复|final answer|回答|答案|统一回复)[\s*_]*[:\uff1a]",
    re.IGNORECASE,
)
_INNER = re.compile(r"<(think|thinking)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)


def final_answer(content: str) -> str:
    """What of the model's words is its answer: no thoughts, actions and observations; "" if only those."""
    text = _INNER.sub("", content).strip()
    if not _STEP.search(text):
        return text
    found = list(_FINAL.finditer(text))
    rest = text[found[-1].end() :].strip() if found else ""
    return "" if _STEP.search(rest) else rest


@dataclass
class ReActResult:
    """`content` is the final answer or a fixed text; `results` is what was read on the way."""

    success: bool
    content: str
    trace: list[dict[str, Any]]
    results: list[ToolResult]
    outside_down: bool = False
    capped: bool = False


@dataclass
class ReActEngine:
    """One run. The fuse and the budget count over the whole run (decisions.md, Engines).

    `lines`: what a tool told, as numbered lines that the answer cites.
    """

    llm: Llm
    context: ToolContext
    lines: Callable[[ToolResult], str]
    trace: list[dict[str, Any]] = field(default_factory=list)
    results: list[ToolResult] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._spent = 0
        self._failures = 0
        self._done: set[str] = set()
        self._native = True

    def run(self, prompt: Assembled) -> ReActResult:
        """Think and act until there is an answer, at most five times.

        Raises LlmAbilityMissing when the endpoint turns out to take no tools.
        """
        self._native = self.llm.has_tools
        offered = definitions(READONLY_TOOLS, self.context.role)
        # The fixed prefix counts once, however often it is sent.
        schemas = json.dumps(offered, ensure_ascii=False) if self._native else ""
        self._spent = prompt.tokens + tokens.count(schemas)
        messages = list(prompt.messages)
        for iteration in range(MAX_ITERATIONS):
            if self._spent > MAX_TOKENS:
                return self._ended(texts.BUDGET)
            try:
                answer = self._think(messages, offered, prompt.version)
            except TokenCapReached:
                return self._ended("", capped=True)
            except (LlmError, PrivacyError) as error:
                if isinstance(error, LlmAbilityMissing) and not iteration:
                    raise
                logger.warning("ReAct: %s", error)
                return self._ended(texts.FUSE, outside_down=isinstance(error, LlmError))
            self._spent += answer.usage.output
            calls = self._calls(answer)
            item = {
                "iteration": iteration,
                "thought": self._masked(answer.content),
                "tokens": answer.usage.total,
                "duration": answer.duration_ms,
            }
            self.trace.append(item)
            final = final_answer(answer.content)
            if not calls and (final or not answer.content.strip()):
                return ReActResult(True, final, self.trace, self.results)
            messages += self._act(answer, calls, item) if calls else self._go_on(answer)
            if self._failures >= FUSE:
                return self._ended(texts.FUSE)
        return self._ended(texts.ITERATIONS)

    def _go_on(self, answer: Completion) -> list[Message]:
        """A thought without a call and without an answer is neither: it is asked for one of them."""
        again = prompts.load("react_final")
        said = self.context.gate.text(answer.content)
        return [Message("assistant", said), Message("user", self.context.gate.text(again.text))]

    def _think(
        self, messages: Sequence[Message], offered: list[dict[str, Any]], version: str
    ) -> Completion:
        tools = offered if self._native else None
        return self.llm.ask(messages, purpose="react", version=version, tools=tools, tries=2)

    def _calls(self, answer: Completion) -> tuple[ToolCall, ...]:
        """Native calls, or the JSON that a model without tools was told to write."""
        if answer.tool_calls or self._native:
            return answer.tool_calls
        try:
            told = json_object(answer.content)
        except LlmProtocolError:
            return ()
        if not isinstance(told.get("tool"), str):
            return ()
        arguments = json.dumps(told.get("arguments") or {}, ensure_ascii=False)
        return (ToolCall("1", told["tool"], arguments),)

    def _act(
        self, answer: Completion, calls: Sequence[ToolCall], item: dict[str, Any]
    ) -> list[Message]:
        """Run the calls side by side; their results come back in order, as data."""
        found = run_all([partial(self._run, call) for call in calls])
        item["action"] = self._masked("; ".join(f"{call.name} {call.arguments}" for call in calls))
        native = self._native
        said = self.context.gate.text(answer.content)
        sent = [call.masked(self.context.gate) for call in calls]
        thought = self.context.gate.text(answer.reasoning)
        messages = [Message("assistant", said, tuple(sent) if native else (), reasoning=thought)]
        observed = []
        for call, result in zip(sent, found, strict=True):
            self._count(result)
            text = self._shown(result)
            observed.append(text)
            shown = self.context.gate.text(marked(text) if result.has_data else text)
            self._spent += tokens.count(shown)
            role = "tool" if native else "user"
            messages.append(Message(role, shown, tool_call_id=call.id if native else ""))  # type: ignore[arg-type]
        item["observation"] = self._masked(" | ".join(observed))[:OBSERVED]
        return messages

    def _run(self, call: ToolCall) -> ToolResult:
        try:
            arguments = call.parsed()
        except ValueError as error:
            return ToolResult(call.name, Status.BAD_ARGUMENTS, str(error))
        key = f"{call.name} {json.dumps(arguments, sort_keys=True, ensure_ascii=False)}"
        if key in self._done:
            return ToolResult(call.name, Status.BAD_ARGUMENTS, texts.REPEATED)
        self._done.add(key)
        return execute(self.context, call.name, arguments)

    def _count(self, result: ToolResult) -> None:
        """Consecutive failures over the whole run blow the fuse; a success resets them."""
        self._failures = self._failures + 1 if result.failed else 0
        self.results.append(result)

    def _shown(self, result: ToolResult) -> str:
        told = self.lines(result) if result.has_data else ""
        if not told:
            told = (
                result.data if isinstance(result.data, str) else self.context.gate.data(result.data)
            )
        return tokens.cut(told, RESULT_TOKENS)

    def _masked(self, text: str) -> str:
        return str(self.context.gate.text(text))

    def _ended(self, text: str, *, outside_down: bool = False, capped: bool = False) -> ReActResult:
        down = outside_down or any(result.outside_down for result in self.results)
        return ReActResult(False, text, self.trace, self.results, down, capped)

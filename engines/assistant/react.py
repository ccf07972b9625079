"""The ReAct engine: thought, action, observation with read-only tools (seed 001, 5; decisions.md).

Its last call is `say`: a plan over the numbered lines of what it read. No word of it leaves; the trace is for
the console. It never writes.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from core.integrations import tokens
from core.integrations.llm import (
    Completion,
    LlmAbilityMissing,
    LlmError,
    LlmProtocolError,
    Message,
    ToolCall,
)
from core.integrations.llm.messages import json_object
from core.llm import prompts
from core.llm.asking import Llm, TokenCapReached
from core.llm.prompts import marked
from core.privacy.outbound_policy import PrivacyError
from engines.assistant import texts
from engines.assistant.context import Assembled
from engines.assistant.say import choose
from engines.assistant.say.plan import Plan
from engines.assistant.say.sheet import Sheet
from engines.assistant.tools import (
    READONLY_TOOLS,
    Status,
    ToolContext,
    ToolResult,
    definitions,
    execute,
)
from engines.parallel import run_all

logger = logging.getLogger(__name__)

MAX_ITERATIONS = 5
MAX_TOKENS = 4000
FUSE = 2
OBSERVED = 200
RESULT_TOKENS = 900

SAY: Mapping[str, Any] = {
    "type": "function",
    "function": {
        "name": "say",
        "description": "最后一步:选出回答问题的资料行和对它们做的操作,不写句子。",
        "parameters": choose.schema([], []),
    },
}
"""The tool that ends a run."""


@dataclass
class ReActResult:
    """`plan`: what is to be told of what was read, without steps where no line answers; None where it came to
    none: `content` is the fixed text then, "" where the model said nothing. `results`: what was read.
    """

    plan: Plan | None
    content: str
    trace: list[dict[str, Any]]
    results: list[ToolResult]
    outside_down: bool = False
    capped: bool = False

    @property
    def success(self) -> bool:
        """Whether it came to an end of its own."""
        return self.plan is not None


@dataclass
class ReActEngine:
    """One run. The fuse and the budget count over the whole run (decisions.md, Engines).

    `lines`: puts what a tool told on the sheet and gives its numbered lines; `sheet`: all lines so far.
    """

    llm: Llm
    context: ToolContext
    lines: Callable[[ToolResult], str]
    sheet: Callable[[], Sheet]
    trace: list[dict[str, Any]] = field(default_factory=list)
    results: list[ToolResult] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._spent = 0
        self._failures = 0
        self._done: set[str] = set()
        self._native = True

    def run(self, prompt: Assembled) -> ReActResult:
        """Think and act until there is a plan, at most five times.

        Raises LlmAbilityMissing when the endpoint turns out to take no tools.
        """
        self._native = self.llm.has_tools
        offered = offered_to(self.context.role)
        # The fixed prefix counts once, however often it is sent.
        schemas = json.dumps(offered, ensure_ascii=False) if self._native else ""
        self._spent = prompt.tokens + tokens.count(schemas)
        messages = list(prompt.messages)
        for iteration in range(MAX_ITERATIONS):
            if self._spent > MAX_TOKENS:
                return self._ended(texts.BUDGET)
            try:
                answer = self.llm.ask(
                    messages,
                    purpose="react",
                    version=prompt.version,
                    tools=offered if self._native else None,
                    temperature=0.0,
                    tries=2,
                    is_choice=True,
                )
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
            if not calls and not answer.content.strip():
                return self._ended("")
            plan = self._plan(calls)
            if plan is not None:
                item["action"] = self._masked(f"say {plan.model_dump_json()}")
                return self._ended("", plan)
            if calls:
                messages += self._act(answer, calls, item)
            else:
                # Words without a call are no answer: a call is asked for.
                gate, again = self.context.gate, prompts.load_prompt("react_final")
                messages.append(Message("assistant", gate.text(answer.content)))
                messages.append(Message("user", gate.text(again.text)))
            if self._failures >= FUSE:
                return self._ended(texts.FUSE)
        return self._ended(texts.ITERATIONS)

    def _plan(self, calls: Sequence[ToolCall]) -> Plan | None:
        """What the last call says; None where there is none, or something is read beside it."""
        if len(calls) != 1 or calls[0].name != "say":
            return None
        try:
            return choose.parsed(calls[0].parsed(), self.sheet())
        except ValueError:
            return None

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
            # Consecutive failures over the whole run blow the fuse; a success resets them.
            self._failures = self._failures + 1 if result.failed else 0
            self.results.append(result)
            text = self._shown(result)
            observed.append(text)
            shown = self.context.gate.text(marked(text) if result.has_data else text)
            self._spent += tokens.count(shown)
            role = "tool" if native else "user"
            messages.append(Message(role, shown, tool_call_id=call.id if native else ""))  # type: ignore[arg-type]
        item["observation"] = self._masked(" | ".join(observed))[:OBSERVED]
        return messages

    def _run(self, call: ToolCall) -> ToolResult:
        if call.name == "say":
            return ToolResult(call.name, Status.NOT_FOUND, texts.NOT_YET)
        try:
            arguments = call.parsed()
        except ValueError as error:
            return ToolResult(call.name, Status.BAD_ARGUMENTS, str(error))
        key = f"{call.name} {json.dumps(arguments, sort_keys=True, ensure_ascii=False)}"
        if key in self._done:
            return ToolResult(call.name, Status.BAD_ARGUMENTS, texts.REPEATED)
        self._done.add(key)
        return execute(self.context, call.name, arguments)

    def _shown(self, result: ToolResult) -> str:
        data = result.data
        told = self.lines(result) if result.has_data else ""
        told = told or (data if isinstance(data, str) else self.context.gate.data(data))
        return tokens.cut(told, RESULT_TOKENS)

    def _masked(self, text: str) -> str:
        return str(self.context.gate.text(text))

    def _ended(
        self,
        text: str,
        plan: Plan | None = None,
        *,
        outside_down: bool = False,
        capped: bool = False,
    ) -> ReActResult:
        down = outside_down or any(result.outside_down for result in self.results)
        return ReActResult(plan, text, self.trace, self.results, down, capped)


def offered_to(role: str) -> list[dict[str, Any]]:
    """The tools of a run, `say` the last."""
    return [*definitions(READONLY_TOOLS, role), dict(SAY)]

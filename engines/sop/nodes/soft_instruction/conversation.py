"""Asking the LLM for a verdict: its data and tools, the checks, and asking again (seed 001, 3).

A verdict counts only when it fits the schema, is sure enough and quotes what stands in the data. Anything
else is undetermined and goes to a person; it is never a pass (decisions.md, Engines).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from django.utils.translation import gettext as _

from core.house.db import atomic
from core.integrations import tokens
from core.integrations.llm import Completion, LlmIncomplete, LlmProtocolError, Message, ToolCall
from core.llm import prompts
from core.llm.asking import Llm
from core.llm.prompts import marked
from core.llm.providers import preset_of
from core.privacy.fold_text import one_line
from core.privacy.gate import Deidentified
from engines.assistant.tools import (
    OF_WORKFLOWS,
    Status,
    ToolContext,
    ToolResult,
    definitions,
    execute,
    tools,
)
from engines.models import TaskRun
from engines.sop import snapshot
from engines.sop.nodes.soft_instruction import message
from engines.sop.nodes.soft_instruction import verdict as verdicts
from engines.sop.nodes.soft_instruction.verdict import GIVE_VERDICT, SCHEMA, Unsound, Verdict
from memory.hot import injection
from projects.endpoints import Purpose
from projects.models import Member, Role
from skills.graph import Node
from study import dictionary
from study.display import display_rows
from study.identities import gate_for
from study.models import Subject
from study.request_cache import Reader

TRIES = 3
MAX_TURNS = 8
MAX_CALLS = 12
MAX_DATA = 60_000
MOST_NAMED = 200
"""So many subjects a task about none of them is told by name."""
RESULT_TOKENS = 900
OTHER_SUBJECT = "错误:本次任务只涉及受试者 {record_id},不能读取其他受试者。"
NOT_OFFERED = "错误:本次任务没有工具 {name},请根据已有数据给出结论。"
EMPTY = "(空)"
CUT = "回答没有写完,请缩短 reason 和 evidence"
NO_MORE_CALLS = "错误:工具调用次数已用完,请根据已有信息直接给出结论。"


def converse(node: Node, run: TaskRun, keep_alive: Callable[[], None]) -> Verdict:
    """Ask, check, and ask again with the failed check named, three answers at most.

    No transaction may be open. `keep_alive` is called before every call and may raise to stop.
    Raises llm.asking.TokenCapReached, LlmError, PrivacyError, RedcapError, NotConfiguredError.
    """
    llm = Llm(run.project, user_id=run.triggered_by, model_purpose=Purpose.ENGINES)
    try:
        return _Talk(node, run, llm, keep_alive).run()
    finally:
        with atomic():
            llm.save()


class _Talk:
    """One conversation about a run's snapshot, or, of a run about no subject, about what tools find.

    Such a run reads with the eyes of who ordered it (a schedule reads for the house), and goes on from what the
    soft node before it read.
    """

    def __init__(self, node: Node, run: TaskRun, llm: Llm, keep_alive: Callable[[], None]) -> None:
        """Settle how the endpoint is asked: its tools, and a verdict by schema or by tool."""
        self.node, self.task, self.llm, self.keep_alive = node, run, llm, keep_alive
        self.project, self.record_id = run.project, run.record_id or ""
        self.rows = snapshot.rows(run)
        # The member who ordered the run, None for a schedule; who has left since reads nothing.
        ordered = Member.objects.named(run.project, run.triggered_by).order_by("-is_active")
        ordered = ordered.select_related("project", "person__user")
        self.member = None if self.record_id else ordered.first()
        self.sources: list[str] = []
        self.problems: list[str] = []
        self.used: list[str] = []
        self.read: list[str] = []
        self.version = ""
        # What a model writes of blinded fields is for no message.
        listed = [one for one in node.tools if not (run.unblinds and one == "send_message")]
        self.reads_all = not self.record_id and "read_clinical_data" in listed
        preset = preset_of(self.project, Purpose.ENGINES)
        offered = dict.fromkeys((*listed, *OF_WORKFLOWS * self.reads_all))
        self.tools = tuple(offered) if preset.tools else ()
        self.offered = definitions(self.tools)
        self.by_schema = preset.json_schema or not preset.tools
        if not self.by_schema:
            self.offered.append(GIVE_VERDICT)
        self.gate = llm.gate = gate_for(Reader(self.project, self.member))
        # The house reads for all: unscoped, and of a blinded study what nobody is kept from.
        anybody = Member(project=self.project, role=Role.ADMIN)
        self.context = ToolContext(
            project=self.project,
            member=self.member or (anybody if self.project.blinded_since else None),
            gate=self.gate,
            send=partial(message.send, run, self.gate),
        )

    def run(self) -> Verdict:
        """The verdict; undetermined after three that were not sound."""
        self._learn_identifiers()
        messages = [self._system(), *self._before(), self._data()]
        if len("".join(self.sources)) > MAX_DATA:
            return self._undetermined(_("The data are too long for the language model."))
        for _turn in range(MAX_TURNS):
            verdict, more = self._turn(messages)
            if verdict:
                return verdict
            messages += more
            if len(self.problems) >= TRIES:
                break
        return self._undetermined(_("The verdict could not be validated."))

    def _learn_identifiers(self) -> None:
        """Those of this reading: the stored roster may not know them yet."""
        metadata = dictionary.load(self.project)
        flagged = metadata.identifier_fields - {metadata.record_id_field}
        found = {str(row.get(name, "")).strip() for row in self.rows for name in flagged}
        self.gate.learn({value for value in found if len(value) > 1})

    def _system(self) -> Message:
        # All that there is of the task's subject is with the task.
        known = {"read_clinical_data"} if self.record_id else set[str]()
        found = [one for name in self.tools if name not in known and (one := tools().get(name))]
        reads = "、".join(one.name for one in found if one.read_only)
        sends = "、".join(one.name for one in found if not one.read_only)
        names = ["soft", *["soft_tools"] * bool(reads), *["soft_sends"] * bool(sends)]
        names += ["soft_verdict"] * (not self.by_schema)
        asked, tool = self.node.instruction, verdicts.NAME
        loaded = [
            prompts.load_prompt(name, instruction=asked, tool=tool, reads=reads, sends=sends)
            for name in names
        ]
        self.version = "+".join(prompt.version for prompt in loaded)
        parts = [*(prompt.text for prompt in loaded), self._background()]
        return Message("system", self.gate.text("\n\n".join(filter(None, parts))))

    def _background(self) -> str:
        """Hot memory as those see it who see the subject; evidence from it never counts (decisions.md)."""
        subject = Subject.objects.filter(project=self.project, record_id=self.record_id).first()
        site = subject.site if subject else ""
        reader = self.member or Member(project=self.project, role=Role.ADMIN, site=site)
        text = injection.inject(self.project, reader).text
        return prompts.load_prompt("hot", hot=text).text if text else ""

    def _data(self) -> Message:
        if not self.record_id:
            return Message("user", self.gate.text(self._of_study()))
        data = self.gate.text(self._values())
        self.sources.append(data)
        shown = prompts.load_prompt("soft_record", record_id=self.record_id, data=marked(data))
        return Message("user", self.gate.text(shown.text))

    def _values(self) -> str:
        """The subject's values a line each, without identifiers and genome fields."""
        lines: list[str] = []
        for row in display_rows(dictionary.load(self.project), self.rows):
            place = " ".join(filter(None, [row.event_label, row.instrument_label]))
            place += f" #{row.instance}" if row.instance else ""
            for item in row.values:
                if not item.identifier and not self.gate.fields.drops(item.field, item.label):
                    lines.append(one_line(f"[{place}] {item.label}: {item.text}{item.unit}"))
        return "\n".join(lines)

    def _of_study(self) -> str:
        """The day, the subjects that may be read, and what is to be done."""
        today = self.context.today.isoformat()
        asked = prompts.load_prompt(
            "soft_study", today=today, instruction=self.node.instruction
        ).text
        if not self.reads_all:
            return asked
        present = sorted(Reader(self.project, self.member).roster.present)
        named = "、".join(present[:MOST_NAMED]) or "无"
        roster = prompts.load_prompt("soft_roster", count=len(present), roster=named).text
        return f"{asked}\n{roster}"

    def _before(self) -> Iterator[Message]:
        """What the soft node before it read counts as data of a node about no subject: it may be quoted."""
        steps = self.task.steps.filter(kind="soft_instruction", result__isnull=False)
        last = None if self.record_id else steps.order_by("-seq").first()
        if last is None:
            return
        data = self.gate.text("\n".join(last.result.get("read", ())))
        self.sources.append(data)
        reason = str(last.result.get("reason", ""))
        shown = prompts.load_prompt("soft_before", node=last.node, reason=reason, data=marked(data))
        yield Message("user", self.gate.text(shown.text))

    def _turn(self, messages: Sequence[Message]) -> tuple[Verdict | None, list[Message]]:
        """A sound verdict, or the messages that carry the conversation on."""
        self.keep_alive()
        try:
            done = self.llm.ask(
                messages,
                purpose="soft_rule",
                version=self.version,
                tools=self.offered or None,
                schema=SCHEMA if self.by_schema else None,
                temperature=0.0,
                top_p=1.0,
                max_tokens=1000,
                tries=2,
            )
        except LlmIncomplete:
            self.problems.append(CUT)
            empty = Message("assistant", self.gate.text(EMPTY))
            return None, [empty, Message("user", self._again(CUT))]
        except LlmProtocolError as error:
            self.problems.append(str(error))
            return None, []
        given = [call for call in done.tool_calls if call.name == verdicts.NAME]
        if done.tool_calls and not given:
            return None, [self._echo(done), *self._answers(done.tool_calls)]
        try:
            return self._checked(verdicts.parsed(done, given[0] if given else None)), []
        except Unsound as problem:
            self.problems.append(str(problem))
            return None, self._correct(done, str(problem))

    def _checked(self, said: Mapping[str, Any]) -> Verdict:
        threshold = self.node.threshold
        return verdicts.check(
            said,
            self.sources,
            self.project.soft_confidence if threshold is None else threshold,
            f"{self.node.instruction}\n{self.record_id or self.context.today}",
            **self._about(),
        )

    def _undetermined(self, reason: str) -> Verdict:
        return Verdict(reason=reason, **{**self._about(), "read": ()})

    def _about(self) -> dict[str, Any]:
        return {
            "prompt_version": self.version,
            "tools": tuple(self.used),
            "problems": tuple(self.problems),
            "read": tuple(self.read),
        }

    def _correct(self, done: Completion, problem: str) -> list[Message]:
        """Name the failed check; a tool call is answered by a tool message, as the protocol wants it."""
        text, echo = self._again(problem), self._echo(done)
        if not done.tool_calls:
            return [echo, Message("user", text)]
        answers = [Message("tool", text, tool_call_id=call.id) for call in echo.tool_calls]
        return [echo, *answers]

    def _again(self, problem: str) -> Deidentified:
        name = "soft_retry" if self.by_schema else "soft_retry_tool"
        return self.gate.text(prompts.load_prompt(name, problem=problem, tool=verdicts.NAME).text)

    def _echo(self, done: Completion) -> Message:
        content = self.gate.text(
            verdicts.storable(done.content) or ("" if done.tool_calls else EMPTY)
        )
        calls = tuple(call.masked(self.gate) for call in done.tool_calls)
        return Message("assistant", content, calls, reasoning=self.gate.text(done.reasoning))

    def _answers(self, calls: Sequence[ToolCall]) -> Iterator[Message]:
        failed = []
        for call in calls:
            result = self._call(call)
            is_text = isinstance(result.data, str)
            told = result.data if is_text else self.gate.data(result.data)
            shown = self.gate.text(tokens.cut(told, RESULT_TOKENS))
            if result.has_data:
                self.sources.append(shown)
                tool = tools().get(result.tool)
                if not self.record_id and tool and tool.read_only:
                    # For the next node; what a tool did is no data.
                    self.read.append(shown)
            elif result.status in (Status.BAD_ARGUMENTS, Status.REFUSED):
                failed.append(f"{result.tool}: {result.status}")
            text = self.gate.text(marked(shown) if result.has_data else shown)
            yield Message("tool", text, tool_call_id=self.gate.text(call.id))
        if failed:
            self.problems.append("; ".join(failed))

    def _call(self, call: ToolCall) -> ToolResult:
        """Run one call; what is wrong with it comes back as an instruction."""
        self.used.append(call.name[:64])
        if len(self.used) > MAX_CALLS:
            return ToolResult(call.name, Status.REFUSED, NO_MORE_CALLS)
        if call.name not in self.tools:
            name = self.gate.text(call.name)[:64]
            return ToolResult(call.name, Status.REFUSED, NOT_OFFERED.format(name=name))
        try:
            arguments = call.parsed()
        except ValueError as error:
            return ToolResult(call.name, Status.BAD_ARGUMENTS, str(error))
        mine = self.record_id
        if mine and arguments.get("record_id", mine) != mine:
            return ToolResult(call.name, Status.REFUSED, OTHER_SUBJECT.format(record_id=mine))
        self.keep_alive()
        return execute(self.context, call.name, arguments, allowed=self.tools)

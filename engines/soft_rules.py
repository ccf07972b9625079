"""Soft rules: the LLM judges a text, code checks the verdict (seed 001, 3; decisions.md, Engines).

A verdict counts only when it fits the schema, is sure enough and quotes what stands in the data. Anything
else is undetermined and goes to a person; it is never a pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from engines import soft_verdict
from engines.assistant.context import marked
from engines.assistant.tools import (
    OF_WORKFLOWS,
    Status,
    ToolContext,
    ToolResult,
    definitions,
    execute,
    get,
)
from engines.soft_verdict import GIVE_VERDICT, SCHEMA, Unsound, Verdict
from house.db import atomic
from integrations import tokens
from integrations.llm import Completion, LlmProtocolError, Message, ToolCall
from llm import prompts
from llm.asking import Llm
from llm.providers import preset_of
from memory.hot import injection
from privacy.gate import Gate
from projects.endpoints import Purpose
from projects.models import Member, Project, Role
from study import dictionary
from study.display import display_rows
from study.models import Subject
from study.request_cache import Reader
from study.study_gate import gate_for

__all__ = ["Before", "Task", "Verdict", "run_with_retry"]

TRIES = 3
MAX_TURNS = 8
MAX_CALLS = 12
MAX_DATA = 60_000
MOST_NAMED = 200
"""So many subjects a task about none of them is told by name."""
RESULT_TOKENS = 900
OTHER_SUBJECT = "错误:本次任务只涉及受试者 {record_id},不能读取其他受试者。"
NO_MORE_CALLS = "错误:工具调用次数已用完,请根据已有信息直接给出结论。"


@dataclass(frozen=True)
class Before:
    """What the step before found out: its node, its reason and the texts that its tools told."""

    node: str
    reason: str
    read: tuple[str, ...] = ()


@dataclass(frozen=True)
class Task:
    """What is to be judged: `rows` of the subject `record_id`, or what `tools` find when it is blank.

    A task about no subject may read what `member` may (None: the house's own schedule, all of the study), and
    goes on from what was found out `before`. `effect_key` names the step for tools that have effects; a step
    that is tried again has none twice. `can_wait`: what they tell may wait for its reader's time.
    """

    project: Project
    instruction: str
    threshold: float
    user_id: str = ""
    record_id: str = ""
    rows: Sequence[Mapping[str, Any]] = ()
    tools: tuple[str, ...] = ()
    effect_key: str = ""
    can_wait: bool = False
    member: Member | None = None
    before: Before | None = None

    @property
    def reads_all(self) -> bool:
        """Whether it may read any subject's data: then it is told who there is, and may ask what is due."""
        return not self.record_id and "read_clinical_data" in self.tools

    @property
    def offered(self) -> tuple[str, ...]:
        """The node's allow-list, with what belongs to reading all subjects."""
        return tuple(dict.fromkeys((*self.tools, *OF_WORKFLOWS * self.reads_all)))


def run_with_retry(task: Task, keep_alive: Callable[[], None] = lambda: None) -> Verdict:
    """Ask, check, and ask again with the failed check named, three answers at most.

    No transaction may be open. `keep_alive` is called before every call and may raise to stop.
    Raises llm.asking.TokenCapReached, LlmError, PrivacyError, RedcapError, NotConfiguredError.
    """
    llm = Llm(task.project, user_id=task.user_id, model_purpose=Purpose.ENGINES)
    try:
        gate = llm.gate = gate_for(Reader(task.project, task.member))
        return _Talk(task, llm, gate, keep_alive).run()
    finally:
        with atomic():
            llm.save()


def data_text(project: Project, rows: Sequence[Mapping[str, Any]], gate: Gate) -> str:
    """The subject's values a line each, without identifiers and genome fields."""
    lines: list[str] = []
    for row in display_rows(dictionary.load(project), [dict(row) for row in rows]):
        place = " ".join(filter(None, [row.event_label, row.instrument_label]))
        place += f" #{row.instance}" if row.instance else ""
        for item in row.values:
            if not item.identifier and not gate.fields.drops(item.field, item.label):
                lines.append(f"[{place}] {item.label}: {item.text}{item.unit}")
    return "\n".join(lines)


def _identifiers(project: Project, rows: Sequence[Mapping[str, Any]]) -> set[str]:
    """Identifier values of this reading: the stored roster may not know them yet."""
    metadata = dictionary.load(project)
    flagged = metadata.identifier_fields - {metadata.record_id_field}
    found = {str(row.get(name, "")).strip() for row in rows for name in flagged}
    return {value for value in found if len(value) > 1}


def _anybody(project: Project) -> Member | None:
    """With whose eyes the house reads for all: unscoped, and of a blinded study what nobody is kept from."""
    return Member(project=project, role=Role.ADMIN) if project.blinded_since else None


def _background(task: Task) -> str:
    """Hot memory as those see it who see the subject; evidence from it never counts (decisions.md)."""
    subject = Subject.objects.filter(project=task.project, record_id=task.record_id).first()
    site = subject.site if subject else ""
    reader = task.member or Member(project=task.project, role=Role.ADMIN, site=site)
    text = injection.inject(task.project, reader).text
    return prompts.load("hot", hot=text).text if text else ""


@dataclass
class _Talk:
    """One conversation about one task."""

    task: Task
    llm: Llm
    gate: Gate
    keep_alive: Callable[[], None]
    sources: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    used: list[str] = field(default_factory=list)
    read: list[str] = field(default_factory=list)
    version: str = ""

    def __post_init__(self) -> None:
        """Settle how the endpoint is asked: its tools, and a verdict by schema or by tool."""
        preset = preset_of(self.task.project, Purpose.ENGINES)
        self.tools = self.task.offered if preset.tools else ()
        self.offered = definitions(self.tools)
        self.by_schema = preset.json_schema or not preset.tools
        if not self.by_schema:
            self.offered.append(GIVE_VERDICT)
        self.context = ToolContext(
            project=self.task.project,
            member=self.task.member or _anybody(self.task.project),
            gate=self.gate,
            effect_key=self.task.effect_key,
            can_wait=self.task.can_wait,
            record_id=self.task.record_id,
        )

    def run(self) -> Verdict:
        """The verdict; undetermined after three that were not sound."""
        self.gate.learn(_identifiers(self.task.project, self.task.rows))
        messages = [self._system(), *self._before(), self._data()]
        if len("".join(self.sources)) > MAX_DATA:
            return self._undetermined(_("The data are too long for the language model."))
        for _turn in range(MAX_TURNS):
            done = self._ask(messages)
            if done is not None:
                verdict, more = self._take(done)
                if verdict:
                    return verdict
                messages += more
            if len(self.problems) >= TRIES:
                break
        return self._undetermined(_("The verdict could not be validated."))

    def _system(self) -> Message:
        names = (
            ["soft"] + ["soft_tools"] * bool(self.tools) + ["soft_verdict"] * (not self.by_schema)
        )
        asked, tool = self.task.instruction, soft_verdict.NAME
        loaded = [prompts.load(name, instruction=asked, tool=tool) for name in names]
        self.version = "+".join(prompt.version for prompt in loaded)
        parts = [*(prompt.text for prompt in loaded), _background(self.task)]
        return Message("system", self.gate.text("\n\n".join(filter(None, parts))))

    def _data(self) -> Message:
        if not self.task.record_id:
            return Message("user", self.gate.text(self._of_study()))
        data = self.gate.text(data_text(self.task.project, self.task.rows, self.gate))
        self.sources.append(data)
        shown = prompts.load("soft_record", record_id=self.task.record_id, data=marked(data))
        return Message("user", self.gate.text(shown.text))

    def _of_study(self) -> str:
        """The day, the subjects that may be read, and what is to be done."""
        today = self.context.today.isoformat()
        asked = prompts.load("soft_study", today=today, instruction=self.task.instruction).text
        if not self.task.reads_all:
            return asked
        present = sorted(Reader(self.task.project, self.task.member).roster.present)
        named = "、".join(present[:MOST_NAMED]) or "无"
        roster = prompts.load("soft_roster", count=len(present), roster=named).text
        return f"{asked}\n{roster}"

    def _before(self) -> Iterator[Message]:
        """What the step before read counts as data of this one: it may be quoted."""
        before = self.task.before
        if before is None:
            return
        data = self.gate.text("\n".join(before.read))
        self.sources.append(data)
        shown = prompts.load(
            "soft_before", node=before.node, reason=before.reason, data=marked(data)
        )
        yield Message("user", self.gate.text(shown.text))

    def _ask(self, messages: Sequence[Message]) -> Completion | None:
        """The next answer; None for one that does not follow the protocol."""
        self.keep_alive()
        try:
            return self.llm.ask(
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
        except LlmProtocolError as error:
            self.problems.append(str(error))
            return None

    def _take(self, done: Completion) -> tuple[Verdict | None, list[Message]]:
        """A sound verdict, or the messages that carry the conversation on."""
        given = [call for call in done.tool_calls if call.name == soft_verdict.NAME]
        if done.tool_calls and not given:
            return None, self._act(done)
        try:
            said = soft_verdict.parsed(done, given[0] if given else None)
            return self._checked(said), []
        except Unsound as problem:
            self.problems.append(str(problem))
            return None, self._correct(done, str(problem))

    def _checked(self, said: Mapping[str, Any]) -> Verdict:
        return soft_verdict.check(
            said,
            self.sources,
            self.task.threshold,
            f"{self.task.instruction}\n{self.task.record_id or self.context.today}",
            prompt_version=self.version,
            tools=tuple(self.used),
            problems=tuple(self.problems),
            read=tuple(self.read),
        )

    def _correct(self, done: Completion, problem: str) -> list[Message]:
        """Name the failed check; a tool call is answered by a tool message, as the protocol wants it."""
        text = self.gate.text(prompts.load("soft_retry", problem=problem).text)
        echo = self._echo(done)
        if not done.tool_calls:
            return [echo, Message("user", text)]
        answers = [Message("tool", text, tool_call_id=call.id) for call in echo.tool_calls]
        return [echo, *answers]

    def _echo(self, done: Completion) -> Message:
        content = self.gate.text(
            soft_verdict.storable(done.content) or ("" if done.tool_calls else "{}")
        )
        calls = tuple(call.masked(self.gate) for call in done.tool_calls)
        return Message("assistant", content, calls, reasoning=self.gate.text(done.reasoning))

    def _act(self, done: Completion) -> list[Message]:
        return [self._echo(done), *self._answers(done.tool_calls)]

    def _answers(self, calls: Sequence[ToolCall]) -> Iterator[Message]:
        failed = []
        for call in calls:
            result = self._call(call)
            shown = self.gate.text(self._shown(result))
            if result.has_data:
                self.sources.append(shown)
                self._hand_on(result, shown)
            elif result.status in (Status.BAD_ARGUMENTS, Status.REFUSED):
                failed.append(f"{result.tool}: {result.status}")
            text = self.gate.text(marked(shown) if result.has_data else shown)
            yield Message("tool", text, tool_call_id=self.gate.text(call.id))
        if failed:
            self.problems.append("; ".join(failed))

    def _hand_on(self, result: ToolResult, shown: str) -> None:
        """Keep what was read for the next step; what a tool did is no data."""
        tool = get(result.tool)
        if not self.task.record_id and tool and tool.read_only:
            self.read.append(shown)

    def _call(self, call: ToolCall) -> ToolResult:
        """Run one call; what is wrong with it comes back as an instruction."""
        self.used.append(call.name[:64])
        if len(self.used) > MAX_CALLS:
            return ToolResult(call.name, Status.REFUSED, NO_MORE_CALLS)
        try:
            arguments = call.parsed()
        except ValueError as error:
            return ToolResult(call.name, Status.BAD_ARGUMENTS, str(error))
        mine = self.task.record_id
        if mine and arguments.get("record_id", mine) != mine:
            return ToolResult(call.name, Status.REFUSED, OTHER_SUBJECT.format(record_id=mine))
        self.keep_alive()
        return execute(self.context, call.name, arguments, allowed=self.tools)

    def _shown(self, result: ToolResult) -> str:
        text = result.data if isinstance(result.data, str) else self.gate.data(result.data)
        return tokens.cut(text, RESULT_TOKENS)

    def _undetermined(self, reason: str) -> Verdict:
        return Verdict(
            reason=reason,
            prompt_version=self.version,
            tools=tuple(self.used),
            problems=tuple(self.problems),
        )

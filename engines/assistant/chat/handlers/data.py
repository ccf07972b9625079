"""Questions about the study's data: asked through the one door, or read in steps, and told by a plan."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from core.integrations.llm import LlmAbilityMissing, LlmError
from core.integrations.redcap import RedcapError
from core.llm import prompts
from core.privacy.outbound_policy import PrivacyError
from core.rules.context import Kind as ColumnKind
from core.rules.values import Reason
from engines import render
from engines.assistant import texts
from engines.assistant.chat.handlers import talk
from engines.assistant.chat.reply import Outcome
from engines.assistant.chat.sheets import Sources, material_of, reader_of
from engines.assistant.chat.turn import Turn
from engines.assistant.context import assemble
from engines.assistant.react import ReActEngine, ReActResult, offered_to
from engines.assistant.read.grammar import fast
from engines.assistant.read.queries import queries
from engines.assistant.read.question import Query, Question, Shape, Topic
from engines.assistant.read.scan import scan
from engines.assistant.read.spoken import words_of
from engines.assistant.read.talk import CALLED
from engines.assistant.read.task import Nearest, State, Task, Unclear
from engines.assistant.read.tokens import Kind
from engines.assistant.say import computed
from engines.assistant.say.lines import text_of
from engines.assistant.say.parts import colon
from engines.assistant.say.quotes import documents
from engines.assistant.say.sheet import Answered
from engines.assistant.tools import Status, ToolResult
from engines.assistant.tools.results import redcap_down
from study import door
from study.client import NotConfiguredError
from study.facts import Fact
from study.protocol import index
from study.protocol.figures import Range, ranges
from study.protocol.rules import Found
from study.protocol.units import Unit, units
from study.query.errors import NotSetError, QueryError

logger = logging.getLogger(__name__)

NAME = "study_data"
TOPICS = {
    "@visits": Topic.VISITS,
    "@findings": Topic.FINDINGS,
    "@reviews": Topic.REVIEWS,
    "@runs": Topic.RUNS,
    "@changes": Topic.CHANGES,
}
MOST, ROOM, PARAGRAPH = 3, 3, 160
"""Readings that are offered, and how many answers long a question back may be with what
they say; characters up to which a paragraph is quoted whole."""
_NAMED_BY = {
    Topic.VISITS: {Kind.VISIT, Kind.PLACE, Kind.WHEN},
    Topic.FINDINGS: {Kind.FINDING, Kind.RUN, Kind.REVIEW},
}
"""The words that a question of a topic has; without one the reading is offered, not answered."""
_INCLUSION = "入选标准"
_NUMBERED = re.compile(r"^\d+[.、)]\s*")
_MEASURES = ("", "岁", "分", "级")
"""Units that a field's value may have without saying so; a limit in times of a reference range has another."""
_WEIGHT = 0.34
"""Of a word of a criterion that is a part of a field's name, from which on it stands for the field."""


def answer_data(turn: Turn, tasks: Sequence[Task], limit: int) -> Outcome:
    """All questions of some tasks in one answer."""
    asked = [task.question for task in tasks if task.question]
    eligible = any(one.topic is Topic.ELIGIBILITY for one in asked)
    judged = {n for one in asked if one.aspect == "unlimited" for n in one.select}
    criteria = _criteria(turn) if eligible or judged else {}
    asked = [
        replace(one, select=tuple(criteria)) if one.topic is Topic.ELIGIBILITY else one
        for one in asked
    ]
    try:
        answered = _read(turn, asked)
    except (RedcapError, NotConfiguredError) as error:
        logger.warning("Study data: %s", error)
        down = ToolResult(NAME, Status.DOWN, redcap_down(error), outside_down=True)
        return Outcome(str(turn.read(down).data))
    except NotSetError as error:
        return Outcome(error.message, guided=True)
    except QueryError as error:
        # The reading wrote a query that the study refuses: our fault, and for the reader not understood.
        logger.error("Study data: %s: %s", error.at, type(error).__name__)
        turn.success = False
        return ask_back(turn, ())
    result = turn.read(_result(turn, answered))
    turn.success = turn.success and (result.status is not Status.INCOMPLETE or bool(result.facts))
    head = _read_as(turn, tasks)
    # Criteria are told whole, with what is written of somebody beside them.
    limit *= 2 if eligible and not turn.is_bounded else 1
    sources = Sources(turn, reader_of(turn, limit - len(head)))
    unmet = {
        fact.field: criteria[fact.field]
        for fact in result.facts
        if fact.field in criteria and _is_outside(fact, criteria[fact.field])
    }
    marks = sources.add(documents(unmet.values()))
    sources.reader = replace(sources.reader, criteria=dict(zip(unmet, marks, strict=True)))
    sources.add_data(answered)
    said = sources.told(turn.text if len(tasks) > 1 else tasks[0].said)
    # What has no limits in the dictionary may have one in the protocol.
    beside = Sources(turn, reader_of(turn, limit))
    rules = beside.add(documents(unit for name, unit in criteria.items() if name in judged))
    text = "\n".join([head + said.text, *([beside.quoted(rules).text] if rules else [])])
    return Outcome(text, results=[result], table=said.cut_from)


def _read(turn: Turn, asked: Sequence[Question]) -> list[Answered]:
    """The answers to all queries of some questions out of one reading of the study.

    Raises RedcapError, NotConfiguredError, study.query.errors.NotSetError, QueryError.
    """
    made = [queries(question, turn.setting) for question in asked]
    flat = [query for own in made for query in own]
    for query in flat:
        turn.note("study.query", action=json.dumps(query, ensure_ascii=False))
    told = iter(door.ask_all(turn.project, turn.member, flat, blinded=turn.withheld))
    pairs = [tuple((query, next(told)) for query in own) for own in made]
    return [Answered(question, own) for question, own in zip(asked, pairs, strict=True)]


def _read_as(turn: Turn, tasks: Sequence[Task]) -> str:
    """What was carried over from before, and how a model read it; "" where the words said it all."""
    carried = list(dict.fromkeys(word for task in tasks for word in task.carried))
    heard = dict.fromkeys(pair for task in tasks for pair in task.heard)
    guessed = [words_of(t.question, turn.setting) for t in tasks if t.question and t.by_model]
    taken = _("“%(said)s” was taken for %(subject)s.")
    lines = [taken % {"said": said.upper(), "subject": one} for said, one in heard]
    if guessed:
        lines.append(_("Understood as: %(what)s") % {"what": ";".join(guessed)})
    still = _("Still %(what)s: ") % {"what": "、".join(carried)} if carried else ""
    return "".join(f"{line}\n" for line in lines) + still


def _result(turn: Turn, answered: Sequence[Answered]) -> ToolResult:
    """What was read, for the sources and the session; the subjects of a list are spoken of next."""
    ids, sources, facts = list[str](), list[dict[str, Any]](), list[Fact]()
    for one in answered:
        answers = [answer for _query, answer in one.results]
        facts += [fact for answer in answers for fact in answer.facts]
        read_at = min((each.read_at for each in answers if each.read_at), default=None)
        named = list(dict.fromkeys(one.question.subjects))
        if max((each.basis.subjects for each in answers), default=0) < len(named):
            # Who was entered since the roster was read is in the answer only.
            named = [i for i in named if i in turn.roster.present]
        ids += named
        sources += [{"kind": "redcap", "record_id": i, "read_at": read_at} for i in named]
        if not one.question.subjects:
            what = Topic(one.question.topic).value
            sources.append({"kind": "redcap", "what": what, "read_at": read_at})
    if answered and not answered[-1].question.subjects and not turn.state.subjects:
        listed = dict.fromkeys(fact.subject for fact in facts if fact.subject)
        turn.state = replace(turn.state, subjects=tuple(listed))
    told = [answer for one in answered for _query, answer in one.results]
    # What REDCap does not show to the house is not absent (design.md 9.8).
    unread = any(one.reason == Reason.NOT_EXPORTED for answer in told for one in answer.undecided)
    status = Status.INCOMPLETE if unread else Status.OK if sources else Status.NOT_FOUND
    return ToolResult(
        NAME,
        status,
        facts=tuple(facts),
        sources=tuple(sources),
        record_ids=tuple(dict.fromkeys(ids)),
    )


# --- questions back -------------------------------------------------------------------------------


def answer_unclear(turn: Turn, task: Task, _limit: int) -> Outcome:
    """The nearest readings by number; the next message may give one ("1", "第二个")."""
    refused = talk.refuse_other_site(turn, task.said) or talk.ask_number(turn, task.said, CALLED)
    is_of_data = any(one.readings for one in task.unclear) and (
        bool(turn.state.subjects) or task.by_model
    )
    if refused or turn.reading.record_ids or is_of_data:
        return refused or ask_back(turn, task.unclear)
    # Of nobody the documents may speak, too; where they are sure to, what they say stands first.
    found = index.find_rules(turn.project, task.said)
    near = sections(turn, task, found)[: MOST - 2]
    data = [replace(one, readings=one.readings[: MOST - len(near)]) for one in task.unclear]
    rules = [Unclear("", near)]
    return ask_back(turn, [*rules, *data] if found.is_sure else [*data, *rules])


def sections(turn: Turn, task: Task, found: Found) -> tuple[Nearest, ...]:
    """The sections that the nearest rules stand in, each with the nearest of its rules as it stands."""
    near: dict[str, Nearest] = {}
    leads = {unit.lead for unit in found.rules}
    for unit in found.rules:
        title = unit.title.removeprefix(unit.document).strip()
        place = f"{unit.document} §{unit.number}" if unit.number else unit.document
        if title and title not in near and unit.text not in leads:
            rule = str(turn.gate.blocks([index.paragraph_of(turn.project, unit, PARAGRAPH)]))
            says = _("the nearest words are “%(text)s”") % {"text": rule}
            near[title] = Nearest(f"{place} {title}", f"{task.said} {place}", says)
    return tuple(near.values())[:MOST]


def ask_back(turn: Turn, unclear: Sequence[Unclear]) -> Outcome:
    """Ask which of the readings is meant, each with what it would be answered as far as there is room."""
    turn.not_understood(())
    near = {one.text: one for each in unclear for one in each.readings}
    readings = [*near.values()][:MOST]
    named = "、".join(f"“{talk.echo(one.word)}”" for one in unclear if one.word)
    head = _("I am not sure about %(words)s.") % {"words": named} if named else ""
    if not readings:
        once = _("Please put it another way.") if head else ""
        fixed = once or _("I did not understand this. Please ask more precisely.")
        return Outcome(head + fixed, guided=True, asks=True)
    turn.state = replace(turn.state, offered=tuple(one.text for one in readings))
    rows = [f"{number}. {one.label}" for number, one in enumerate(readings, 1)]
    lines = [head + _("Do you mean one of these? Reply with its number:"), *rows]
    most = turn.limit * (1 if turn.is_bounded else ROOM) // max(1, len(turn.reading.tasks))
    room = most - len("\n".join(lines))
    told, results = _previews(turn, readings)
    for at, said in enumerate(told, 1):
        if said and (size := len(said) + len(colon())) <= room:
            lines[at] += colon() + said
            room -= size
    choices = tuple((one.label, one.text) for one in readings)
    text = "\n".join(lines)
    return Outcome(text, guided=True, asks=True, choices=choices, results=results)


def _previews(turn: Turn, readings: Sequence[Nearest]) -> tuple[list[str], list[ToolResult]]:
    """What each of some readings would be answered, "" where that cannot be said."""
    # Beside another answer it could be taken for one; without the question's "not" it is of the others.
    alone = len(turn.reading.tasks) == 1 and not turn.reading.unread
    negated = _negations(turn.asked, turn)
    shown = [alone and negated <= _negations(one.text, turn) for one in readings]
    read = [
        fast(one.text, turn.setting, State()) if is_shown else None
        for one, is_shown in zip(readings, shown, strict=True)
    ]
    tasks = [task if not one.says else None for one, task in zip(readings, read, strict=True)]
    said_kinds = {token.kind for token in scan(turn.asked, turn.setting)}
    tasks = [t if t and t.question and _is_about(t.question, said_kinds) else None for t in tasks]
    try:
        answered = _read(turn, [task.question for task in tasks if task and task.question])
    except (RedcapError, NotConfiguredError, QueryError) as error:
        logger.warning("Readings offered: %s", type(error).__name__)
        answered = []
    rest, said = iter(answered), list[str]()
    for one, task in zip(readings, tasks, strict=True):
        own = next(rest, None) if task and task.question else None
        if own is not None:
            sources = Sources(turn, reader_of(turn, turn.limit))
            sources.add_data([own])
            said.append(sources.planned(None).text.replace("\n", ""))
        else:
            said.append(one.says)
    return said, [turn.read(_result(turn, answered))] if answered else []


def _is_about(question: Question, said: set[Kind]) -> bool:
    """Whether a reading is about what was asked by a word of it, and not offered of everybody."""
    if question.shape is Shape.OVERVIEW:
        return False
    named = _NAMED_BY.get(question.topic)
    return named is None or bool(named & said)


def _negations(text: str, turn: Turn) -> set[Kind]:
    """What a text says no with, by kind."""
    return {token.kind for token in scan(text, turn.setting)} & {Kind.NOT, Kind.EMPTY}


# --- criteria of the protocol, beside the values they speak of; whether one is met is not judged --


def _criteria(turn: Turn) -> Mapping[str, Unit]:
    """The field that a criterion for inclusion measures -> the criterion, where it names a range.

    Of fields that are filled in once: of the others no value is the one that counts.
    """
    found: dict[str, Unit] = {}
    for unit in index.titled(turn.project, _INCLUSION):
        tokens = scan(_NUMBERED.sub("", unit.text), turn.setting)
        named = (t for t in tokens if t.kind is Kind.FIELD and t.readings)
        fields = [token.name for token in named if token.readings[0].weight >= _WEIGHT]
        limited = _limit(unit) is not None
        if name := next((one for one in fields if limited and _is_measured_once(turn, one)), ""):
            found.setdefault(name, unit)
    return found


def _is_measured_once(turn: Turn, name: str) -> bool:
    """Whether a field is a number or a grade that is filled in at one event at most."""
    setting = turn.setting
    coded = setting.column_kind(name) is ColumnKind.CODE
    codes = turn.design.metadata.choices(name) if coded else {}
    graded = bool(codes) and all(re.match(rf"{code}\D*$", text) for code, text in codes.items())
    once = sum(setting.stands(name, event) for event in turn.design.event_order) <= 1
    return once and (setting.is_number(name) or graded)


def _limit(unit: Unit) -> Range | None:
    """The first range that a criterion names, where a value is measured in its unit."""
    found = [one for one in ranges(_NUMBERED.sub("", unit.text)) if one.low != one.high]
    return found[0] if found and found[0].unit in _MEASURES else None


def _is_outside(fact: Fact, unit: Unit) -> bool:
    code = fact.value if isinstance(fact.value, str) else ""
    value = computed.number(fact)
    if value is None and code.isascii() and code.isdigit():
        value = Decimal(code)
    limit = _limit(unit)
    if value is None or limit is None:
        return False
    return not Range.of(value, limit.unit).meets(limit)


# --- several steps with read-only tools, of which only a plan over what was read leaves ----------


def answer_in_steps(turn: Turn, task: Task, limit: int) -> Outcome:
    """What the steps came to; asked back without a model, or where nothing was read."""
    if not turn.skill.switches.model or turn.engines.is_plain:
        return ask_back(turn, task.unclear)
    sources = Sources(turn, reader_of(turn, limit))
    try:
        found = _run(turn, task, sources)
    except (LlmError, PrivacyError) as error:
        logger.warning("ReAct: %s", error)
        found = ReActResult(None, texts.FUSE, [], [], outside_down=True)
    turn.trace += found.trace
    turn.results += found.results
    turn.outside_down |= found.outside_down
    turn.success = turn.success and found.success
    good = [result for result in found.results if result.has_data]
    if found.plan is not None and found.plan.say:
        return Outcome(sources.planned(found.plan).text, results=good)
    spent = _(
        "Today's LLM budget of this study is used up. Questions about data are still answered."
    )
    fixed = spent if found.capped else found.content
    if found.success or not (fixed or good):
        return ask_back(turn, task.unclear)
    said = sources.planned(None).text if good else ""
    note = _("(incomplete)")
    room = limit - len(fixed) - len(note) - 1
    data = f"{render.cut(said, room)}{note}" if said and room > 0 else ""
    return Outcome("\n".join(filter(None, [fixed, data])), results=good)


def _run(turn: Turn, task: Task, sources: Sources) -> ReActResult:
    """With native tool calls; in the text protocol where the endpoint has none."""
    offered = [row["function"] for row in offered_to(turn.member.role)]
    # In the text protocol a model sees the names of the arguments nowhere else.
    listed = "\n".join(
        f"- {row['name']}({', '.join(row['parameters']['properties'])}): {row['description']}"
        for row in offered
    )
    for last in (False, True):
        native = turn.engines.has_tools
        prompt = assemble(
            gate=turn.gate,
            system=prompts.load_prompt("react" if native else "react_text", tools=listed),
            question=turn.question(task.said),
            material=material_of(turn, session=True),
        )
        turn.versions.append(prompt.version)
        engine = ReActEngine(
            turn.engines, turn.context, lambda one: _lines(sources, one), sources.sheet
        )
        try:
            return engine.run(prompt)
        except LlmAbilityMissing:
            if last:
                raise
    raise AssertionError


def _lines(sources: Sources, result: ToolResult) -> str:
    """What a tool told, put on the sheet, as numbered lines."""
    before = len(sources.builder.lines)
    sources.add_data(
        Answered(_question(query), ((query, answer),)) for query, answer in result.asked
    )
    sources.add(documents(units([(one.document, one.content) for one in result.passages])))
    return text_of(sources.builder.lines[before:])


def _question(query: Query) -> Question:
    """The question that a tool's query is the answer to, for its plain wording."""
    selected = [one for one in query.get("select") or () if isinstance(one, str)]
    topics = (TOPICS.get(one.partition(".")[0]) for one in selected)
    return Question(
        topic=next(filter(None, topics), Topic.DATA),
        subjects=tuple(query.get("subjects") or ()),
        select=tuple(selected),
        where=tuple(query.get("where") or ()),
        aggregate=str(query.get("aggregate") or ""),
        by=tuple(query.get("by") or ()),
        rows=query.get("rows"),
    )

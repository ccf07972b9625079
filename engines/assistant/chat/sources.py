"""What an answer may rest on, as numbered lines (design.md 5a.5; decisions.md, "有据")."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace

from django.utils import translation

from engines.assistant.answer.reader import Reader
from engines.assistant.chat.subjects import subjects
from engines.assistant.chat.turn import Turn
from engines.assistant.context import Material
from engines.assistant.intents import Part
from engines.assistant.lines import beside as near_facts
from engines.assistant.lines import prose, results
from engines.assistant.lines.builder import Builder, text_of
from engines.assistant.lines.types import Line, Sheet, Source
from engines.assistant.tools import ToolResult
from engines.assistant.understand.types import Query
from house import clock
from integrations import tokens
from study.facts import Answer
from study.protocol import index
from study.protocol.bm25 import terms, without_asking
from study.protocol.excerpts import Unit
from study.protocol.excerpts.units import units

MOST_BESIDE, MOST_ASKED = 3, 5
"""Rules of the documents for each thing that the facts name, and for a question about data."""
MOST_OWN, MOST_AROUND = 420, 600
"""Tokens of the facts that answer a question, and of those read beside it."""
DATA = frozenset({"query_record", "count_records", "visit_window", "qa_query"})
LONGEST = 500
OWN = "[User Memory]"
"""The section of what the reader told of themselves."""

_OF = "(user_id: "
"""What the heading of a person's block in hot memory names them by."""

Asked = Sequence[tuple[Query, Answer]]


def sheet(
    turn: Turn,
    part: Part,
    *,
    asked: Asked = (),
    beside: Asked = (),
    read: Sequence[ToolResult] = (),
    pages: Mapping[str, str] | None = None,
    memory: Sequence[str] | None = None,
    is_answer: bool = False,
) -> Sheet:
    """The lines for one task: facts, tools, documents, reports, memory, the running talk, today.

    `asked`: what the question itself asks of the study, `beside`: what was read with it. `memory`: these
    lines in place of all that is remembered; `is_answer`: they answer the question.
    """
    reader, builder = reader_of(turn), builder_of(turn)
    with translation.override(reader.language):
        own_facts = builder.add(_of_question(asked, reader))
        own = own_facts + builder.add(_around(beside, reader))
        own += builder.add(line for one in read for line in of_tool(one, reader))
        facts = [fact for _query, answer in [*asked, *beside] for fact in answer.facts]
        topics = near_facts.topics(facts, reader)
        rules = builder.add(prose.documents(_rules(turn, part, read, topics)))
        own += rules if any(one.passages for one in read) else []
        own += builder.add(_reports(turn, part, pages or {}))
        remembered = add_background(turn, builder, memory)
    matter, ids = _words(str(turn.question(part))), subjects(turn, part)
    own += [line for line in remembered if is_answer or _speaks_of(line, matter, ids)]
    made = closed(turn, part, builder, own)
    return replace(made, asked=frozenset(line.mark for line in own_facts))


def _reports(turn: Turn, part: Part, pages: Mapping[str, str]) -> Iterator[Line]:
    """The weekly reports; of a trend, which is counted anew, what was decided about its matter."""
    matter = _words(str(turn.question(part)))
    for line in prose.reports(pages):
        if part.intent != "analyze_trend" or (line.day and matter & _words(line.text)):
            yield line


def _speaks_of(line: Line, matter: Set[str], ids: Collection[str]) -> bool:
    """Whether what is remembered is of the matter of a question, and of its subjects."""
    shared = matter & _words(line.text)
    return bool(shared - {one.lower() for one in ids}) and (
        not ids or any(one in line.text for one in ids)
    )


def _words(text: str) -> set[str]:
    return {term for term in terms(without_asking(text)) if len(term) > 1}


def _of_question(asked: Asked, reader: Reader) -> Iterator[Line]:
    """The lines of the answers; of too many the newest, which then are known to be a part."""
    for query, answer in asked:
        lines = list(results.lines_of(query, answer, reader))
        newest = sorted(lines, key=_day_of, reverse=True)
        room, kept = MOST_OWN, list[Line]()
        for line in newest:
            room -= tokens.count(line.text)
            kept += [line] if room >= 0 else []
        is_part = len(kept) < len(lines)
        for line in (one for one in lines if one in kept):
            scope = replace(line.scope, is_complete=False) if line.scope and is_part else line.scope
            yield replace(line, scope=scope)


def _day_of(line: Line) -> str:
    """The last day of a line; what has none goes before all others."""
    return max((fact.date or "9" for fact in line.facts), default="")


def _around(beside: Asked, reader: Reader) -> Iterator[Line]:
    """What was read beside the question, whole answers only, as far as there is room."""
    room = MOST_AROUND
    for query, answer in beside:
        lines = list(results.lines_of(query, answer, reader))
        size = sum(tokens.count(line.text) for line in lines)
        if size <= room:
            room -= size
            yield from lines


def _of_answers(asked: Asked, reader: Reader) -> Iterator[Line]:
    for query, answer in asked:
        yield from results.lines_of(query, answer, reader)


def builder_of(turn: Turn) -> Builder:
    """An empty list of lines, which only what the privacy gate has seen gets into."""
    return Builder(lambda text: str(turn.gate.blocks([text])))


def add_background(turn: Turn, builder: Builder, memory: Iterable[str] | None = None) -> list[Line]:
    """Today's date, the running talk, what is remembered; the lines of the last.

    Where `memory` alone is asked for nothing counts from a day.
    """
    uses = turn.skill.switches
    builder.add([prose.today(turn.context.today)] if memory is None else [])
    builder.add(prose.session(turn.session.messages if uses.session else ()))
    if memory is not None:
        return builder.add(prose.memory("\n".join(memory)))
    hot = prose.memory(turn.hot.text if uses.hot_memory else "")
    kept = builder.add(line for line in hot if not _is_of_another(line, turn.member.wecom_userid))
    return kept + builder.add(prose.memory(turn.facts if uses.own_memory else "", OWN))


def _is_of_another(line: Line, userid: str) -> bool:
    """Whether what is remembered is of another reader: 您 would be told their habits."""
    return _OF in line.section and f"{_OF}{userid.casefold()})" not in line.section.casefold()


def closed(turn: Turn, part: Part, builder: Builder, own: Iterable[Line] = ()) -> Sheet:
    """The lines that were collected; `own`: those that were read for this very task."""
    design = turn.design
    return Sheet(
        lines=builder.done,
        question=str(turn.question(part)),
        today=turn.context.today,
        design=design,
        subjects=frozenset(turn.roster.present),
        sites=dict(turn.sites),
        terms={**design.mapped, **design.synonyms},
        own=frozenset(line.mark for line in own),
    )


def material(turn: Turn, lines: Sequence[Line]) -> Material:
    """The lines as a prompt lists them, by where they are from."""

    def listed(source: Source) -> str:
        return text_of([line for line in lines if line.source is source])

    remembered = [line for line in lines if line.source is Source.MEMORY]
    return Material(
        skill=turn.skill,
        hot=text_of([line for line in remembered if line.section != OWN]),
        facts=text_of([line for line in remembered if line.section == OWN]),
        history=listed(Source.REPORT),
        data=listed(Source.FACT),
        documents=listed(Source.DOCUMENT),
        session="\n".join(
            f"{line.section}\n[{line.mark}] {line.text}".strip()
            for line in lines
            if line.source is Source.SESSION
        ),
    )


def reader_of(turn: Turn) -> Reader:
    """The reader as lines are written for: in the language of the prompts, without a limit."""
    return Reader(
        design=turn.design,
        now=clock.now(),
        subjects=turn.roster.present,
        sites=turn.sites,
        own_site=turn.member.site,
        masked=turn.plain,
    )


def _rules(turn: Turn, part: Part, read: Sequence[ToolResult], topics: Sequence[str]) -> list[Unit]:
    """The rules of the documents, each once: that speak of the question, of the passages that were found
    and, for what the facts name, of the study's own."""
    found = units([(one.document, one.content) for result in read for one in result.passages])
    asked = str(turn.question(part))[:LONGEST]
    best = index.units(turn.project, asked, MOST_ASKED) if found or part.intent in DATA else []
    if found:
        # An item is told with the rest of its list.
        best = [unit for unit in best if not unit.lead]
    near = [unit for topic in topics for unit in index.units(turn.project, topic, MOST_BESIDE)]
    rules: dict[str, Unit] = {}
    for unit in (*best, *found, *near):
        rules.setdefault(unit.text, unit)
    return list(rules.values())


def of_tool(result: ToolResult, reader: Reader) -> Iterator[Line]:
    """What a tool told: the answers it has of the study, else line by line with the facts it holds."""
    if result.asked:
        yield from _of_answers(result.asked, reader)
        return
    if result.passages or not result.has_data:
        return
    for text in result.lines:
        own = tuple(fact for fact in result.facts if fact.text in text)
        yield Line("", Source.FACT, " ".join(text.split()), own)

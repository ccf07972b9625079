"""What an answer may rest on, as numbered lines (design.md 5a.5; decisions.md, "有据")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from django.utils import translation

from engines.assistant.answer.reader import Reader
from engines.assistant.lines import beside, prose, results
from engines.assistant.lines.builder import Builder
from engines.assistant.lines.types import Line, Sheet, Source
from engines.assistant.understand.types import Query
from engines.chat.turn import Turn
from engines.intents import Part
from engines.tools import Fact as ToolFact
from engines.tools import ToolResult
from house import clock
from integrations.passages import Passage
from projects import protocol
from projects.excerpts import Unit
from projects.excerpts.units import units
from study.facts import Answer, Fact, Kind

MOST_BESIDE, MOST_ASKED = 3, 5
"""Rules of the documents for each thing that the facts name, and for a question about data."""
DATA = frozenset({"query_record", "count_records", "visit_window", "qa_query"})
LONGEST = 500

Asked = Sequence[tuple[Query, Answer]]


def sheet(
    turn: Turn,
    part: Part,
    *,
    asked: Asked = (),
    read: Sequence[ToolResult] = (),
    passages: Sequence[Passage] = (),
    pages: Mapping[str, str] | None = None,
) -> Sheet:
    """The lines for one task: facts, tools, documents, reports, memory, the running talk, today."""
    reader = reader_of(turn)
    builder = Builder(lambda text: str(turn.gate.text(text)))
    with translation.override(reader.language):
        for query, answer in asked:
            builder.add(results.lines_of(query, answer, reader))
        for result in read:
            builder.add(_of_tool(result))
        builder.add([prose.today(reader.today)])
        told = [fact for _query, answer in asked for fact in answer.facts]
        builder.add(prose.documents(_units(turn, part, passages, beside.topics(told, reader))))
        builder.add(prose.reports(pages or {}))
        builder.add(prose.memory(turn.hot.text if turn.skill.switches.hot_memory else ""))
        builder.add(prose.memory(turn.facts if turn.skill.switches.own_memory else ""))
        builder.add(prose.session(turn.session.messages if turn.skill.switches.session else ()))
    design = turn.design
    return Sheet(
        lines=builder.done,
        question=str(turn.question(part)),
        today=reader.today,
        design=design,
        subjects=frozenset(reader.subjects),
        sites=dict(turn.sites),
        terms={**design.mapped, **design.synonyms},
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


def _units(
    turn: Turn, part: Part, passages: Sequence[Passage], topics: Sequence[str]
) -> list[Unit]:
    """The rules of the passages that were found, and those for what the facts name; each once."""
    found = units([(one.document, one.content) for one in passages])
    said = [str(turn.question(part))[:LONGEST]] if part.intent in DATA else []
    asked = [unit for text in said for unit in protocol.units(turn.project, text, MOST_ASKED)]
    near = [unit for topic in topics for unit in protocol.units(turn.project, topic, MOST_BESIDE)]
    near = [*asked, *near]
    known = {unit.text for unit in found}
    return [*found, *(unit for unit in dict.fromkeys(near) if unit.text not in known)]


def _of_tool(result: ToolResult) -> Iterator[Line]:
    """What a tool told, line by line, each with the facts that it holds."""
    for text in result.lines if result.has_data and not result.passages else ():
        own = tuple(_fact(fact) for fact in result.facts if fact.value in text)
        yield Line("", Source.FACT, " ".join(text.split()), own)


def _fact(fact: ToolFact) -> Fact:
    kind = Kind.VALUE if fact.record_id else Kind.PROJECT
    label = fact.names[0] if fact.names else fact.field
    return Fact(
        "",
        kind,
        fact.record_id,
        fact.field,
        label,
        fact.where,
        value=fact.value,
        text=fact.value,
    )

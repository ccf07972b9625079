"""The tool query_study: a StudyQuery that a model wrote, checked as if a stranger had typed it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from engines.tools.context import ToolContext
from engines.tools.results import Fact, Status, ToolResult
from integrations.fields import is_gene
from study import door
from study.facts import Answer, Group, plain
from study.facts import Fact as StudyFact
from study.query.errors import QueryError

NAME = "query_study"
MOST_LINES = 60


def query_study(context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
    """The facts as lines; what is no query comes back with the place and the nearest names."""
    metadata = context.metadata
    genes = [name for name in metadata.fields if is_gene(name, metadata.label(name))]
    try:
        found = door.ask(context.project, context.member, dict(arguments), blinded=genes)
    except QueryError as error:
        near = "、".join(error.nearest)
        told = f"{error.at}: {error.message}" + (f" ({near})" if near else "")
        return ToolResult(NAME, Status.BAD_ARGUMENTS, told)
    lines = [*map(_line, found.facts), *map(_group, found.groups)]
    return ToolResult(
        NAME,
        Status.OK,
        _body(found, lines),
        facts=tuple(facts_of(found)),
        lines=tuple(lines),
        sources=({"kind": "redcap", "what": NAME, "read_at": found.read_at},),
        record_ids=tuple(dict.fromkeys(fact.subject for fact in found.facts if fact.subject)),
        asked=((dict(arguments), found),),
    )


def _body(found: Answer, lines: Sequence[str]) -> dict[str, Any]:
    """What the model reads: the lines, over whom, when, and what is not listed or could not be told."""
    body: dict[str, Any] = {
        "结果": list(lines[:MOST_LINES]) or [_("Nothing was found.")],
        "读取范围": f"{found.basis.subjects} 例",
        "读取时间": found.read_at or "",
    }
    if left := max(len(lines) - MOST_LINES, 0) + found.left_out:
        body["未列出"] = left
    if found.undecided:
        body["无法判断"] = [f"{one.subject} {one.reason}" for one in found.undecided]
    return body


def _line(fact: StudyFact) -> str:
    place = f"{fact.event}#{fact.instance}" if fact.instance else fact.event
    where = " · ".join(filter(None, [fact.subject, fact.label, place, fact.date]))
    return f"{where} = {_value(fact)}"


def _value(fact: StudyFact) -> str:
    text = fact.text or ("" if fact.value is None else str(plain(fact.value)))
    return " ".join(filter(None, [text or _("not filled in"), fact.unit, *sorted(fact.flags)]))


def _group(group: Group) -> str:
    by = " · ".join(str(plain(value)) for value in group.by)
    return f"{by} = {plain(group.value)} ({', '.join(group.subjects)})"


def facts_of(found: Answer) -> Iterator[Fact]:
    """What an answer may say: values with whom and what they belong to, figures of groups."""
    for fact in found.facts:
        text = fact.text or ("" if fact.value is None else str(plain(fact.value)))
        if text:
            yield Fact(fact.subject, fact.field, (fact.label,), text, fact.event)
    for group in found.groups:
        yield Fact("", "group", tuple(str(plain(v)) for v in group.by), str(plain(group.value)))

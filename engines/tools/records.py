"""The tool read_clinical_data: one subject's values with labels, units, event, instance and time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from engines.tools import notes
from engines.tools.context import ToolContext
from engines.tools.fields import FieldNames, Resolved, field_names, telling_words
from engines.tools.reading import Pair, Reading, named_by, where
from engines.tools.repeating import counted, groups_of
from engines.tools.results import MORE, Fact, Group, Status, ToolResult
from projects.records import RecordData
from study import door

NAME = "read_clinical_data"
MOST_VALUES = 60
OVERVIEW = 24


def read_clinical_data(context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
    """Read one subject. Absent and "not yours" are the same (E43); "7" is not "007" (E10)."""
    record_id = str(arguments["record_id"]).strip()
    names = field_names(context.metadata, context.aliases)
    asked = arguments.get("fields") or ()
    wanted, strange = _wanted(names, asked)
    found = door.records_for(context.project, context.member, context.metadata, [record_id])
    if not found:
        return ToolResult(NAME, Status.NOT_FOUND, not_found())
    return describe(context, names, found[0], wanted if asked else None, strange)


def not_found() -> str:
    """The one wording for "does not exist" and "not yours" (design.md 9.7)."""
    return _("There is no such subject, or you have no right to see it. Please check the number.")


def _wanted(names: FieldNames, asked: Sequence[str]) -> tuple[list[str], list[Resolved]]:
    """Fields, and the names that are none."""
    resolved = [names.resolve(str(name)) for name in asked]
    wanted = [field for item in resolved for field in item.fields]
    return list(dict.fromkeys(wanted)), [item for item in resolved if not item.fields]


def describe(
    context: ToolContext,
    names: FieldNames,
    data: RecordData,
    wanted: Sequence[str] | None,
    strange: Sequence[Resolved] = (),
) -> ToolResult:
    """A reading as a result; `wanted` None: an overview, []: nothing that was asked for exists.

    A name that is no field (`strange`) may be a value: 皮疹 is an adverse event.
    """
    reading = Reading(context, names, data)
    told = {item.asked: reading.fields_with(item.asked) for item in strange}
    advice = [_advice(context, item) for item in strange if not told[item.asked]]
    if wanted is None:
        spoken = (reading.fields_with(word) for word in telling_words(context.question))
        wanted = [name for fields in spoken for name in fields] or None
    if wanted is None:
        return _result(reading, _overview(reading.values), [], (), [])
    wanted = list(dict.fromkeys([*wanted, *(name for fields in told.values() for name in fields)]))
    groups = groups_of(reading, wanted)
    named = named_by(context.metadata)
    columns = {name for group in groups for name, _label in group.columns}
    fields = {*wanted, *columns, *(named[group.form] for group in groups)}
    shown = [pair for pair in reading.values if pair[1].field in fields]
    return _result(reading, shown, groups, wanted, advice)


def _advice(context: ToolContext, item: Resolved) -> str:
    if notes.is_withheld(item.asked, context.gate):
        return notes.withheld(item.asked)
    return item.advice


def _result(
    reading: Reading,
    shown: list[Pair],
    groups: Sequence[Group],
    wanted: Sequence[str],
    advice: Sequence[str],
) -> ToolResult:
    context, data = reading.context, reading.data
    cut, shown = len(shown) > MOST_VALUES, shown[:MOST_VALUES]
    facts = tuple(reading.fact(row, value) for row, value in shown)
    found = {value.field for _row, value in shown}
    about = list(notes.of_fields(context, data, wanted, found))
    must = (*advice, *(note.text for note in about if note.must))
    rest = tuple(note.text for note in about if not note.must)
    complete = data.complete and not (cut and wanted)
    body = _body(reading, shown, groups, (*must, *rest))
    if not complete:
        body["完整"] = False
    if not (wanted or advice) and len(shown) < len(reading.values):
        body[MORE] = _("more values were not read out")
    plain = [fact for fact in facts if not any(fact in e.facts for g in groups for e in g.entries)]
    return ToolResult(
        NAME,
        Status.OK if complete else Status.INCOMPLETE,
        body,
        facts=(*facts, *(counted(group) for group in groups)),
        blocks=(*must, *rest),
        lines=_lines(data.record_id, plain, rest),
        groups=tuple(groups),
        unsaid=must,
        sources=({"kind": "redcap", "record_id": data.record_id, "read_at": body["读取时间"]},),
        record_ids=(data.record_id,),
        blank=_blank(reading.names, wanted, facts),
    )


def _body(
    reading: Reading, shown: Sequence[Pair], groups: Sequence[Group], said: Sequence[str]
) -> dict[str, Any]:
    body: dict[str, Any] = {
        "record_id": reading.data.record_id,
        "values": _grouped(reading, shown),
        "读取时间": reading.context.clock(reading.data.read_at),
    }
    if groups:
        body["条数"] = {group.label: len(group.entries) for group in groups}
    if said:
        body["说明"] = list(said)
    return body


def _overview(
    every: Sequence[Pair],
) -> list[Pair]:
    """The first value of each field outside of repeating forms, then what repeating forms are named by."""
    first: dict[str, Pair] = {}
    named: dict[tuple[str, int | None], Pair] = {}
    for row, value in every:
        if row.instance is None:
            first.setdefault(value.field, (row, value))
        else:
            named.setdefault((row.instrument, row.instance), (row, value))
    status = [pair for field, pair in first.items() if "status" in field or "enrol" in field]
    rest = [pair for pair in first.values() if pair not in status]
    return [*status, *rest][:OVERVIEW] + list(named.values())[:4]


def _blank(names: FieldNames, wanted: Sequence[str], facts: Sequence[Fact]) -> tuple[str, ...]:
    found = {fact.field for fact in facts}
    return tuple(n for field in wanted if field not in found for n in names.names.get(field, ()))


def _grouped(reading: Reading, shown: Sequence[Pair]) -> dict[str, dict[str, str]]:
    grouped: dict[str, dict[str, str]] = {}
    for row, value in shown:
        place = grouped.setdefault(where(row), {})
        key = value.label if value.label not in place else f"{value.label} ({value.field})"
        place[key] = reading.text(value)
    return grouped


def _lines(record_id: str, facts: Sequence[Fact], said: Sequence[str]) -> tuple[str, ...]:
    """`P001 入组日期:2026-02-05`; a field with several values is one line with their places."""
    by_field: dict[str, list[Fact]] = {}
    for fact in facts:
        by_field.setdefault(fact.field, []).append(fact)
    lines = [f"{record_id} {same[0].names[0]}:{_told(same)}" for same in by_field.values()]
    return (*lines, *(f"{record_id} {note}" for note in said))


def _told(same: Sequence[Fact]) -> str:
    if len(same) == 1:
        return same[0].value
    first = [fact.where.split(" ")[0] for fact in same]
    short = len(set(first)) == len({fact.where for fact in same}) and "#" not in same[0].where
    return "、".join(
        f"{place if short else fact.where} {fact.value}"
        for place, fact in zip(first, same, strict=True)
    )

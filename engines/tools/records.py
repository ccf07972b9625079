"""The tool read_clinical_data: one subject's values with labels, units, event, instance and time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from engines.tools.context import ToolContext
from engines.tools.fields import FieldNames
from engines.tools.results import Fact, Status, ToolResult
from integrations.identifiers import identifies
from projects.display import DisplayRow, DisplayValue, display_rows
from projects.records import RecordData, read_record

NAME = "read_clinical_data"
MOST_VALUES = 60
OVERVIEW = 24
MOST_TEXT = 400


def read_clinical_data(context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
    """Read one subject. Absent and "not yours" are the same (E43); "7" is not "007" (E10)."""
    record_id = str(arguments["record_id"]).strip()
    names = FieldNames(context.metadata, context.aliases)
    asked = arguments.get("fields") or ()
    wanted, advice = _wanted(names, asked)
    data = read_record(project=context.project, record_id=record_id, member=context.member)
    if data is None:
        return ToolResult(NAME, Status.NOT_FOUND, not_found())
    return describe(context, names, data, wanted if asked else None, advice)


def not_found() -> str:
    """The one wording for "does not exist" and "not yours" (design.md 9.7)."""
    return _("There is no such subject, or you have no right to see it. Please check the number.")


def _wanted(names: FieldNames, asked: Sequence[str]) -> tuple[list[str], list[str]]:
    resolved = [names.resolve(str(name)) for name in asked]
    wanted = [field for item in resolved for field in item.fields]
    return list(dict.fromkeys(wanted)), [item.advice for item in resolved if not item.fields]


def describe(
    context: ToolContext,
    names: FieldNames,
    data: RecordData,
    wanted: Sequence[str] | None,
    advice: Sequence[str] = (),
) -> ToolResult:
    """A reading as a result; `wanted` None: an overview, []: nothing that was asked for exists."""
    every = list(_values(context, display_rows(context.metadata, data.rows)))
    is_overview, wanted = wanted is None, wanted or ()
    shown = _overview(every) if is_overview else [p for p in every if p[1].field in wanted]
    notes = [*advice, *_notes(context, data, wanted, {value.field for _row, value in shown})]
    cut = not is_overview and len(shown) > MOST_VALUES
    shown = shown[:MOST_VALUES]
    facts = tuple(_fact(context, names, data.record_id, row, value) for row, value in shown)
    complete = data.complete and not cut
    body: dict[str, Any] = {
        "record_id": data.record_id,
        "values": _grouped(shown),
        "读取时间": context.clock(data.read_at),
    }
    if not complete:
        body["完整"] = False
    if notes:
        body["说明"] = notes
    if len(shown) < len(every) and is_overview:
        body["其他"] = _("more values were not read out")
    return ToolResult(
        NAME,
        Status.OK if complete else Status.INCOMPLETE,
        body,
        facts=facts,
        blocks=tuple(notes),
        lines=_lines(data.record_id, facts, notes),
        sources=({"kind": "redcap", "record_id": data.record_id, "read_at": body["读取时间"]},),
        record_ids=(data.record_id,),
        blank=_blank(names, wanted, facts),
        secrets=_secrets(context, data),
    )


def _values(
    context: ToolContext, rows: Iterable[DisplayRow]
) -> Iterator[tuple[DisplayRow, DisplayValue]]:
    for row in rows:
        for value in row.values:
            hidden = value.identifier or context.gate.drops(value.field, value.label)
            if not hidden and not value.field.endswith("_complete"):
                yield row, value


def _overview(
    every: list[tuple[DisplayRow, DisplayValue]],
) -> list[tuple[DisplayRow, DisplayValue]]:
    """The first value of each field outside of repeating forms, then what repeating forms are named by."""
    first: dict[str, tuple[DisplayRow, DisplayValue]] = {}
    named: dict[tuple[str, int | None], tuple[DisplayRow, DisplayValue]] = {}
    for row, value in every:
        if row.instance is None:
            first.setdefault(value.field, (row, value))
        else:
            named.setdefault((row.instrument, row.instance), (row, value))
    status = [pair for field, pair in first.items() if "status" in field or "enrol" in field]
    rest = [pair for pair in first.values() if pair not in status]
    return [*status, *rest][:OVERVIEW] + list(named.values())[:4]


def _notes(
    context: ToolContext, data: RecordData, wanted: Sequence[str], found: set[str]
) -> Iterator[str]:
    """What was asked for and can't be told, with the reason: blank, not exported, an identifier."""
    missing = {column.partition("___")[0] for column in data.missing_columns}
    for field in (name for name in wanted if name != context.metadata.record_id_field):
        label = context.metadata.label(field)
        if field in context.metadata.identifier_fields or context.gate.drops(field, label):
            yield _("%(label)s is not shown by the assistant; please look it up in REDCap") % {
                "label": label
            }
        elif field in missing:
            yield _("%(label)s could not be read") % {"label": label}
        elif field not in found:
            yield _("%(label)s is not filled in") % {"label": label}


def _blank(names: FieldNames, wanted: Sequence[str], facts: Sequence[Fact]) -> tuple[str, ...]:
    found = {fact.field for fact in facts}
    return tuple(n for field in wanted if field not in found for n in names.names.get(field, ()))


def _where(row: DisplayRow) -> str:
    place = row.event_label or row.event
    if row.instance is None:
        return place
    return f"{place} {row.instrument_label or row.instrument} #{row.instance}".strip()


def shown_text(value: DisplayValue) -> str:
    """A value with its unit, long notes cut."""
    text = value.text if len(value.text) <= MOST_TEXT else f"{value.text[:MOST_TEXT]}…"
    return f"{text} {value.unit}".strip()


def _grouped(shown: Sequence[tuple[DisplayRow, DisplayValue]]) -> dict[str, dict[str, str]]:
    grouped: dict[str, dict[str, str]] = {}
    for row, value in shown:
        place = grouped.setdefault(_where(row), {})
        key = value.label if value.label not in place else f"{value.label} ({value.field})"
        place[key] = shown_text(value)
    return grouped


def _fact(
    context: ToolContext, names: FieldNames, record_id: str, row: DisplayRow, value: DisplayValue
) -> Fact:
    choices = context.metadata.choices(value.field)
    taken = set(value.raw.split(","))
    return Fact(
        record_id=record_id,
        field=value.field,
        names=(value.label, *names.names.get(value.field, ())),
        value=shown_text(value),
        where=_where(row),
        others=tuple(label for code, label in choices.items() if code not in taken),
    )


def _lines(record_id: str, facts: Sequence[Fact], notes: Sequence[str]) -> tuple[str, ...]:
    """`P001 入组日期:2026-02-05`; the place is named where a field has several values."""
    several = {f.field for f in facts if sum(g.field == f.field for g in facts) > 1}
    lines = []
    for fact in facts:
        place = f"({fact.where})" if fact.field in several else ""
        lines.append(f"{record_id} {fact.names[0]}{place}:{fact.value}")
    return (*lines, *(f"{record_id} {note}" for note in notes))


def _secrets(context: ToolContext, data: RecordData) -> tuple[str, ...]:
    """Identifier values of this reading: the stored roster may not know them yet."""
    known = context.metadata
    hidden = {name for name in known.fields if identifies(name, known.label(name))}
    fields = (known.identifier_fields | hidden) - {known.record_id_field}
    coded = {name for name in fields if known.choices(name)}
    found = {str(row.get(field, "")).strip() for row in data.rows for field in fields - coded}
    return tuple(sorted(value for value in found if len(value) > 1))

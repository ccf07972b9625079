"""One subject as read, ready for being told: labels, units, places, free text without identifiers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from django.utils.translation import gettext as _

from engines.tools.context import ToolContext
from engines.tools.fields import FieldNames
from engines.tools.results import Fact
from integrations.privacy import PLACEHOLDER, Gate
from integrations.redcap import Row
from integrations.scripts import normalise
from projects.display import DisplayRow, DisplayValue, display_rows
from projects.metadata import StudyMetadata
from projects.records import RecordData

MOST_TEXT = 400
_NAMED_BY = re.compile(r"\[([a-z0-9_]+)\]")
_TYPED = ("text", "notes")

Pair = tuple[DisplayRow, DisplayValue]


@dataclass(frozen=True)
class Reading:
    """The values of one subject that may be told."""

    context: ToolContext
    names: FieldNames
    data: RecordData

    @cached_property
    def by_row(self) -> list[tuple[Row, list[Pair]]]:
        """Each row of REDCap with its values."""
        return [(row, list(self._of_row(row))) for row in self.data.rows]

    @cached_property
    def values(self) -> list[Pair]:
        """All values in the order of REDCap."""
        return [pair for _row, pairs in self.by_row for pair in pairs]

    def _of_row(self, row: Row) -> Iterator[Pair]:
        metadata = self.context.metadata
        shown = next(iter(display_rows(metadata, [row])), None)
        for value in shown.values if shown else ():
            if not self._hides(value.field, identifier=value.identifier):
                yield shown or _place(metadata, row), value
        for name in _unticked(metadata, row):
            if not self._hides(name, identifier=name in metadata.identifier_fields):
                none = DisplayValue(name, metadata.label(name), "", _("none ticked"), "", False)
                yield shown or _place(metadata, row), none

    def _hides(self, name: str, *, identifier: bool) -> bool:
        label = self.context.metadata.label(name)
        return identifier or name.endswith("_complete") or self.context.gate.drops(name, label)

    def fields_with(self, word: str) -> list[str]:
        """Fields of the repeating forms in which an instance has this word in its name."""
        metadata = self.context.metadata
        return [
            name
            for form, naming in named_by(metadata).items()
            if any(value.field == naming and word in value.text for _row, value in self.values)
            for name in self.names.form_fields(form)
        ]

    def fact(self, row: DisplayRow, value: DisplayValue) -> Fact:
        """A value as a fact with its place, and the choices that were not taken."""
        metadata = self.context.metadata
        taken = set(value.raw.split(","))
        choices = metadata.choices(value.field)
        return Fact(
            record_id=self.data.record_id,
            field=value.field,
            names=(value.label, *self.names.names.get(value.field, ())),
            value=self.text(value),
            where=where(row),
            others=tuple(label for code, label in choices.items() if code not in taken),
        )

    def text(self, value: DisplayValue) -> str:
        """A value with its unit; what people typed is masked, long notes are cut, a visit to come is
        said to be planned."""
        text = value.text
        if self.context.is_to_come(value.field, value.raw):
            return f"{text} ({_('planned, not done yet')})"
        if self.context.metadata.fields.get(value.field, {}).get("field_type") in _TYPED:
            text = masked(self.context.gate, text)
        text = text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}…"
        return f"{text} {value.unit}".strip()


def masked(gate: Gate, text: str) -> str:
    """Typed text with its identifiers as `[电话]`: nobody is shown them, not even who typed them before."""
    clean = gate.text(text)
    return text if clean == normalise(text) else PLACEHOLDER.sub(lambda hit: f"[{hit[1]}]", clean)


def where(row: DisplayRow) -> str:
    """The event, of a repeating form its instance, too."""
    place = row.event_label or row.event
    if row.instance is None:
        return place
    return f"{place} {row.instrument_label or row.instrument} #{row.instance}".strip()


def _place(metadata: StudyMetadata, row: Row) -> DisplayRow:
    event, form = (
        str(row.get("redcap_event_name", "")),
        str(row.get("redcap_repeat_instrument", "")),
    )
    number = row.get("redcap_repeat_instance", "")
    instance = number if isinstance(number, int) else None
    label = metadata.form_label(form)
    return DisplayRow(event, metadata.event_label(event), form, label, instance, ())


def _unticked(metadata: StudyMetadata, row: Row) -> Iterator[str]:
    """Checkboxes without a tick on a form that has a status (contracts.md, check_rules, blanks)."""
    for name, field in metadata.fields.items():
        if field["field_type"] != "checkbox" or not started(row, str(field["form_name"])):
            continue
        boxes = [column for column, (own, _code) in metadata.columns.items() if own == name]
        told = [str(row[column]).strip() for column in boxes if column in row]
        if len(told) == len(boxes) > 0 and set(told) <= {"0"}:
            yield name


def started(row: Row, form: str) -> bool:
    """Whether somebody saved a form there: its status is not blank."""
    return bool(str(row.get(f"{form}_complete", "")).strip())


def named_by(metadata: StudyMetadata) -> Mapping[str, str]:
    """Repeating form -> the field its instances are called by: REDCap's own label, else the first field."""
    found: dict[str, str] = {}
    for row in metadata.repeating:
        form = str(row.get("form_name") or "")
        fields = [name for name, own in metadata.fields.items() if own["form_name"] == form]
        told = _NAMED_BY.findall(str(row.get("custom_form_label") or ""))
        named = next((name for name in told if name in fields), None)
        if fields:
            found[form] = named or fields[0]
    return found

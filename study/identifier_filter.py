"""What may be kept of a subject: no identifier, of the date of birth the age at consent in years."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from core.privacy import dates
from core.rules.redcap.dates import age
from projects.models import Project
from study.design import age_fields, identifying
from study.metadata import StudyMetadata, cache_by_dictionary
from study.records import RecordData

AGE = "@age"
_DIGITS = 5


class IdentifierFilter:
    """Takes what identifies people out of the rows of one study; its settings are read once."""

    def __init__(self, project: Project, metadata: StudyMetadata) -> None:
        self.metadata = metadata
        self.hidden = hidden_columns(metadata)
        self._typed = typed_columns(metadata)
        self._zone = project.timezone
        self._birth, self._consent = age_fields(project, metadata)

    def record(self, data: RecordData) -> RecordData:
        """The subject with its rows as `rows` gives them."""
        return replace(data, rows=tuple(self.rows(data)))

    def rows(self, data: RecordData) -> list[dict[str, Any]]:
        """The rows of a subject without identifiers, with the age at consent in the first.

        What identifies the subject is masked in what people typed elsewhere, too: `[姓名]入院`.
        """
        own = _identifiers(self.metadata, data.rows)
        typed = self._typed if own else frozenset()
        days = _days(own)
        rows: list[dict[str, Any]] = [
            {
                name: _masked(str(value), own, days) if name in typed else value
                for name, value in row.items()
                if name not in self.hidden
            }
            for row in data.rows
        ]
        years = self._age(data)
        if rows and years is not None:
            rows[0][AGE] = str(years)
        return rows

    def text(self, text: str, identifiers: Mapping[str, str]) -> str:
        """What people wrote about a subject elsewhere; `identifiers`: as `Subject.identifiers` keeps them."""
        rows = [{name.partition("#")[0]: value} for name, value in identifiers.items()]
        own = _identifiers(self.metadata, rows)
        return _masked(text, own, _days(own))

    def _age(self, data: RecordData) -> int | None:
        """Completed years at consent (contracts.md, age_at)."""
        birth, consent = (data.day(name, self._zone) for name in (self._birth, self._consent))
        return None if birth is None or consent is None else age(birth, consent)


@cache_by_dictionary
def hidden_columns(metadata: StudyMetadata) -> frozenset[str]:
    """Export columns of the fields that identify a person; REDCap names those of files nowhere."""
    hidden = identifying(metadata)
    columns = {**metadata.columns, **metadata.code_columns}
    return hidden | {column for column, (name, _code) in columns.items() if name in hidden}


@cache_by_dictionary
def typed_columns(metadata: StudyMetadata) -> frozenset[str]:
    """Fields in which people write what they like."""
    validated = "text_validation_type_or_show_slider_number"
    return frozenset(
        name
        for name, row in metadata.fields.items()
        if row.get("field_type") in ("text", "notes") and not row.get(validated)
    )


def _identifiers(metadata: StudyMetadata, rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What was answered to identifying fields -> what stands for it; choices say nothing of a person.

    Nor does a number of a few digits, such as the year of a birth: it may be anything's.
    """
    fields = [n for n in identifying(metadata) if n in metadata.fields and not metadata.choices(n)]
    told = ((str(row.get(name, "")).strip(), name) for row in rows for name in fields)
    found = {
        value: f"[{metadata.label(name)}]"
        for value, name in told
        if len(value) > 1 and not (value.isdigit() and len(value) < _DIGITS)
    }
    return dict(sorted(found.items(), key=lambda pair: -len(pair[0])))


def _days(own: Mapping[str, str]) -> dict[date, str]:
    return {day: mark for one, mark in own.items() for _start, _end, day in dates.days(one)}


def _masked(text: str, own: Mapping[str, str], days: Mapping[date, str]) -> str:
    """Without the identifiers, a day in whatever spelling."""
    found = dates.days(text) if days else ()
    spelled = {text[start:end]: days[day] for start, end, day in found if day in days}
    for identifier, mark in {**own, **spelled}.items():
        text = text.replace(identifier, mark)
    return text

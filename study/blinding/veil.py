"""What a reader of a blinded study does not see, for rows and for texts; nothing at all in an open one."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from integrations.redcap import Row
from integrations.redcap.export import EVENT, INSTANCE
from privacy.veiled_words import masked, pattern
from projects.models import Member, Project
from projects.scoping import User, memberships
from study import readings
from study.blinding.closure import closed, columns_of, hidden_forms
from study.caches import cache_by_dictionary
from study.dictionary import load
from study.metadata import StudyMetadata
from study.models import BlindedField, CodeBreak
from study.records import RecordData
from study.stripping import typed_columns

Kind = BlindedField.Kind
_FORM = "redcap_repeat_instrument"
_TELLING = frozenset({Kind.ARM, Kind.RANDOMISATION, Kind.KIT})
"""Kinds whose values people write into notes; what a lab gives is a number like any other."""


@dataclass(frozen=True)
class Veil:
    """`fields`: those hidden from the reader, but of the subjects in `opened`; `words`: masked in free text.

    `numbers`: the fields whose values are masked in texts by their shape.
    """

    metadata: StudyMetadata | None = None
    fields: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    opened: frozenset[str] = frozenset()

    def hidden(self, subjects: Collection[str] | None = None) -> frozenset[str]:
        """Fields that a question about `subjects` (None: all) must not name."""
        if subjects and self.opened.issuperset(subjects):
            return frozenset()
        return self.fields

    def records(self, read: Sequence[RecordData]) -> list[RecordData]:
        """The subjects as the reader sees them."""
        return [self.record(data) for data in read]

    def record(self, data: RecordData) -> RecordData:
        """One subject as the reader sees it: in the order of the study, whatever the export's was."""
        metadata = self.metadata
        if metadata is None or data.record_id in self.opened:
            return data
        hidden = columns_of(metadata, self.fields)
        found = self._pattern(data.rows)
        typed = typed_columns(metadata)
        forms = hidden_forms(metadata, self.fields)
        rows: list[Row] = [
            {
                name: masked(str(value), found) if name in typed else value
                for name, value in row.items()
                if name not in hidden
            }
            for row in data.rows
            if row.get(_FORM) not in forms
        ]
        missing = tuple(name for name in data.missing_columns if name not in hidden)
        return replace(
            data,
            rows=tuple(sorted(rows, key=_order(metadata))),
            missing_columns=missing,
            complete=data.complete or not missing,
        )

    def text(self, text: str) -> str:
        """A text as the reader sees it."""
        return masked(text, self._pattern(())) if self.metadata else text

    def _pattern(self, rows: Sequence[Row]) -> re.Pattern[str] | None:
        """Numbers that nobody has stored yet are known by the subject's own rows."""
        own = {str(row[name]).strip() for row in rows for name in self.numbers & row.keys()}
        return pattern(self.words, self.known | own)


OPEN = Veil()


def of_member(project: Project, member: Member | None) -> Veil:
    """What a member is not shown; nothing is kept from the house itself (None), from rules and jobs."""
    if project.blinded_since is None or member is None:
        return OPEN
    if member.is_unblinded and member.project_id == project.pk:
        return OPEN
    broken = CodeBreak.objects.filter(project=project, member=member.pk)
    return replace(of_all(project), opened=frozenset(broken.values_list("record_id", flat=True)))


def of_user(project: Project, user: User) -> Veil:
    """What a console user is not shown; a superuser who is no unblinded member is blinded, too."""
    if project.blinded_since is None:
        return OPEN
    held = memberships(user).filter(project=project).first()
    return of_member(project, held) if held else of_all(project)


def of_all(project: Project) -> Veil:
    """What is kept from everybody in what is written for all: of whom nobody may learn."""
    if project.blinded_since is None:
        return OPEN
    rows = [*BlindedField.objects.filter(project=project)]
    metadata = load(project)
    telling = [row for row in rows if row.kind in _TELLING]
    numbers = frozenset(row.field for row in telling if not metadata.choices(row.field))
    labels = {label for row in telling for label in metadata.choices(row.field).values()}
    labels |= {word for row in rows for word in row.words.splitlines() if word.strip()}
    values = readings.values_of_members(project, None, numbers)
    return Veil(
        metadata,
        closed(metadata, frozenset(row.field for row in rows)),
        numbers,
        frozenset(label.strip() for label in labels),
        frozenset(value.strip() for found in values.values() for value in found),
    )


def _order(metadata: StudyMetadata) -> Any:
    places = _events(metadata)
    return lambda row: (
        places.get(str(row.get(EVENT, "")), -1),
        str(row.get(_FORM, "")),
        int(row.get(INSTANCE) or 0),
    )


@cache_by_dictionary
def _events(metadata: StudyMetadata) -> dict[str, int]:
    return {str(row["unique_event_name"]): place for place, row in enumerate(metadata.events)}

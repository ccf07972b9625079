"""Which fields tell what the blinded ones hold: by branching, calculation or annotation."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.integrations.redcap import Row
from core.integrations.redcap.export import EVENT, INSTANCE
from core.privacy.veiled_words import masked, pattern
from projects.models import Member, Project
from projects.scoping import User, memberships
from study import readings, registry
from study.dictionary import load, stored
from study.identifier_filter import typed_columns
from study.metadata import StudyMetadata, cache_by_dictionary, hidden_forms
from study.models import BlindedField, CodeBreak
from study.records import RecordData


@cache_by_dictionary
def telling_fields(metadata: StudyMetadata, fields: frozenset[str]) -> frozenset[str]:
    """`fields` with every field that is shown, worked out or filled in from one of them."""
    reads = {name: _reads(row) for name, row in metadata.fields.items()}
    found = set(fields)
    while more := {name for name, read in reads.items() if name not in found and read & found}:
        found |= more
    return frozenset(found)


@cache_by_dictionary
def columns_of(metadata: StudyMetadata, fields: frozenset[str]) -> frozenset[str]:
    """Export columns of the fields, with the status of a form of which nothing else is left."""
    forms = hidden_forms(metadata, fields)
    hidden = fields | {f"{form}_complete" for form in forms}
    columns = {**metadata.columns, **metadata.code_columns}
    of_fields = {column for column, (name, _code) in columns.items() if name in hidden}
    return frozenset(of_fields | hidden)


def _reads(row: Mapping[str, Any]) -> set[str]:
    """The fields that a field's logic names in brackets: all, also where it can't be understood."""
    texts = [row.get("branching_logic"), row.get("field_annotation")]
    if row.get("field_type") == "calc":
        texts.append(row.get("select_choices_or_calculations"))
    parts = (part for text in texts for part in str(text or "").split("[")[1:])
    return {re.split(r"[](:]", part, maxsplit=1)[0].strip() for part in parts}


Kind = BlindedField.Kind
_FORM = "redcap_repeat_instrument"
_TELLING = frozenset({Kind.ARM, Kind.RANDOMISATION, Kind.KIT})
"""Kinds whose values people write into notes; what a lab gives is a number like any other."""


@dataclass(frozen=True)
class Mask:
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
        places = {event: place for place, event in enumerate(metadata.arms)}

        def order(row: Row) -> tuple[int, str, int]:
            event, form = str(row.get(EVENT, "")), str(row.get(_FORM, ""))
            return places.get(event, -1), form, int(row.get(INSTANCE) or 0)

        missing = tuple(name for name in data.missing_columns if name not in hidden)
        return replace(
            data,
            rows=tuple(sorted(rows, key=order)),
            missing_columns=missing,
            complete=not missing and data.is_known if data.missing_columns else data.complete,
        )

    def text(self, text: str) -> str:
        """A text as the reader sees it."""
        return masked(text, self._pattern(())) if self.metadata else text

    def _pattern(self, rows: Sequence[Row]) -> re.Pattern[str] | None:
        """Numbers that nobody has stored yet are known by the subject's own rows."""
        own = {str(row[name]).strip() for row in rows for name in self.numbers & row.keys()}
        return pattern(self.words, self.known | own)


OPEN = Mask()


def mask_of_member(project: Project, member: Member | None) -> Mask:
    """What a member is not shown; nothing is kept from the house itself (None), from rules and jobs."""
    if project.blinded_since is None or member is None:
        return OPEN
    if member.is_unblinded and member.project_id == project.pk:
        return OPEN
    broken = CodeBreak.objects.filter(project=project, member=member.pk)
    return replace(
        mask_for_all(project), opened=frozenset(broken.values_list("record_id", flat=True))
    )


def mask_of_user(project: Project, user: User) -> Mask:
    """What a console user is not shown; a superuser who is no unblinded member is blinded, too."""
    if project.blinded_since is None:
        return OPEN
    held = memberships(user).filter(project=project).first()
    return mask_of_member(project, held) if held else mask_for_all(project)


def mask_for_all(project: Project) -> Mask:
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
    return Mask(
        metadata,
        telling_fields(metadata, frozenset(row.field for row in rows)),
        numbers,
        frozenset(label.strip() for label in labels),
        frozenset(value.strip() for found in values.values() for value in found),
    )


def unnamed_for(project: Project, user: User) -> frozenset[str]:
    """The columns that no list of the study's fields names to a console user."""
    mask = mask_of_user(project, user)
    return columns_of(mask.metadata, mask.hidden()) if mask.metadata else frozenset()


def unnamed_for_all(project: Project) -> frozenset[str]:
    """The same of what is written without knowing for whom."""
    if project.blinded_since is None or stored(project) is None:
        return frozenset()
    metadata, rows = load(project), BlindedField.objects.filter(project=project)
    fields = frozenset(rows.values_list("field", flat=True))
    return columns_of(metadata, telling_fields(metadata, fields))


def known_to_all(project: Project, fields: Collection[str]) -> frozenset[str]:
    """Of the study's fields those that may date what everybody sees: visits, enrolment, withdrawal."""
    return frozenset(fields) - unnamed_for_all(project)


def names_blinded(project: Project, config: Any) -> bool:
    """By its name, an export column of it or a mapped name, anywhere in the configuration."""
    found = mask_for_all(project)
    if found.metadata is None:
        return False
    names = columns_of(found.metadata, found.fields)
    mapped = {alias for alias, name in registry.aliases(project).items() if name in names}
    return not (names | mapped).isdisjoint(_texts_in(config))


def _texts_in(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        for value in part.values():
            yield from _texts_in(value)
    elif isinstance(part, list | tuple):
        for value in part:
            yield from _texts_in(value)

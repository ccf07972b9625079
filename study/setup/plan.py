"""A visit plan proposed from the dictionary: its date fields, with the days that REDCap's events tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from privacy.identifying_fields import identifies
from projects.models import Project
from study import dictionary, proposals
from study.metadata import StudyMetadata

_DATE = "text_validation_type_or_show_slider_number"


@dataclass(frozen=True, slots=True)
class Proposed:
    """One date field that may be a visit's; `day` None where only a person can tell it."""

    field: str
    label: str
    form: str
    event: str = ""
    visit: str = ""
    day: int | None = None
    minus: int = 0
    plus: int = 0


def proposed(project: Project) -> list[Proposed]:
    """Date fields of the study, one for each event that asks it; those of the stored plan are left out.

    Raises RedcapError, NotConfiguredError where no dictionary was ever read.
    """
    metadata = dictionary.load(project)
    planned = set(project.visit_plan.values_list("date_field", "event"))
    return [row for row in _rows(metadata) if (row.field, row.event) not in planned]


def anchors(project: Project) -> list[tuple[str, str]]:
    """(field, label) of the dates that days may be counted from."""
    metadata = dictionary.load(project)
    return [(name, metadata.label(name)) for name in _dates(metadata)]


def anchor(project: Project) -> str:
    """The date that days are most likely counted from: enrolment, else consent, else ""."""
    known = dict(anchors(project))
    guesses = (project.enrolment_field, proposals.consent_field(dictionary.load(project)))
    return next((name for name in guesses if name in known), "")


def _dates(metadata: StudyMetadata) -> Iterator[str]:
    for name, row in metadata.fields.items():
        is_date = row["field_type"] == "text" and str(row.get(_DATE) or "").startswith("date")
        label = metadata.label(name)
        hidden = name in metadata.identifier_fields or identifies(name, label)
        if is_date and not hidden and name != proposals.birth_field(metadata):
            yield name


def _rows(metadata: StudyMetadata) -> Iterator[Proposed]:
    events = {str(row["unique_event_name"]): row for row in metadata.events}
    for name in _dates(metadata):
        form, label = str(metadata.fields[name]["form_name"]), metadata.label(name)
        of_form = [str(r["unique_event_name"]) for r in metadata.mapping if r["form"] == form]
        if not of_form:
            yield Proposed(name, label, metadata.form_label(form), visit=label[:64])
        for event in of_form:
            row = events.get(event, {})
            yield Proposed(
                name,
                label,
                metadata.form_label(form),
                event=event,
                visit=str(row.get("event_name") or event)[:64],
                day=_number(row.get("day_offset")),
                minus=_number(row.get("offset_min")) or 0,
                plus=_number(row.get("offset_max")) or 0,
            )


def _number(value: object) -> int | None:
    text = str(value if value is not None else "").strip()
    return int(text) if text.lstrip("-").isdecimal() else None

"""A visit plan proposed from the dictionary: its date fields, with the days that REDCap's events tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from projects.models import Project
from study import dictionary, proposals, record_ids
from study.blinding.mask import known_to_all
from study.identity import Answer
from study.metadata import StudyMetadata
from study.roster import present_ids

_DATE = "text_validation_type_or_show_slider_number"


@dataclass(frozen=True, slots=True)
class Proposed:
    """One date field that may be a visit's; `day` None where only a person can tell it.

    `arm` is "" where the study has one arm only.
    """

    field: str
    label: str
    form: str
    event: str = ""
    visit: str = ""
    day: int | None = None
    minus: int = 0
    plus: int = 0
    arm: str = ""

    @property
    def key(self) -> str:
        """What its boxes are named by."""
        return f"{self.field}@{self.event}"


def proposed_visits(project: Project) -> list[Proposed]:
    """Date fields of the study, one for each event that asks it; without those of the stored plan or blinded.

    Raises RedcapError, NotConfiguredError where no dictionary was ever read.
    """
    metadata = dictionary.load(project)
    planned = set(project.visit_plan.values_list("date_field", "event"))
    told = known_to_all(project, metadata.fields)
    rows = (row for row in _rows(metadata) if row.field in told)
    return [row for row in rows if (row.field, row.event) not in planned]


def anchor_dates(project: Project) -> list[tuple[str, str]]:
    """(field, label) of the dates that days may be counted from."""
    metadata = dictionary.load(project)
    told = known_to_all(project, metadata.fields)
    return [(name, metadata.label(name)) for name in _dates(metadata) if name in told]


def likely_anchor(project: Project) -> str:
    """The date that days are most likely counted from: enrolment, else consent, else ""."""
    known = dict(anchor_dates(project))
    guesses = (project.enrolment_field, proposals.consent_field(dictionary.load(project)))
    return next((name for name in guesses if name in known), "")


def likely_withdrawal(project: Project) -> str:
    """The date field that most likely tells when a subject left: the stored one, else by its label, else ""."""
    known = dict(anchor_dates(project))
    guesses = (project.withdraw_field, proposals.withdrawal_field(dictionary.load(project)))
    return next((name for name in guesses if name in known), "")


def _dates(metadata: StudyMetadata) -> Iterator[str]:
    for name, row in metadata.fields.items():
        is_date = row["field_type"] == "text" and str(row.get(_DATE) or "").startswith("date")
        if is_date and name not in metadata.identifier_fields:
            yield name


def _rows(metadata: StudyMetadata) -> Iterator[Proposed]:
    events = {str(row["unique_event_name"]): row for row in metadata.events}
    has_arms = len({*metadata.arms.values()}) > 1
    for name in _dates(metadata):
        form, label = str(metadata.fields[name]["form_name"]), metadata.label(name)
        held = {str(r["unique_event_name"]) for r in metadata.mapping if r["form"] == form}
        of_form = [event for event in metadata.arms if event in held]
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
                arm=f"arm_{metadata.arms[event]}" if has_arms else "",
            )


def _number(value: object) -> int | None:
    text = str(value if value is not None else "").strip()
    return int(text) if text.lstrip("-").isdecimal() else None


ANSWER = "answer-"


@dataclass(frozen=True, slots=True)
class Doubt:
    """A date that may identify a person, with the answer that was given; "" for none."""

    field: str
    label: str
    form: str
    answer: str


def open_dates(metadata: StudyMetadata) -> list[str]:
    """Dates that wait for an answer, in the order of the dictionary."""
    return [name for name in metadata.identity.asked if name not in metadata.answers]


def doubtful_dates(project: Project) -> list[Doubt]:
    """All dates that are asked about, answered or not. Raises RedcapError, NotConfiguredError."""
    metadata = dictionary.load(project)
    closing = {Answer.BIRTH, Answer.IDENTIFIES}
    answered = [name for name in metadata.fields if metadata.answers.get(name) in closing]
    names = dict.fromkeys([*metadata.identity.asked, *answered])
    return [
        Doubt(
            name,
            metadata.label(name),
            metadata.form_label(str(metadata.fields[name]["form_name"])),
            metadata.answers.get(name, ""),
        )
        for name in names
    ]


def id_pattern(project: Project) -> str:
    """The stored pattern of ids, else the proposed one."""
    return project.record_id_pattern or record_ids.proposed_pattern(present_ids(project))


def answers_in(data: Mapping[str, str], project: Project) -> dict[str, str]:
    """What was answered in the form, of the dates that were asked: field -> Answer."""
    asked = {row.field for row in doubtful_dates(project)}
    given = {name: data.get(f"{ANSWER}{name}", "") for name in asked}
    return {name: said for name, said in given.items() if said in Answer.values}

"""How a study stands: enrolled, safety, labs beyond limits, visits; one count for home, reports and chat.

The queries are StudyQueries, so that site, blinding and doubt are those of `study.door`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from core.house import clock
from projects.models import Member, Project
from study import door, proposals
from study.design import StudyDesign
from study.facts import Answer, json_value
from study.visits import due

Query = Mapping[str, Any]
ENROLLED: dict[str, Any] = {"field": "@enrolled", "op": "filled"}
_COUNT = {"aggregate": "count"}


@dataclass(frozen=True, slots=True)
class Beyond:
    """Subjects beyond a limit, and what that rests on.

    `fields` have limits, `without`: measured fields without, which were not compared; `undecided`: subjects.
    """

    subjects: tuple[str, ...]
    fields: int
    without: int
    undecided: int


@dataclass(frozen=True, slots=True)
class StudyFigures:
    """What a reader may know of a study as last read; `adverse`, `serious`: how many events by subject.

    `beyond`: subjects whose newest value of some lab lies beyond its limits. None: the dictionary has no such
    field, or the reader must not learn of it. `site_names`: code -> name.
    """

    enrolled: int | None
    target: int
    subjects: int
    sites: Mapping[str, int]
    adverse: Mapping[str, int] | None
    serious: Mapping[str, int] | None
    beyond: Beyond | None
    site_names: Mapping[str, str]
    schedule: due.Schedule = field(repr=False)

    @property
    def share(self) -> int | None:
        """Enrolled of the target in per cent; None without a target."""
        known = self.target and self.enrolled is not None
        return round(100 * (self.enrolled or 0) / self.target) if known else None


def enrolled(last: date | None = None, first: date | None = None) -> dict[str, Any]:
    """How many subjects are enrolled, or were from `first` to `last` (inclusive)."""
    days = [(op, day.isoformat()) for op, day in ((">=", first), ("<=", last)) if day]
    told = [{"field": "@enrolled", "op": op, "value": day} for op, day in days]
    return {"where": told or [ENROLLED], **_COUNT}


def enrolled_between(project: Project, spans: Sequence[tuple[date | None, date]]) -> list[int]:
    """Enrolled in each span as the house itself reads it. Raises as `door.ask_all`."""
    answers = door.ask_all(project, None, [enrolled(last, first) for first, last in spans])
    return [figure_of(answer) for answer in answers]


def enrolled_subjects(project: Project, member: Member | None) -> list[str]:
    """Who is counted by `Standing.enrolled`. Raises as `door.ask_all`."""
    (answer,) = door.ask_all(project, member, [{"where": [ENROLLED]}], fresh=False)
    return [fact.subject for fact in answer.facts]


def study_figures(
    project: Project, member: Member | None, *, blinded: Collection[str] = ()
) -> StudyFigures:
    """How the study stands for `member` (None: the house itself), from what is stored: REDCap is not asked.

    `blinded`: fields that the reader must not learn of, as for `door.ask`. Raises RedcapError or
    NotConfiguredError where nothing was ever read, pydantic.ValidationError for a visit plan that nobody could
    follow.
    """
    designs: list[StudyDesign] = []
    asked: dict[str, Query] = {}

    def questions(design: StudyDesign) -> list[Query]:
        designs.append(design)
        asked.update(_questions(design))
        return [*due.schedule_queries(design), *asked.values()]

    answers = door.ask_all(project, member, questions, blinded=blinded, fresh=False)
    schedule = due.schedule_from(designs[0], clock.today(project.timezone), answers[:2])
    told = dict(zip(asked, answers[2:], strict=True))
    groups = {name: _by(told[name]) for name in ("sites", "adverse", "serious") if name in told}
    return StudyFigures(
        enrolled=figure_of(told["enrolled"]) if "enrolled" in told else None,
        target=project.target_enrolment,
        subjects=figure_of(told["subjects"]),
        sites=groups.get("sites", {}),
        adverse=groups.get("adverse"),
        serious=groups.get("serious"),
        beyond=_beyond_of(designs[0], told["beyond"]) if "beyond" in told else None,
        site_names=designs[0].metadata.sites,
        schedule=schedule,
    )


def figure_of(answer: Answer) -> int:
    """The one figure of an answer; 0 for none."""
    return int(str(json_value(answer.facts[0].value) or 0)) if answer.facts else 0


def _by(answer: Answer) -> dict[str, int]:
    """Of sites the subjects, of subjects the rows (contracts.md, `count`)."""
    return {str(group.by[0] or ""): int(str(group.value or 0)) for group in answer.groups}


def _beyond_of(design: StudyDesign, answer: Answer) -> Beyond:
    limited = [name for name in design.measured if name in design.ranges]
    return Beyond(
        subjects=tuple(fact.subject for fact in answer.facts),
        fields=len(limited),
        without=len(design.measured) - len(limited),
        undecided=len(answer.undecided),
    )


def _questions(design: StudyDesign) -> Iterator[tuple[str, Query]]:
    yield "subjects", _COUNT
    shown = design.context.columns.keys() - design.hidden
    if design.enrolment_field in shown:
        yield "enrolled", enrolled()
        yield "sites", enrolled() | {"by": ["@site"]}
    start, _end, _term = proposals.event_fields(design.metadata)
    if start in shown:
        # The form and not its start: an event without a date is an event.
        form = design.form_of(start)
        yield "adverse", {"select": [form], **_COUNT, "by": ["@subject"]}
    name, yes = design.serious
    if name in shown:
        is_serious = {"field": name, "op": "=", "value": yes}
        yield "serious", {"where": [is_serious], **_COUNT, "by": ["@subject"]}
    limits: list[Query] = []
    for lab in (name for name in design.measured if name in design.ranges):
        newest = {"field": lab, "rows": "latest"}
        for op, side in ((">", "high"), ("<", "low")):
            if any(getattr(one, side) is not None for one in design.ranges[lab]):
                limits.append({"field": newest, "op": op, "value": {"ref": side}})
    if limits:
        yield "beyond", {"where": [{"any": limits}]}

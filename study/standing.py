"""How a study stands: enrolled, safety, labs beyond limits, visits; one count for home, reports and chat.

The queries are StudyQueries, so that site, blinding and doubt are those of `study.door`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from house import clock
from projects.models import Member, Project
from study import door, proposals
from study.design import StudyDesign
from study.facts import Answer, plain
from study.visits import due

Query = Mapping[str, Any]
ENROLLED: dict[str, Any] = {"field": "@enrolled", "op": "filled"}
_COUNT = {"aggregate": "count"}


@dataclass(frozen=True, slots=True)
class Standing:
    """What a reader may know of a study as last read; `adverse`, `serious`: events by subject.

    `beyond`: subjects whose newest value of some lab lies beyond its limits. None: the dictionary has no such
    field, or the reader must not learn of it.
    """

    enrolled: int | None
    target: int
    subjects: int
    sites: Mapping[str, int]
    adverse: Mapping[str, int] | None
    serious: Mapping[str, int] | None
    beyond: tuple[str, ...] | None
    schedule: due.Schedule = field(repr=False)

    @property
    def share(self) -> int | None:
        """Enrolled of the target in per cent; None without a target."""
        known = self.target and self.enrolled is not None
        return round(100 * (self.enrolled or 0) / self.target) if known else None


def enrolled(last: date | None = None, first: date | None = None) -> dict[str, Any]:
    """How many subjects are enrolled, or were from `first` to `last` (inclusive)."""
    days = {">=": first, "<=": last}
    told = [
        {"field": "@enrolled", "op": op, "value": day.isoformat()}
        for op, day in days.items()
        if day
    ]
    return {"where": told or [ENROLLED], **_COUNT}


def enrolled_between(project: Project, spans: Sequence[tuple[date | None, date]]) -> list[int]:
    """Enrolled in each span as the house itself reads it. Raises as `door.ask_all`."""
    answers = door.ask_all(project, None, [enrolled(last, first) for first, last in spans])
    return [number(answer) for answer in answers]


def enrolled_subjects(project: Project, member: Member | None) -> list[str]:
    """Who is counted by `Standing.enrolled`. Raises as `door.ask_all`."""
    (answer,) = door.ask_all(project, member, [{"where": [ENROLLED]}], fresh=False)
    return [fact.subject for fact in answer.facts]


def standing(project: Project, member: Member | None, *, blinded: Collection[str] = ()) -> Standing:
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
        return [*due.questions(design), *asked.values()]

    answers = door.ask_all(project, member, questions, blinded=blinded, fresh=False)
    schedule = due.told(designs[0], clock.today(project.timezone), answers[:2])
    told = dict(zip(asked, answers[2:], strict=True))
    return Standing(
        enrolled=number(told["enrolled"]) if "enrolled" in told else None,
        target=project.target_enrolment,
        subjects=number(told["subjects"]),
        sites=_by(told["sites"]) if "sites" in told else {},
        adverse=_by(told["adverse"]) if "adverse" in told else None,
        serious=_by(told["serious"]) if "serious" in told else None,
        beyond=tuple(f.subject for f in told["beyond"].facts) if "beyond" in told else None,
        schedule=schedule,
    )


def number(answer: Answer) -> int:
    """The one figure of an answer; 0 for none."""
    return int(str(plain(answer.facts[0].value) or 0)) if answer.facts else 0


def _by(answer: Answer) -> dict[str, int]:
    return {str(group.by[0] or ""): group.count for group in answer.groups}


def _questions(design: StudyDesign) -> Iterator[tuple[str, Query]]:
    yield "subjects", _COUNT
    shown = design.context.columns.keys() - design.hidden
    if design.enrolment_field in shown:
        yield "enrolled", enrolled()
        yield "sites", enrolled() | {"by": ["@site"]}
    start, _end, _term = proposals.event_fields(design.metadata)
    if start in shown:
        yield "adverse", {"select": [start], **_COUNT, "by": ["@subject"]}
    name, yes = proposals.serious_field(design.metadata)
    if name in shown:
        is_serious = {"field": name, "op": "=", "value": yes}
        yield "serious", {"where": [is_serious], **_COUNT, "by": ["@subject"]}
    if limits := [one for lab in design.ranges if lab in shown for one in _beyond(lab, design)]:
        yield "beyond", {"where": [{"any": limits}]}


def _beyond(lab: str, design: StudyDesign) -> Iterator[Query]:
    """The newest value beyond either limit that the field has."""
    newest = {"field": lab, "rows": "latest"}
    if any(one.high is not None for one in design.ranges[lab]):
        yield {"field": newest, "op": ">", "value": {"ref": "high"}}
    if any(one.low is not None for one in design.ranges[lab]):
        yield {"field": newest, "op": "<", "value": {"ref": "low"}}

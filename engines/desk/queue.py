"""Which reviews wait for a person, the gravest first and of equal ones the oldest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from engines.models import PendingAction, Review
from projects.models import Member
from projects.scoping import User, held

MOST = 1000
"""More reviews than this are not ordered on one page; the oldest come first anyway."""
_GRAVITY = {severity: rank for rank, severity in enumerate(PendingAction.Severity.values)}
_LEAST = len(_GRAVITY)


@dataclass(frozen=True)
class Waiting:
    """One row of the queue; `severity` is the worst of its open findings, "" where it is about none."""

    pk: int
    project_id: UUID
    code: str
    record_id: str
    question: str
    skill: str
    skill_type: str
    asked_at: datetime
    version: int
    findings: int
    severity: str
    may_decide: bool

    @property
    def colour(self) -> str:
        """Of the tag that tells how grave it is."""
        return {"error": "danger", "warning": "warning"}.get(self.severity, "info")

    @property
    def severity_label(self) -> str:
        """For the reader."""
        labels = dict(PendingAction.Severity.choices)
        return str(labels.get(self.severity, ""))


@dataclass(frozen=True)
class Chosen:
    """The filters of the queue: a project's code, a workflow's type, and whether others' reviews are shown."""

    project: str = ""
    skill: str = ""
    everyone: bool = False

    @classmethod
    def of(cls, given: Any) -> Chosen:
        """From the query of an address; what is not known there filters nothing away but gives nothing."""
        return cls(given.get("project", ""), given.get("skill", ""), given.get("all") == "1")

    def keeps(self, row: Waiting) -> bool:
        """Whether the row is shown."""
        return (
            self.project in ("", row.code)
            and self.skill in ("", row.skill_type)
            and (self.everyone or row.may_decide)
        )


def waiting(user: User) -> list[Waiting]:
    """Every open review that `user` may see, in the order of the desk."""
    reviews = Review.objects.for_user(user).filter(status=Review.Status.OPEN)
    reviews = reviews.select_related("project", "task_run__skill").order_by("created_at", "pk")
    reviews = reviews.defer(
        "values", "task_run__data", "task_run__config", "task_run__skill__config"
    )
    rows = [*reviews[:MOST]]
    severities = _open_severities(rows)
    mine = [] if getattr(user, "is_superuser", False) else held(user)
    everything = getattr(user, "is_superuser", False)
    found = [
        _row(
            one,
            [severities[key] for key in one.open_keys if key in severities],
            everything or _is_asked(one, mine),
        )
        for one in rows
    ]
    return sorted(found, key=lambda row: (_GRAVITY.get(row.severity, _LEAST), row.asked_at, row.pk))


def after(rows: Sequence[Waiting], pk: int) -> Waiting | None:
    """What comes after `pk`, from the top where that was the last; None where nothing else waits."""
    places = [row.pk for row in rows]
    here = places.index(pk) if pk in places else -1
    others = [*rows[here + 1 :], *rows[: max(here, 0)]]
    return next(iter(others), None)


def before(rows: Sequence[Waiting], pk: int) -> Waiting | None:
    """What comes before `pk`; None at the top."""
    places = [row.pk for row in rows]
    here = places.index(pk) if pk in places else 0
    return rows[here - 1] if here > 0 else None


def counts(rows: Iterable[Waiting]) -> dict[str, list[tuple[str, str, int]]]:
    """How many wait in each project and of each workflow: (value, label, count)."""
    rows = [*rows]
    labels = {row.skill_type: row.skill for row in rows}
    projects, skills = Counter(row.code for row in rows), Counter(row.skill_type for row in rows)
    return {
        "projects": [(code, code, count) for code, count in sorted(projects.items())],
        "skills": [(kind, labels[kind], count) for kind, count in sorted(skills.items())],
    }


def _open_severities(reviews: Iterable[Review]) -> dict[str, str]:
    keys = {key for one in reviews for key in one.open_keys}
    found = PendingAction.objects.filter(open_key__in=keys).order_by()
    return {key or "": severity for key, severity in found.values_list("open_key", "severity")}


def _is_asked(review: Review, mine: Iterable[Member]) -> bool:
    """By role alone; the decision itself also looks at the site and at four eyes."""
    return any(one.project_id == review.project_id and review.asks(one) for one in mine)


def _row(review: Review, severities: Sequence[str], may_decide: bool) -> Waiting:
    worst = min(severities, key=lambda one: _GRAVITY.get(one, _LEAST), default="")
    skill = review.task_run.skill
    return Waiting(
        pk=review.pk,
        project_id=review.project_id,
        code=review.project.code,
        record_id=review.record_id or "",
        question=review.question,
        skill=skill.name or skill.skill_type,
        skill_type=skill.skill_type,
        asked_at=review.created_at,
        version=review.version,
        findings=len(severities),
        severity=worst,
        may_decide=may_decide,
    )

"""Planned reviews of a study's audit trail: the plan, a sample by risk, what its entries were found to be.

All of it stands in the audit trail itself, as entries nobody can change: a review is what its entries say. An
entry is named by its number in the study's chain. What rests on a blinded field is in no sample: how much of
it there is hangs on the arm (design.md 9.10). Source: issue 27, O.6.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from django.utils.timezone import now
from django.utils.translation import gettext as _
from pydantic import BaseModel, Field, ValidationError

from core.house.db import atomic
from projects import audit
from projects.models import AuditEntry, Project, Role
from projects.scoping import User

OURS = "trail_review."
CRITICAL = frozenset(
    {
        *(
            "review.approve",
            "review.take_back",
            "blinding.break",
            "blinding.off",
            "blinding.member",
        ),
        *("skill.create", "skill.change", "skill.delete", "mapping.change", "dq.switch"),
        *("finding.close", "finding.reject", "deviation.decide", "rows.export"),
    }
)
"""Always looked at: what overrides a check, breaks a code, ends a violation, changes a rule, is exported."""
MOST = 300
"""Of what is not critical; how many there were is kept with it."""
MARKS = ("seen", "question")


class NotPossible(Exception):
    """Why nothing was done, for the reader."""


class Plan(BaseModel):
    """Each `days` days by somebody of `role`; of what is not critical `share` of a hundred."""

    days: int = Field(ge=1, le=366)
    role: Literal[Role.AUDITOR, Role.ADMIN]
    share: int = Field(ge=0, le=100)


@dataclass
class Review:
    """One review as its entries tell it; `marks`: number -> (mark, note, who).

    `upto`: the last number of the chain that was there to be drawn from; the next review begins behind it.
    """

    key: str
    drawn_by: str
    drawn_at: datetime
    since: str
    until: str
    seed: str
    share: int
    total: int
    critical: list[int]
    rest: list[int]
    upto: int
    number: int
    marks: dict[int, tuple[str, str, str]] = field(default_factory=dict)
    closed_by: str = ""
    closed_at: datetime | None = None
    conclusion: str = ""

    @property
    def sample(self) -> list[int]:
        """The critical entries first."""
        return [*self.critical, *self.rest]

    @property
    def left(self) -> int:
        """How many of the sample nobody has marked."""
        return sum(number not in self.marks for number in self.sample)

    @property
    def questions(self) -> int:
        """How many were marked as a question."""
        return sum(mark == "question" for mark, _note, _who in self.marks.values())


def plan_of(project: Project) -> Plan | None:
    """The plan that was set last."""
    entry = _ours(project).filter(action=f"{OURS}plan").last()
    return Plan.model_validate(entry.new) if entry else None


def reviews(project: Project) -> list[Review]:
    """All of a study, the newest first, each with its marks.

    Where two persons act at the same time the entry that came first counts: a second sample beside an open
    one, and marks of a review that is closed, are none.
    """
    found: dict[str, Review] = {}
    for entry in _ours(project).exclude(action=f"{OURS}plan"):
        said: Mapping[str, Any] = entry.new
        if entry.action == f"{OURS}draw":
            if any(one.closed_at is None for one in found.values()):
                continue
            names = ("since", "until", "seed", "share", "total", "critical", "rest")
            told = {name: said[name] for name in names} | {"upto": said.get("upto", entry.number)}
            found[said["key"]] = Review(
                said["key"], entry.actor, entry.at, **told, number=entry.number
            )
            continue
        review = found.get(said["key"])
        if review is None or review.closed_at is not None:
            continue
        if entry.action == f"{OURS}mark":
            review.marks |= dict.fromkeys(
                said["entries"], (said["mark"], entry.reason, entry.actor)
            )
        else:
            review.closed_by, review.closed_at = entry.actor, entry.at
            review.conclusion = entry.reason
    return sorted(found.values(), key=lambda one: one.number, reverse=True)


def due_at(project: Project) -> datetime | None:
    """By when the next review is to be closed, from the last end or the first plan; None without a plan.

    A plan that is changed does not begin to count anew.
    """
    plan = plan_of(project)
    if plan is None:
        return None
    closed = _ours(project).filter(action=f"{OURS}close").last()
    began = closed or _ours(project).filter(action=f"{OURS}plan").first()
    return began.at + timedelta(days=plan.days) if began else None


def is_overdue(project: Project) -> bool:
    """Whether the next review should have been closed by now."""
    due = due_at(project)
    return due is not None and due < now()


def set_plan(*, project: Project, given: Mapping[str, Any], actor: User) -> None:
    """Raises NotPossible for what is no plan."""
    try:
        plan = Plan.model_validate(given)
    except ValidationError as error:
        raise NotPossible(
            _("Please give 1 to 366 days, a role, and a share between 0 and 100.")
        ) from error
    old = plan_of(project)
    with atomic():
        audit.record(
            f"{OURS}plan",
            actor=actor,
            project=project,
            old=old.model_dump(mode="json") if old else None,
            new=plan.model_dump(mode="json"),
        )


def draw(*, project: Project, actor: User) -> None:
    """Draw the sample of the time since the last review. Raises NotPossible without plan, or with one open."""
    plan, earlier = plan_of(project), reviews(project)
    if plan is None:
        raise NotPossible(_("Please set the plan first."))
    if any(one.closed_at is None for one in earlier):
        raise NotPossible(_("A review is open: close it first."))
    # By number: an entry's time is taken before its transaction ends.
    last = earlier[0].upto if earlier else 0
    rows = _reviewable(project).filter(number__gt=last)
    found = [*rows.order_by("number").values_list("number", "action")]
    seed = secrets.token_hex(8)
    critical = [number for number, action in found if action in CRITICAL]
    others = [number for number, action in found if action not in CRITICAL]
    said = {
        "key": secrets.token_hex(8),
        "since": earlier[0].until if earlier else "",
        "until": now().isoformat(),
        "upto": found[-1][0] if found else last,
        "seed": seed,
        "share": plan.share,
        "total": len(found),
        "critical": critical,
        "rest": pick(others, min(-(-len(others) * plan.share // 100), MOST), seed),
    }
    with atomic():
        audit.record(f"{OURS}draw", actor=actor, project=project, new=said)


def pick(numbers: list[int], count: int, seed: str) -> list[int]:
    """The same `count` of the same numbers for the same seed, in order."""
    return sorted(random.Random(seed).sample(numbers, count))


def mark(
    *, project: Project, key: str, entries: Iterable[int], verdict: str, note: str, actor: User
) -> None:
    """Note what entries of the sample were found to be; a question says what is asked. Raises NotPossible."""
    review = _open(project, key)
    wanted = sorted({*entries} & {*review.sample})
    if verdict not in MARKS or not wanted:
        raise NotPossible(_("Please choose entries of the sample."))
    if verdict == "question" and not note.strip():
        raise NotPossible(_("Please write what the question is."))
    said = {"key": key, "entries": wanted, "mark": verdict}
    with atomic():
        audit.record(
            f"{OURS}mark", actor=actor, project=project, new=said, reason=note.strip()[:2000]
        )


def close_review(*, project: Project, key: str, conclusion: str, actor: User) -> None:
    """End a review whose whole sample was marked; the caller has checked the password. Raises NotPossible."""
    review = _open(project, key)
    if review.left:
        raise NotPossible(_("Entries of the sample are not marked yet: %s.") % review.left)
    if not conclusion.strip():
        raise NotPossible(_("Please write a conclusion."))
    said = {"key": key, "count": len(review.sample), "questions": review.questions, "signed": True}
    with atomic():
        audit.record(
            f"{OURS}close", actor=actor, project=project, new=said, reason=conclusion.strip()[:4000]
        )


def entries_of(project: Project, numbers: list[int]) -> dict[int, AuditEntry]:
    """The entries of a sample by their number."""
    rows = _reviewable(project).filter(number__in=numbers)
    return {one.number: one for one in rows}


def _open(project: Project, key: str) -> Review:
    for one in reviews(project):
        if one.key == key and one.closed_at is None:
            return one
    raise NotPossible(_("This review is closed."))


def _reviewable(project: Project) -> Any:
    """The study's entries without ours and without what rests on a blinded field."""
    chain = audit.chain_of(project.pk)
    rows = AuditEntry.objects.filter(project=project, chain=chain, unblinds=False)
    return rows.exclude(action__startswith=OURS)


def _ours(project: Project) -> Any:
    chain = audit.chain_of(project.pk)
    rows = AuditEntry.objects.filter(project=project, chain=chain, action__startswith=OURS)
    return rows.order_by("number")

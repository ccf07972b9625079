"""Which reviews wait for a person, the gravest first and of equal ones the oldest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.utils.translation import gettext as _

from engines.models import PendingAction, Review
from projects.models import Project
from projects.scoping import User, held

MOST = 1000
"""More reviews than this are not ordered on one page; the oldest come first anyway."""
_GRAVITY = [*PendingAction.Severity.values, ""]
"""The worst first; "" of a review that is about no open finding."""


@dataclass(frozen=True)
class Waiting:
    """One row of the queue, with the severities of its open findings, the worst first."""

    review: Review
    severities: Sequence[str]
    may_decide: bool

    @property
    def severity(self) -> str:
        """The worst; "" where it is about none."""
        return next(iter(self.severities), "")

    @property
    def colour(self) -> str:
        """Of the tag that tells how grave it is."""
        return {"error": "danger", "warning": "warning"}.get(self.severity, "info")

    @property
    def severity_label(self) -> str:
        """For the reader."""
        return str(dict(PendingAction.Severity.choices).get(self.severity, ""))

    @property
    def skill(self) -> str:
        """What the workflow that asks is called."""
        skill = self.review.task_run.skill
        return skill.name or skill.skill_type


class Filters(NamedTuple):
    """What an address narrows the queue to: a project's code, a workflow's type; `all`: others' reviews too."""

    project: str = ""
    skill: str = ""
    all: str = ""

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Filters:
        """From the query of an address."""
        return cls(
            given.get("project", ""), given.get("skill", ""), "1" * (given.get("all") == "1")
        )

    def keeps(self, row: Waiting) -> bool:
        """Whether the row is shown."""
        return (
            self.project in ("", row.review.project.code)
            and self.skill in ("", row.review.task_run.skill.skill_type)
            and (bool(self.all) or row.may_decide)
        )

    @property
    def query(self) -> str:
        """The part of an address from "?" on; "" where nothing is narrowed."""
        text = urlencode({name: value for name, value in self._asdict().items() if value})
        return f"?{text}" if text else ""


def waiting(user: User, study: Project | None = None) -> list[Waiting]:
    """Every open review that `user` may see (`study`: of this one only), in the order of the desk.

    Who may decide is told by role alone; the decision itself also looks at the site and at four eyes.
    """
    reviews = Review.objects.for_user(user).filter(status=Review.Status.OPEN)
    reviews = reviews.filter(project=study) if study else reviews
    reviews = reviews.select_related("project", "task_run__skill").order_by("created_at", "pk")
    reviews = reviews.defer(
        "values", "brief", "task_run__data", "task_run__config", "task_run__skill__config"
    )
    rows = [*reviews[:MOST]]
    keys = {key for one in rows for key in one.open_keys}
    found = PendingAction.objects.filter(open_key__in=keys).order_by()
    severity = {str(key): worst for key, worst in found.values_list("open_key", "severity")}
    everything = bool(getattr(user, "is_superuser", False))
    mine = [] if everything else held(user)
    told = [
        Waiting(
            one,
            sorted((severity[k] for k in one.open_keys if k in severity), key=_GRAVITY.index),
            everything or any(m.project_id == one.project_id and one.asks(m) for m in mine),
        )
        for one in rows
    ]
    return sorted(told, key=lambda row: _GRAVITY.index(row.severity))


def neighbours(rows: Sequence[Waiting], pk: int) -> tuple[Waiting | None, Waiting | None]:
    """What comes before `pk` (None at the top) and after it, from the top where that was the last."""
    here = next((n for n, row in enumerate(rows) if row.review.pk == pk), -1)
    others = [*rows[here + 1 :], *rows[: max(here, 0)]]
    return (rows[here - 1] if here > 0 else None), next(iter(others), None)


def chips(chosen: Filters, rows: Iterable[Waiting]) -> list[dict[str, Any]]:
    """The filters of the queue, each with its count and the address that chooses it."""
    rows = [*rows]
    shown = [row.review for row in rows if chosen.all or row.may_decide]
    projects = Counter(one.project.code for one in shown)
    skills = Counter(one.task_run.skill.skill_type for one in shown)
    names = {row.review.task_run.skill.skill_type: row.skill for row in rows}
    found = [(_("All"), len(shown), Filters(all=chosen.all))]
    if len(projects) > 1:
        found += [(code, n, chosen._replace(project=code)) for code, n in sorted(projects.items())]
    found += [(names[kind], n, chosen._replace(skill=kind)) for kind, n in sorted(skills.items())]
    made = [
        {"label": label, "count": count, "query": to.query or "?", "on": to == chosen}
        for label, count, to in found
    ]
    if others := sum(not row.may_decide for row in rows):
        to = chosen._replace(all="" if chosen.all else "1")
        label = _("Those that others decide")
        made.append(
            {"label": label, "count": others, "query": to.query or "?", "on": bool(chosen.all)}
        )
    return made

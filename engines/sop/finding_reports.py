"""How rules do: how often people reject what they find, and what they could not evaluate and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery

from engines.models import PendingAction
from study.models import Subject

LEAST, BAD, DOUBTFUL = 10, 0.5, 0.2
"""Fewer decisions advise nothing; the share of false alarms from which a rule is bad, or doubtful."""
_State = PendingAction.State
_RIGHT = Q(state__in=(_State.CONFIRMED, _State.CLOSED))
_NAMED = 5
UNDECIDED = ("UNKNOWN", "ERROR")


class Advice(StrEnum):
    """What a rule's share of false alarms suggests."""

    TOO_FEW = "too_few"
    BAD = "bad"
    DOUBTFUL = "doubtful"
    GOOD = "good"


@dataclass(frozen=True)
class Rate:
    """A rule of a workflow: how often it was found, held to be right, and rejected."""

    code: str
    skill_type: str
    rule_key: str
    found: int
    right: int
    rejected: int

    @property
    def decided(self) -> int:
        """What a person has judged; what waits, was asked about or resolved itself says nothing yet."""
        return self.right + self.rejected

    @property
    def share(self) -> float | None:
        """False alarms among what was judged, 0 … 1; None where nothing was."""
        return self.rejected / self.decided if self.decided else None

    @property
    def advice(self) -> Advice:
        """By the share, where enough was judged."""
        if self.decided < LEAST or self.share is None:
            return Advice.TOO_FEW
        if self.share >= BAD:
            return Advice.BAD
        return Advice.DOUBTFUL if self.share >= DOUBTFUL else Advice.GOOD


@dataclass(frozen=True)
class Undecided:
    """What one rule could not evaluate at one site for one reason; `subjects` are the first few."""

    code: str
    rule_key: str
    site: str
    reason: str
    count: int
    subjects: tuple[str, ...]


def rates(rows: QuerySet[PendingAction]) -> list[Rate]:
    """A line for each rule, the worst first; `rows` are those that the reader may see."""
    counted = (
        rows.order_by()
        .values_list("project__code", "skill_type", "rule_key")
        .annotate(
            found=Count("pk"),
            right=Count("pk", filter=_RIGHT),
            rejected=Count("pk", filter=Q(state=_State.REJECTED)),
        )
    )
    return sorted((Rate(*line) for line in counted), key=_worst)


def _worst(rate: Rate) -> tuple[Any, ...]:
    is_few = rate.decided < LEAST
    return is_few, -(rate.share or 0), -rate.decided, rate.code, rate.rule_key


def undecided(rows: QuerySet[PendingAction]) -> list[Undecided]:
    """Open findings that say "could not be evaluated", by rule, site and reason, the most frequent first."""
    site = Subject.objects.filter(
        project=OuterRef("project_id"), record_id=OuterRef("record_id")
    ).values("site")
    there = rows.exclude(state=_State.GONE).order_by("record_id")
    open_rows = there.filter(open_key__isnull=False, outcome__in=UNDECIDED)
    told = open_rows.annotate(site=Subquery(site)).values_list(
        "project__code", "rule_key", "site", "reason", "record_id"
    )
    return _grouped(told.iterator())


def _grouped(told: Iterable[tuple[Any, ...]]) -> list[Undecided]:
    found: defaultdict[tuple[str, str, str, str], list[str]] = defaultdict(list)
    for code, rule, site, reason, record in told:
        found[code, rule, site or "", reason].append(record or "")
    lines = [
        Undecided(*place, len(records), tuple(dict.fromkeys(filter(None, records)))[:_NAMED])
        for place, records in found.items()
    ]
    return sorted(lines, key=lambda one: (-one.count, one.code, one.rule_key, one.site, one.reason))

"""Tokens of a period, added up by study, day and purpose, beside what each study may use a day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.db.models import Count, F, Q, QuerySet, Sum
from django.db.models.functions import TruncDate
from django.utils.timezone import now

from core.llm.asking import used_today
from core.llm.models import LlmUsage
from projects.models import Project

DAYS = 30


@dataclass(frozen=True)
class Total:
    """Calls and tokens of a study (`of`: a day or a purpose); `failed` of the calls."""

    project: str
    of: Any
    calls: int
    failed: int
    tokens_in: int
    tokens_out: int

    @property
    def tokens(self) -> int:
        """In and out together, as the cap counts them."""
        return self.tokens_in + self.tokens_out


@dataclass(frozen=True)
class Today:
    """What a study used since its midnight, of what it may."""

    project: Project
    used: int

    @property
    def share(self) -> int:
        """In percent of the cap; 100 where there is none left."""
        cap = self.project.llm_daily_token_cap
        return min(100, round(100 * self.used / cap)) if cap else 100


def recent(rows: QuerySet[LlmUsage]) -> QuerySet[LlmUsage]:
    """The rows of the last days, without an order that would split the groups."""
    return rows.filter(at__gte=now() - timedelta(days=DAYS)).order_by()


def by_day(rows: QuerySet[LlmUsage]) -> list[Total]:
    """Newest day first; days in the console's zone."""
    found = recent(rows).annotate(of=TruncDate("at"))
    return sorted(_added(found), key=lambda one: (-_ordinal(one.of), one.project))


def by_purpose(rows: QuerySet[LlmUsage]) -> list[Total]:
    """The most tokens first."""
    return sorted(_added(recent(rows).annotate(of=F("purpose"))), key=lambda one: -one.tokens)


def today(projects: QuerySet[Project]) -> list[Today]:
    """Every study with its cap."""
    return [Today(project, used_today(project)) for project in projects.order_by("code")]


def _ordinal(day: date) -> int:
    return day.toordinal()


def _added(rows: QuerySet[Any]) -> list[Total]:
    counted = rows.values_list("project__code", "of").annotate(
        calls=Count("pk"),
        failed=Count("pk", filter=Q(ok=False)),
        tokens_in=Sum("input_tokens"),
        tokens_out=Sum("output_tokens"),
    )
    return [Total(*row) for row in counted]

"""REDCap's open queries beside our findings: about one place nobody is asked, and nothing is counted, twice."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Case, Exists, OuterRef, QuerySet, Subquery, When
from django.utils.translation import gettext as _

from core.house.request_cache import once
from engines.models import PendingAction
from projects.models import Member, Project
from projects.scoping import User
from projects.switcher import studies
from study.models import RedcapQuery

PLACE = ("record_id", "event", "instrument", "instance", "field")
RULE = "redcap.query"
"""Stands for the rule where a query is shown among findings."""


def are_read(user: User) -> bool:
    """Whether any study of a console user reads REDCap's queries."""
    return any(one.reads_queries for one in studies(user))


def of_user(user: User) -> QuerySet[RedcapQuery]:
    """The open queries that a console user sees and no open finding of theirs is about."""
    findings = PendingAction.objects.for_user(user)
    return _without(RedcapQuery.objects.for_user(user).waiting(), findings)


def asked_of(user: User) -> list[tuple[UUID, str, int]]:
    """The same as (study, subject, number), read once a request."""
    rows = of_user(user).values_list("project_id", "record_id", "status_id")
    found: list[tuple[UUID, str, int]] = once(("asked by REDCap", user.pk), lambda: [*rows])
    return found


def of_member(project: Project, member: Member | None) -> QuerySet[RedcapQuery]:
    """The same of one study and a member of it; None: of the house itself."""
    queries, findings = RedcapQuery.objects.filter(project=project), PendingAction.objects.all()
    if member is not None:
        queries, findings = queries.for_member(member), findings.for_member(member)
    return _without(queries.waiting(), findings)


def open_at(project: Project, moment: datetime) -> QuerySet[RedcapQuery]:
    """Those of all sites that were open at a moment, and no finding that was open then is about."""
    queries = RedcapQuery.objects.filter(project=project).waiting(moment)
    return _without(queries, PendingAction.objects.all(), moment)


def _without(queries: Any, findings: Any, moment: datetime | None = None) -> QuerySet[RedcapQuery]:
    same = {name: OuterRef(name) for name in ("project_id", *PLACE)}
    # Of a rule's query, which names no field, nobody knows whether a finding is the same.
    about_it = Exists(findings.unclosed(moment).exclude(field="").filter(**same))
    rows: QuerySet[RedcapQuery] = queries.exclude(about_it)
    return rows


def beside(
    project: Project,
    member: Member | None,
    findings: Iterable[PendingAction],
    user: User | None = None,
) -> tuple[dict[UUID, int], list[RedcapQuery]]:
    """All that `numbers` and `of_member` tell of a study's findings, in one statement.

    `findings`: all that the member sees, or `user` as nobody's member. Gives each open one that REDCap asks
    about with the number of its query, and the queries that none of them is about.
    """
    if not project.reads_queries:
        return {}, []
    queries = RedcapQuery.objects.filter(project=project)
    if member is not None:
        queries = queries.for_member(member)
    elif user is not None:
        queries = queries.for_user(user)
    by_place: dict[tuple[Any, ...], list[UUID]] = {}
    for row in findings:
        if row.open_key and row.field:
            by_place.setdefault(_place(row), []).append(row.pk)
    asked: dict[UUID, int] = {}
    others = []
    for one in queries.waiting():
        about = by_place.get(_place(one), ())
        # Of several queries about one place the oldest, as `numbers` has it.
        asked |= {pk: min(one.status_id, asked.get(pk, one.status_id)) for pk in about}
        if not about:
            others.append(one)
    return asked, others


def _place(row: PendingAction | RedcapQuery) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in PLACE)


def numbers(rows: Iterable[PendingAction]) -> dict[UUID, int]:
    """Open findings that REDCap asks about itself, each with the number of its query there."""
    by_place: dict[tuple[Any, ...], list[UUID]] = {}
    for row in rows:
        if row.open_key and row.field and row.project.reads_queries:
            place = (row.project_id, *(getattr(row, name) for name in PLACE))
            by_place.setdefault(place, []).append(row.pk)
    if not by_place:
        return {}
    projects, records = {place[0] for place in by_place}, {place[1] for place in by_place}
    asked = RedcapQuery.objects.filter(project__in=projects, record_id__in=records).waiting()
    found = asked.order_by("-status_id").values_list("project_id", *PLACE, "status_id")
    return {pk: one[-1] for one in found for pk in by_place.get(tuple(one[:-1]), ())}


def with_numbers(rows: QuerySet[PendingAction]) -> QuerySet[Any]:
    """Findings with `redcap_query`: as `numbers` has it, None where there is none."""
    same = {name: OuterRef(name) for name in ("project_id", *PLACE)}
    asked = RedcapQuery.objects.exclude(field="").waiting().filter(**same).order_by("status_id")
    number = Subquery(asked.values("status_id")[:1])
    return rows.annotate(redcap_query=Case(When(open_key__isnull=False, then=number)))


def number_of(finding: PendingAction) -> int | None:
    """The number of REDCap's own open query about the place of a finding; None where there is none."""
    return numbers([finding]).get(finding.pk)


def told(number: int) -> str:
    """That REDCap asks already."""
    return _("REDCap asks this already: query #%d") % number


def words(query: RedcapQuery) -> str:
    """A query as one line: the last comment and its number."""
    named = _("Query of REDCap #%d") % query.status_id
    return f"{query.text} [{named}]".strip()


def as_finding(query: RedcapQuery) -> PendingAction:
    """A query as a row among findings, never saved: what a finding has and a query has not stays blank."""
    place = {name: getattr(query, name) for name in PLACE}
    row = PendingAction(
        project=query.project,
        message=f"#{query.status_id} {query.text}".strip(),
        assignee=query.assigned,
        state=query.state,
        rule_key=RULE,
        **place,
    )
    row.created_at = query.opened_at
    row.asked = query  # type: ignore[attr-defined]
    return row

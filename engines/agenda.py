"""What waits for one reader of a study today, as typed rows: the first page shows them, chat words them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from typing import Any
from zoneinfo import ZoneInfo

from django.db import models
from django.utils.timezone import now
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from core.house import clock
from engines import redcap_asks, trail_reviews
from engines.models import PendingAction, Review, SafetyClock, TaskRun
from memory.models import MemoryProposal
from projects import audit_watch
from projects.models import Member, Project, Role
from projects.scoping import User
from skills import amendments
from study.blinding.services import broken_by
from study.records import state_of
from study.visits.due import Schedule

WEEK = timedelta(days=7)
_STATE = PendingAction.State


class Kind(models.TextChoices):
    """What a row is about, with its heading."""

    TRAIL = "trail", _("The audit trail does not hold")
    TRAIL_REVIEW = "trail_review", _("Audit-trail review overdue")
    BLINDING = "blinding", _("The study tells its arms in spite of blinding")
    READING = "reading", _("REDCap was not read to the end")
    REPORTS = "reports", _("Serious events to be reported")
    REVIEWS = "reviews", _("Reviews for you to decide")
    LATE_REVIEWS = "late_reviews", _("Reviews that have waited for more than a week")
    OVERDUE = "overdue", _("Visits overdue")
    TODAY = "today", _("Visits that can be done today")
    WEEK = "week", _("Visits until Sunday")
    DUE = "due", _("Findings due today or before")
    MINE = "mine", _("Open findings given to you")
    ANSWERED = "answered", _("Answered queries to be checked")
    CHANGED = "changed", _("Data changes to be confirmed")
    ASKED = "asked", _("Open queries of REDCap")
    VIOLATIONS = "violations", _("Open violations")
    FAILED = "failed", _("Runs that failed in the last 7 days")
    PROPOSALS = "proposals", _("Changes of hot memory to be accepted")
    AMENDMENTS = (
        "amendments",
        _("Rules and visit windows to be checked against a new protocol version"),
    )


KINDS: Mapping[str, tuple[Kind, ...]] = {
    Role.CRC: (
        *(Kind.REPORTS, Kind.REVIEWS, Kind.OVERDUE, Kind.TODAY),
        *(Kind.DUE, Kind.MINE, Kind.ANSWERED, Kind.CHANGED, Kind.ASKED),
    ),
    Role.PI: (
        *(Kind.REPORTS, Kind.REVIEWS, Kind.OVERDUE, Kind.WEEK),
        *(Kind.MINE, Kind.VIOLATIONS, Kind.PROPOSALS),
    ),
    Role.ADMIN: (
        *(Kind.BLINDING, Kind.READING, Kind.REPORTS, Kind.REVIEWS, Kind.OVERDUE),
        *(Kind.DUE, Kind.MINE),
        *(Kind.CHANGED, Kind.ASKED, Kind.AMENDMENTS, Kind.FAILED, Kind.PROPOSALS),
    ),
    Role.AUDITOR: (
        *(Kind.TRAIL, Kind.TRAIL_REVIEW, Kind.READING, Kind.REPORTS),
        *(Kind.LATE_REVIEWS, Kind.OVERDUE, Kind.DUE),
    ),
}
"""What belongs to the day of each role, the most pressing first."""
WHOLE_STUDY = frozenset(
    {
        *(Kind.TRAIL, Kind.TRAIL_REVIEW, Kind.BLINDING, Kind.READING),
        *(Kind.PROPOSALS, Kind.AMENDMENTS),
    }
)
"""Of all sites: nothing for who sees one."""


@dataclass(frozen=True)
class Entry:
    """One thing of a row: its subject or document, what it is, and the day by which it is to be done.

    `key`: of the document.
    """

    subject: str
    text: str = ""
    day: date | None = None
    key: int | None = None


@dataclass(frozen=True)
class Row:
    """Something that waits; `count` None: it could not be read, so nobody knows. `entries` may be fewer."""

    kind: Kind
    count: int | None
    entries: tuple[Entry, ...] = ()

    @property
    def is_fault(self) -> bool:
        """Whether something is broken, which is told and not counted."""
        return self.kind in {Kind.TRAIL, Kind.BLINDING, Kind.READING}

    @property
    def is_urgent(self) -> bool:
        """Whether it is past its day, or a fault."""
        pressing = {Kind.TRAIL_REVIEW, Kind.REPORTS, Kind.OVERDUE, Kind.DUE, Kind.LATE_REVIEWS}
        return self.is_fault or self.kind in pressing


def agenda(
    project: Project,
    member: Member | None,
    schedule: Schedule | None,
    user: User | None = None,
    reviews: Sequence[Review] | None = None,
) -> list[Row]:
    """What waits for `member` today, without what there is none of; None: a superuser, who is `user`.

    `schedule`: the visits that the same reader may know of; None: they could not be read, which is a row too.
    `user`: of a console page, which tells of the trail in a card of its own. `reviews`: the study's open ones
    that the reader sees, oldest first, where they are read already.
    """
    role = member.role if member else Role.ADMIN
    asked = _Asked(project, member, schedule, user, reviews)
    limited = bool(member and member.site)
    kinds = [kind for kind in KINDS[role] if not (limited and kind in WHOLE_STUDY)]
    kinds = [kind for kind in kinds if not (user and kind is Kind.TRAIL)]
    return [row for row in map(asked.row, kinds) if row.count != 0]


def unread(rows: Iterable[Row]) -> bool:
    """Whether any row could not be read."""
    return any(row.count is None for row in rows)


@dataclass
class _Asked:
    """One reader's questions; each table is read once."""

    project: Project
    member: Member | None
    schedule: Schedule | None
    user: User | None
    reviews: Sequence[Review] | None = None

    @cached_property
    def today(self) -> date:
        return clock.today(self.project.timezone)

    def rows(self, model: Any) -> Any:
        """The reader's rows of a table."""
        given = model.objects.filter(project=self.project)
        return given.for_member(self.member) if self.member else given.for_user(self.user)

    @cached_property
    def findings(self) -> list[PendingAction]:
        found: models.QuerySet[PendingAction] = self.rows(PendingAction).unclosed()
        columns = ("record_id", "state", "assignee", "due_on", "action_type", "created_at")
        return [*found.only(*columns).order_by("created_at", "pk")]

    def row(self, kind: Kind) -> Row:
        """What waits of one kind."""
        match kind:
            case Kind.TRAIL:
                return Row(kind, len(audit_watch.look()))
            case Kind.TRAIL_REVIEW:
                return Row(kind, int(trail_reviews.is_overdue(self.project)))
            case Kind.BLINDING:
                why = broken_by(self.project)
                return Row(kind, len(why), tuple(Entry("", one) for one in why))
            case Kind.READING:
                state = state_of(self.project)
                return Row(kind, int(bool(state and state.is_failing)))
            case Kind.REPORTS:
                return self._reports()
            case Kind.REVIEWS | Kind.LATE_REVIEWS:
                return self._reviews(kind)
            case Kind.OVERDUE | Kind.TODAY | Kind.WEEK:
                return self._visits(kind)
            case Kind.ASKED:
                return self._asked()
            case Kind.FAILED:
                return self._failed(kind)
            case Kind.PROPOSALS:
                waiting = self.rows(MemoryProposal).filter(state=MemoryProposal.State.PENDING)
                return Row(kind, waiting.count())
            case Kind.AMENDMENTS:
                return self._amendments()
        return self._findings(kind)

    def _visits(self, kind: Kind) -> Row:
        if self.schedule is None:
            return Row(kind, None)
        today = self.schedule.today
        last = today if kind is Kind.TODAY else today + timedelta(days=6 - today.weekday())
        is_late = kind is Kind.OVERDUE
        found = self.schedule.overdue() if is_late else self.schedule.due(today, last)
        return Row(kind, len(found), tuple(Entry(v.subject, v.visit, v.close) for v in found))

    def _reports(self) -> Row:
        """The clocks that run; one that has run out says so."""
        at, zone = clock.now(), ZoneInfo(self.project.timezone)
        entries = []
        for one in self.rows(SafetyClock).running():
            late = gettext("%(recipient)s, overdue since %(due)s")
            told = late if one.is_overdue(at) else gettext("%(recipient)s, due %(due)s")
            due = one.due_at.astimezone(zone).strftime("%m-%d %H:%M")
            text = told % {"recipient": one.get_recipient_display(), "due": due}
            entries.append(Entry(one.record_id, text))
        return Row(Kind.REPORTS, len(entries), tuple(entries))

    def _reviews(self, kind: Kind) -> Row:
        found, member = self.reviews, self.member
        if found is None:
            rows = self.rows(Review).filter(status=Review.Status.OPEN)
            found = [*rows.order_by("created_at", "pk").defer("values")]
        if kind is Kind.LATE_REVIEWS:
            found = [one for one in found if one.created_at < now() - WEEK]
        elif member is not None:
            found = [one for one in found if one.asks(member)]
        return Row(kind, len(found), tuple(Entry(r.record_id or "", r.question) for r in found))

    def _amendments(self) -> Row:
        """What new versions of documents touch, by document."""
        found = amendments.waiting([self.project])
        entries = (Entry(d.name, f"{d.version} ×{len(left)}", key=d.pk) for d, left in found)
        return Row(Kind.AMENDMENTS, sum(len(left) for _d, left in found), tuple(entries))

    def _findings(self, kind: Kind) -> Row:
        mine = self.member.identity if self.member else getattr(self.user, "username", "")
        matches: dict[Kind, Callable[[PendingAction], bool]] = {
            Kind.DUE: lambda one: one.due_on is not None and one.due_on <= self.today,
            Kind.MINE: lambda one: one.assignee == mine,
            Kind.ANSWERED: lambda one: one.state == _STATE.ANSWERED,
            Kind.CHANGED: lambda one: one.state == _STATE.DATA_CHANGED,
            Kind.VIOLATIONS: lambda one: one.action_type == PendingAction.Kind.VIOLATION,
        }
        subjects = [one.record_id or "" for one in self.findings if matches[kind](one)]
        counted = Counter(subjects).items()
        entries = (Entry(who, f"×{n}" if n > 1 else "") for who, n in counted if who)
        return Row(kind, len(subjects), tuple(entries))

    def _asked(self) -> Row:
        """Of REDCap's own queries those that no finding is about."""
        if not self.project.reads_queries:
            return Row(Kind.ASKED, 0)
        if self.user is not None:
            asked = redcap_asks.asked_of(self.user)
            told = [(who, number) for study, who, number in asked if study == self.project.pk]
        else:
            rows = redcap_asks.of_member(self.project, self.member)
            told = [*rows.values_list("record_id", "status_id")]
        found = tuple(Entry(who, f"#{number}") for who, number in told)
        return Row(Kind.ASKED, len(found), found)

    def _failed(self, kind: Kind) -> Row:
        rows = self.rows(TaskRun).filter(status=TaskRun.Status.FAILED, created_at__gte=now() - WEEK)
        names = [*rows.order_by("-created_at").values_list("record_id", flat=True)]
        return Row(kind, len(names), tuple(Entry(who) for who in dict.fromkeys(names) if who))

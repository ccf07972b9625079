"""Asking members about visits that are to be done, and keeping what they answer (issue 17, Visits)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import islice

from django.db.models import F, QuerySet
from django.utils.timezone import now
from pydantic import ValidationError

from core.house import clock
from core.house.alone import each
from core.house.db import atomic
from core.integrations.redcap import RedcapError
from engines.models import TaskRun, VisitReminder
from engines.sop import run_events
from engines.sop.journal import audited
from engines.sop.nodes.notify import Notice, deliver_at, may_remind
from projects.models import Member, Project
from study.client import NotConfiguredError
from study.visits import due
from study.visits.calendar import is_to_do
from study.visits.due import SubjectVisit

Answer = VisitReminder.Answer
QUIET = {
    Answer.DONE: timedelta(days=7),
    Answer.RESCHEDULE: timedelta(days=3),
    Answer.TOMORROW: timedelta(days=0),
}
"""So long after an answer nobody is asked for the visit again; what REDCap then still lacks is asked for."""
MOST = 5
"""Visits that a member is asked about a day; the message lists all of them."""
AT_ONCE = 50
"""Promises of one study that a sweep looks at: what cannot be read in one study holds up no other."""
LATEST = timedelta(days=7)
"""A promise that could not be kept for so long is given up."""
_ONE_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Outcome:
    """What came of an answer: `fresh` where it was taken just now; else what stands, None: it is outdated."""

    reminder: VisitReminder
    fresh: bool
    stands: VisitReminder | None


def ask_about(run: TaskRun, member: Member, visits: Iterable[Sequence[str]]) -> list[VisitReminder]:
    """Note that a member is asked, in the caller's transaction; what was asked today or is settled is not."""
    today = clock.today(run.project.timezone)
    asked: list[VisitReminder] = []
    settled = VisitReminder.objects.filter(project=member.project_id, quiet_until__gte=today)
    quiet = {*settled.values_list("record_id", "visit")}
    open_ones = (one for one in visits if (one[0], one[1]) not in quiet)
    for record_id, visit, opens, closes in islice(open_ones, MOST):
        row, is_new = VisitReminder.objects.get_or_create(
            member=member,
            record_id=record_id,
            visit=visit,
            asked_on=today,
            defaults={
                "project": run.project,
                "run": run,
                "opens": date.fromisoformat(opens),
                "closes": date.fromisoformat(closes),
            },
        )
        if is_new:
            asked.append(row)
    return asked


def unanswered(reminder: VisitReminder) -> list[VisitReminder]:
    """The same visit's other reminders that still ask somebody, none newer than this one."""
    rows = VisitReminder.objects.filter(
        project=reminder.project_id,
        record_id=reminder.record_id,
        visit=reminder.visit,
        asked_on__lte=reminder.asked_on,
        answer="",
    )
    return [*rows.exclude(pk=reminder.pk)]


def keep_answer(*, reminder: VisitReminder, actor: Member, given: str) -> Outcome:
    """Keep an answer once: a second click finds what stands, a reminder with a newer one is outdated."""
    same = VisitReminder.objects.filter(
        project=reminder.project_id, record_id=reminder.record_id, visit=reminder.visit
    )
    today = clock.today(reminder.project.timezone)
    with atomic():
        if same.filter(asked_on__gt=reminder.asked_on).exists():
            return Outcome(reminder, fresh=False, stands=None)
        of_day = same.filter(asked_on=reminder.asked_on)
        _hold(of_day)
        stands = of_day.exclude(answer="").first()
        if stands is not None:
            return Outcome(reminder, fresh=False, stands=stands)
        taken = VisitReminder.objects.filter(pk=reminder.pk, answer="").update(
            answer=given, answered_at=now(), quiet_until=today + QUIET[Answer(given)]
        )
        reminder.refresh_from_db()
        if taken:
            told = {"visit": reminder.visit, "answer": given}
            audited("visit.answer", reminder, actor=actor, new=told)
    return Outcome(reminder, fresh=bool(taken), stands=reminder)


def _hold(rows: QuerySet[VisitReminder]) -> None:
    """Keep the rows as they are until the transaction ends: of two that answer at once one waits."""
    for pk in rows.order_by("pk").values_list("pk", flat=True):
        VisitReminder.objects.filter(pk=pk).update(visit=F("visit"))


def is_still_asked(reminder: VisitReminder, member: Member) -> bool:
    """Whether its member would still be asked, as far as REDCap can be read. Not inside a transaction."""
    if not may_remind(reminder.run, member):
        return False
    found = _to_do(reminder, member)
    return found is None or bool(found)


def _to_do(reminder: VisitReminder, member: Member) -> list[SubjectVisit] | None:
    """The reminder's visit while it is to be done, as the member may know it; None: it could not be read."""
    try:
        found = due.schedule(reminder.project, member, [reminder.record_id])
    except (RedcapError, NotConfiguredError, ValidationError):
        return None
    return [v for v in found.visits if v.visit == reminder.visit and is_to_do(v, found.today)]


def keep_promises() -> None:
    """Ask again whom "tomorrow" was promised to, where the visit is still to be done; once, killed anywhere."""
    studies = Project.objects.exclude(status=Project.Status.CLOSED)
    each("visits", studies.filter(pk__in=_promises().values("project")), _keep_promises_of)


def _promises() -> QuerySet[VisitReminder]:
    return VisitReminder.objects.filter(answer=Answer.TOMORROW, is_again=False)


def _keep_promises_of(project: Project) -> None:
    today = clock.today(project.timezone)
    waiting = _promises().filter(
        project=project, quiet_until__range=(today - LATEST, today - _ONE_DAY)
    )
    rows = waiting.select_related(
        "project", "run__project", "run__skill", "member__person", "member__project"
    )
    each("visits", rows.order_by("pk")[:AT_ONCE], _again)


def _again(row: VisitReminder) -> None:
    """An outage leaves the promise open: it is tried again."""
    found = _to_do(row, row.member)
    if found is None:
        return
    visits = [(one.subject, one.visit, str(one.open), str(one.close)) for one in found]
    with atomic():
        if not _promises().filter(pk=row.pk).update(is_again=True):
            return
        if visits and may_remind(row.run, row.member):
            notice = Notice(
                member=row.member,
                text="",
                not_before=deliver_at(row.member),
                node="",
                seq=0,
                replaces=False,
                visits=visits,
            )
            run_events.keep_event(
                run_events.Kind.NOTICE_READY, row.run, payload=notice.as_payload()
            )

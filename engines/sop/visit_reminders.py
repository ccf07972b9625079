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
from engines.sop.nodes.notify import Notice, deliver_at
from projects.models import Member
from study.client import NotConfiguredError
from study.visits import due
from study.visits.calendar import is_to_do

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


def keep_promises() -> None:
    """Ask again whom "tomorrow" was promised to, where the visit is still to be done; once, killed anywhere."""
    waiting = VisitReminder.objects.filter(answer=Answer.TOMORROW, is_again=False)
    rows = waiting.select_related("project", "run", "member__person", "member__project")
    each("visits", rows.order_by("pk")[:AT_ONCE], _again)


def _again(row: VisitReminder) -> None:
    """An outage leaves the promise open: it is tried again."""
    if row.quiet_until is None or row.asked_on >= clock.today(row.project.timezone):
        return
    try:
        found = due.schedule(row.project, row.member, [row.record_id])
    except (RedcapError, NotConfiguredError, ValidationError):
        return
    visits = [
        (one.subject, one.visit, str(one.open), str(one.close))
        for one in found.visits
        if one.visit == row.visit and is_to_do(one, found.today)
    ]
    mine = VisitReminder.objects.filter(pk=row.pk, is_again=False)
    with atomic():
        if not mine.update(is_again=True):
            return
        if visits and row.member.is_active:
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

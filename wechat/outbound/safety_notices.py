"""Telling the responsible of the clocks of serious events: started, soon due, overdue; each once.

What is told names subject, recipient and times, nothing of the event. It waits for no best time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from zoneinfo import ZoneInfo

from django.utils import translation
from django.utils.translation import gettext as _

from core.house.alone import alone
from core.house.db import atomic
from engines import safety
from engines.models import ClockStage, SafetyClock
from projects.models import Member, Role
from projects.scoping import is_blinded
from study.models import Subject
from wechat.outbound import cards, outbox
from wechat.outbound.send_message import may_know

AT_ONCE = 200
Stage = ClockStage.Stage
_ROLES = {
    Stage.STARTED: (Role.CRC, Role.PI),
    Stage.SOON: (Role.CRC, Role.PI),
    Stage.OVERDUE: (Role.CRC, Role.PI, Role.ADMIN),
}


def tell_all() -> int:
    """Put what nobody was told of into the outbox; how many events that were."""
    groups = safety.untold(AT_ONCE)
    for group in groups:
        alone("safety notices", partial(_tell, group), group[0].pk)
    return len(groups)


def _tell(stages: Sequence[ClockStage]) -> None:
    """Tell of one event at one point; a report that was made meanwhile is nobody's any more."""
    running = [row for row in stages if row.clock.state == SafetyClock.State.RUNNING]
    with atomic():
        if running:
            for member in _audience(running[0]):
                with translation.override(member.language):
                    text = _text(running, member)
                key = f"safety:{stages[0].pk}:{member.wecom_userid}"
                outbox.tell(to=member, content=text, key=key)
        safety.settle(stages)


def _audience(row: ClockStage) -> list[Member]:
    one = row.clock
    people = Member.objects.filter(
        project=one.project_id, is_active=True, role__in=_ROLES[Stage(row.stage)]
    )
    people = people.exclude(wecom_userid="").select_related("project", "person")
    return [
        member
        for member in people
        if may_know(member, one.record_id) and not (one.unblinds and is_blinded(member))
    ]


def _text(stages: Sequence[ClockStage], member: Member) -> str:
    """A line each recipient, in the study's zone, with the way to the subject's page."""
    heads = {
        Stage.STARTED: _("Serious event of %(subject)s (#%(number)s): to be reported"),
        Stage.SOON: _(
            "Serious event of %(subject)s (#%(number)s): the time to report is nearly over"
        ),
        Stage.OVERDUE: _("Serious event of %(subject)s (#%(number)s): the report is overdue"),
    }
    first = stages[0].clock
    zone = ZoneInfo(first.project.timezone)
    about = {"subject": first.record_id, "number": first.instance or "1"}
    lines = [heads[Stage(stages[0].stage)] % about]
    for row in stages:
        one = row.clock
        line = _(
            "%(subject)s, %(recipient)s: due %(due)s; %(hours)d hours counted from %(start)s, %(source)s"
        )
        lines.append(
            line
            % {
                "subject": one.record_id,
                "recipient": one.get_recipient_display(),
                "due": one.due_at.astimezone(zone).strftime("%Y-%m-%d %H:%M"),
                "hours": one.hours,
                "start": one.started_at.astimezone(zone).strftime("%Y-%m-%d %H:%M"),
                "source": one.get_started_from_display(),
            }
        )
        if one.is_unreadable:
            lines.append(
                _("The report date in REDCap cannot be read as a report: please correct it.")
            )
    lines.append(_("Please report and enter the date in REDCap; the clock then ends by itself."))
    pages = Subject.objects.filter(project=first.project, record_id=first.record_id)
    if (page := pages.values_list("pk", flat=True).first()) is not None:
        lines.append(cards.link(f"/admin/study/subject/{page}/page/"))
    return "\n".join(lines)

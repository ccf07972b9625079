"""Telling the responsible of the clocks of serious events by card: started, soon due, overdue; each once.

Where none of them can be reached the administrators are told, and where these cannot either the operator is.

What is told names subject, recipient and times, nothing of the event. It waits for no best time. A card asks
for nothing but to look: its buttons open pages. It is closed once none of its reports is to be made any
more, or where one is due at another time than it says. `Card.seen` holds the keys of the stages it shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import groupby
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.utils import translation
from django.utils.translation import gettext as _

from core.house.alone import alone
from core.house.db import atomic
from engines import safety
from engines.models import ClockStage, SafetyClock
from memory.visibility import may_know
from projects.models import Member, Role
from projects.scoping import is_blinded
from study.models import Subject
from wechat.models import Card
from wechat.outbound import alerts, cards

KIND = "safety"
AT_ONCE = 200
Stage = ClockStage.Stage
_ROLES = {
    Stage.STARTED: (Role.CRC, Role.PI),
    Stage.SOON: (Role.CRC, Role.PI),
    Stage.OVERDUE: (Role.CRC, Role.PI, Role.ADMIN),
}


class Told(Exception):
    """Another sweep tells of one of these stages: what was written here is rolled back."""


def tell_all() -> int:
    """Put what nobody was told of into the outbox, close what holds no longer; how many events were told."""
    groups = safety.untold(AT_ONCE)
    for group in groups:
        alone("safety notices", partial(_tell, group), group[0].pk)
    alone("safety cards", close_all)
    return len(groups)


def _tell(stages: Sequence[ClockStage]) -> None:
    """Tell of one event at one point; a report that was made meanwhile is nobody's any more."""
    running = [row for row in stages if row.clock.state == SafetyClock.State.RUNNING]
    with suppress(Told), atomic():
        if safety.settle_stages(stages) != len(stages):
            raise Told
        people = sorted(_audience(running[0]), key=lambda one: one.language) if running else []
        for language, some in groupby(people, key=lambda one: one.language):
            cards.send_or_tell(
                [*some],
                kind=KIND,
                ref=f"{stages[0].pk}-{language}",
                version=1,
                project=running[0].clock.project,
                content=partial(_card, running),
                words=partial(_text, running),
                seen=",".join(str(row.pk) for row in running),
            )


def close_all() -> None:
    """Take the buttons off cards whose reports were all made, or are due at another time by now."""
    open_cards = Card.objects.filter(kind=KIND, state=Card.State.OPEN)
    shown = {
        (ref, version): [int(key) for key in seen.split(",")]
        for ref, version, seen in open_cards.values_list("ref", "version", "seen")
    }
    keys = {key for some in shown.values() for key in some}
    rows = ClockStage.objects.filter(pk__in=keys).select_related("clock__project").in_bulk()
    for (ref, version), some in shown.items():
        stages = [rows[key] for key in some if key in rows]
        if not _holds(stages):
            alone("safety cards", partial(_close, ref, version, stages), ref)


def _holds(stages: Sequence[ClockStage]) -> bool:
    running = [row for row in stages if row.clock.state == SafetyClock.State.RUNNING]
    return bool(running) and all(row.due_at == row.clock.due_at for row in running)


def _close(ref: str, version: int, stages: Sequence[ClockStage]) -> None:
    """Say on the card what became of each report; a second sweep changes nothing."""
    language = ref.partition("-")[2]
    with atomic(), translation.override(language):
        note = "; ".join(map(_became, stages)) or _("No longer open")
        for one in cards.close(kind=KIND, ref=ref, up_to=version):
            is_done = all(row.clock.state != SafetyClock.State.RUNNING for row in stages)
            button = _("No longer open") if is_done else _("Due time changed")
            key = f"closed:{one.task_id}"
            cards.show_closed(one, note=note, button=button, key=key, fallback=note)


def _became(row: ClockStage) -> str:
    one = row.clock
    state = str(one.get_state_display())
    if one.reported_on:
        state = f"{state} {one.reported_on:%Y-%m-%d}"
    elif one.state == SafetyClock.State.RUNNING:
        state = _("due %(due)s") % {"due": _local(one, one.due_at)}
    return f"{one.record_id} {one.get_recipient_display()}: {state}"


def _audience(row: ClockStage) -> list[Member]:
    """Who is told; administrators in place of nobody who can be reached, and then the operator."""
    people, away = _knowing(row.clock, *_ROLES[Stage(row.stage)]), alerts.unreachable()
    if all(one.wecom_userid in away for one in people):
        people = list({one.pk: one for one in [*people, *_knowing(row.clock, Role.ADMIN)]}.values())
    if all(one.wecom_userid in away for one in people):
        code = row.clock.project.code
        alerts.sound(alerts.Code.SAFETY, f"safety clock {row.clock_id} {row.stage}", subject=code)
    return people


def _knowing(one: SafetyClock, *roles: Role) -> list[Member]:
    """Members of these roles who may know of a clock and have an account to be told by."""
    people = Member.objects.filter(project=one.project_id, is_active=True, role__in=roles)
    people = people.exclude(wecom_userid="").select_related("project", "person")
    return [
        member
        for member in people
        if may_know(member, one.record_id) and not (one.unblinds and is_blinded(member))
    ]


def _card(stages: Sequence[ClockStage]) -> dict[str, Any]:
    """The card without its task_id: whom to report to by when, and the pages behind it."""
    first = stages[0].clock
    page, register = _pages(first)
    buttons = [cards.button(_("Open clocks"), 2, url=register)]
    if page:
        buttons.insert(0, cards.button(_("Open subject"), 1, url=page))
    started = {"start": _local(first, first.started_at), "source": first.get_started_from_display()}
    text = f"{_('Counted from %(start)s, %(source)s.') % started} {_due_report()}"
    if any(row.clock.is_unreadable for row in stages):
        text = f"{_unreadable()} {text}"
    code, url = first.project.code, page or register
    card = cards.layout(_heading(stages[0]), buttons, desc=code, text=text, url=url)
    due = _("due %(due)s, %(hours)d h")
    told = {
        one: due % {"due": _local(one, one.due_at), "hours": one.hours}
        for one in (row.clock for row in stages)
    }
    facts = [cards.fact(one.get_recipient_display(), words) for one, words in told.items()]
    return {**card, "horizontal_content_list": facts}


def _text(stages: Sequence[ClockStage]) -> str:
    """The same in words, a line each recipient, in the study's zone, with the way to the subject's page."""
    return "\n".join(_lines(stages))


def _lines(stages: Sequence[ClockStage]) -> Iterator[str]:
    yield _heading(stages[0])
    line = _(
        "%(subject)s, %(recipient)s: due %(due)s; %(hours)d hours counted from %(start)s, %(source)s"
    )
    for one in (row.clock for row in stages):
        yield line % {
            "subject": one.record_id,
            "recipient": one.get_recipient_display(),
            "due": _local(one, one.due_at),
            "hours": one.hours,
            "start": _local(one, one.started_at),
            "source": one.get_started_from_display(),
        }
        if one.is_unreadable:
            yield _unreadable()
    yield _due_report()
    page, register = _pages(stages[0].clock)
    yield page or register


def _heading(row: ClockStage) -> str:
    heads = {
        Stage.STARTED: _("%(subject)s: serious event #%(number)s to report"),
        Stage.SOON: _("%(subject)s: serious event #%(number)s soon due"),
        Stage.OVERDUE: _("%(subject)s: serious event #%(number)s overdue"),
    }
    about = {"subject": row.clock.record_id, "number": row.clock.instance or "1"}
    return heads[Stage(row.stage)] % about


def _due_report() -> str:
    return _("Please report and enter the date in REDCap; the clock then ends by itself.")


def _unreadable() -> str:
    return _("The report date in REDCap cannot be read as a report: please correct it.")


def _pages(one: SafetyClock) -> tuple[str, str]:
    """The subject's page ("" where there is none), and its clocks in the register."""
    rows = Subject.objects.filter(project=one.project, record_id=one.record_id)
    key = rows.values_list("pk", flat=True).first()
    page = cards.link(f"/admin/study/subject/{key}/page/") if key is not None else ""
    about = urlencode({"project__id__exact": one.project_id, "record_id__exact": one.record_id})
    return page, cards.link(f"/admin/engines/safetyclock/?{about}")


def _local(one: SafetyClock, moment: Any) -> str:
    return str(moment.astimezone(ZoneInfo(one.project.timezone)).strftime("%Y-%m-%d %H:%M"))

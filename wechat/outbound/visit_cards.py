"""The card of a visit reminder: done, asked to reschedule, remind tomorrow (issue 17; wecom.md 3.3)."""

from __future__ import annotations

from typing import Any

from django.utils import translation
from django.utils.translation import gettext as _

from core.house.db import atomic
from engines.models import RunEvent, VisitReminder
from engines.sop import visit_reminders
from engines.sop.nodes.notify import Notice
from memory.visibility import may_know
from projects.models import Member
from wechat.outbound import cards
from wechat.outbound.cards import Click
from wechat.outbound.outbox import Held

KIND = "visit"
Answer = VisitReminder.Answer


def ready(event: RunEvent) -> None:
    """Send the cards of a reminder's visits; a member who sees no cards has the text alone."""
    run, notice = event.run, Notice.of(event)
    if run is None or notice is None or notice.member.plain_text:
        return
    member = notice.member
    known = [one for one in notice.visits if may_know(member, one[0])]
    with translation.override(member.language):
        for reminder in visit_reminders.ask_about(run, member, known):
            _close_others(reminder, _("There is a newer reminder."), own_only=True)
            cards.send(
                kind=KIND,
                ref=reminder.pk,
                version=1,
                project=reminder.project,
                to=[member.wecom_userid],
                content=visit_card(reminder),
                held=Held(notice.not_before, {"visit": str(reminder.pk)}),
            )


def visit_card(reminder: VisitReminder) -> dict[str, Any]:
    """The card without its task_id: subject id and window, nothing that names a person."""
    about = {"record": reminder.record_id, "visit": reminder.visit}
    window = _("Window %(open)s to %(close)s")
    code = reminder.project.code
    return cards.layout(
        _("Visit to be done: %(record)s %(visit)s") % about,
        [
            cards.button(_("Done"), 1, key=Answer.DONE),
            cards.button(_("Reschedule"), 2, key=Answer.RESCHEDULE),
            cards.button(_("Tomorrow"), 3, key=Answer.TOMORROW),
        ],
        desc=code,
        text=window % {"open": reminder.opens, "close": reminder.closes},
        url=cards.link(f"/admin/visits/?project={code}&view=week"),
    )


def answer_visit(click: Click) -> str:
    """Keep the answer and show it on the card."""
    rows = VisitReminder.objects.select_related("project", "member")
    reminder = rows.filter(pk=click.card.ref, member=click.member).first()
    if reminder is None or not may_know(click.member, reminder.record_id):
        return _("This card is meant for somebody else.")
    with atomic():
        outcome = visit_reminders.keep_answer(
            reminder=reminder, actor=click.member, given=click.incoming.event_key
        )
        note = _note(outcome, click.member)
        cards.replace(
            click.job,
            click.card,
            note=note,
            button=_("Noted") if outcome.fresh else _("No longer open"),
            key=f"answered:{click.card.task_id}",
            fallback=note,
        )
        if outcome.fresh:
            told = _("Answered by somebody else: %(answer)s")
            label = str(Answer(reminder.answer).label)
            _close_others(reminder, told % {"answer": label})
        click.job.finish("" if outcome.fresh else note, click.card.project)
    return ""


def _note(outcome: visit_reminders.Outcome, member: Member) -> str:
    stands = outcome.stands
    if stands is None:
        return _("There is a newer reminder.")
    label = str(Answer(stands.answer).label)
    if stands.member_id != member.pk:
        return _("Answered by somebody else: %(answer)s") % {"answer": label}
    if stands.answer == Answer.DONE:
        return _("Noted: done. Please enter the visit date in REDCap.")
    return _("Noted: %(answer)s") % {"answer": label}


def _close_others(reminder: VisitReminder, note: str, *, own_only: bool = False) -> None:
    """Take back other cards of the same visit that nobody needs to answer any more, or their buttons."""
    for other in visit_reminders.unanswered(reminder):
        if own_only and other.member_id != reminder.member_id:
            continue
        for card in cards.close(kind=KIND, ref=other.pk, up_to=1):
            if not cards.take_back(card):
                key = f"closed:{card.task_id}"
                cards.show_closed(card, note=note, button=_("No longer open"), key=key)

"""Events: entering, following, card clicks; what we do not know is recorded only (wecom.md 1.9)."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable

from django.utils.translation import gettext as _

from core.house.db import atomic
from projects import audit
from projects.models import Member
from wechat.inbound import invitations, votes
from wechat.inbound.job import Job
from wechat.inbound.questions import ask
from wechat.models import Card
from wechat.outbound import (
    alerts,
    cards,
    choice_cards,
    feedback_cards,
    order_cards,
    query_cards,
    visit_cards,
    welcome,
)
from wechat.outbound.cards import Click
from wechat.reviews import review_cards

logger = logging.getLogger(__name__)

CLICKS = ("template_card_event", "template_card_menu_event")
WELCOMES = ("enter_agent", "subscribe")
MENU = "click"
VOTE = "feedback_event"
# WeCom suspends an app that nobody uses (wecom.md 1.9).
WARNINGS = ("inactive_alert", "close_inactive_agent", "low_active_alert", "low_active")
RELIEFS = ("active_restored", "reopen_inactive_agent")


def _ordered(click: Click) -> str:
    """A tap on an order for many is answered like the typed word; the buttons go."""
    said = order_cards.WORDS[click.incoming.event_key]
    ask(click.job, f"{said} #{click.card.ref}", click.member.project)
    with atomic():
        cards.replace(click.job, click.card, note=_("Answered"), button=_("Answered"))
    return ""


def _chosen(click: Click) -> str:
    """A tap on a reading is answered as its number would be; the answer closes the card."""
    text = choice_cards.chosen(click)
    if not text:
        return _("This question is no longer open: please ask again.")
    click.keep_code()
    ask(click.job, text, click.member.project)
    return ""


CLICKED: dict[str, Callable[[Click], str]] = {
    review_cards.KIND: review_cards.decide_by_card,
    query_cards.KIND: query_cards.answer_query,
    feedback_cards.KIND: feedback_cards.take_vote,
    visit_cards.KIND: visit_cards.answer_visit,
    welcome.KIND: welcome.ask_example,
    order_cards.KIND: _ordered,
    choice_cards.KIND: _chosen,
}
"""Who answers the clicks on a kind of card, with what the person is told in words; blank where the changed card
says it all. May finish the job itself."""


def handle_event(job: Job) -> None:
    """Handle an event; ends in `job.finish`."""
    event = job.incoming.event
    if event in CLICKS:
        _click(job)
        return
    if event in WARNINGS:
        alerts.sound(alerts.Code.INACTIVE, event)
    if event in RELIEFS:
        alerts.clear(alerts.Code.INACTIVE)
    member = job.speaker
    if event == VOTE:
        votes.note_vote(job)
        return
    if event == MENU and member and (asked := welcome.question(job.incoming.event_key, member)):
        ask(job, asked)
        return
    with atomic():
        if event in WELCOMES and member:
            welcome.greet(member)
        job.finish()


def _click(job: Job) -> None:
    card = Card.objects.filter(task_id=job.incoming.task_id).select_related("project").first()
    if card is not None and card.kind == invitations.KIND and _fits(job, card):
        invitations.settle_by_card(job, card)
        return
    handler = CLICKED.get(card.kind) if card else None
    if card is None or handler is None or not _fits(job, card):
        _ignore(job, card)
        return
    members = Member.objects.active_of(job.row.from_user)
    member = members.filter(project=card.project).first()
    if member is None:
        _refuse(job, card)
        return
    click = Click(job, member, card)
    if card.kind == review_cards.KIND or click.is_addressed:
        text = handler(click)
    else:
        text = _("This card is meant for somebody else.")
    if not job.finished:
        with atomic():
            job.finish(text, card.project)


def _fits(job: Job, card: Card) -> bool:
    """Whether the click names a button of this card (A6)."""
    content = json.loads(card.content)
    keys = {button.get("key") for button in content.get("button_list", ())}
    kind = job.incoming.card_type
    return job.incoming.event_key in keys and kind in ("", content["card_type"])


def _ignore(job: Job, card: Card | None) -> None:
    what = {"task_id": job.incoming.task_id[:128], "key": job.incoming.event_key[:64]}
    with atomic():
        audit.record(
            "wechat.click_ignored",
            actor=job.row.from_user,
            project=card.project if card else None,
            new=what,
        )
        job.finish()


def _refuse(job: Job, card: Card) -> None:
    """A click by somebody who is not in the card's study (A1)."""
    if card.kind != review_cards.KIND:
        with atomic():
            job.finish(_("This card is meant for somebody else."))
        return
    with atomic():
        audit.record(
            "wechat.decision_refused",
            actor=job.row.from_user,
            project=card.project,
            subject=card,
            new={"key": job.incoming.event_key},
        )
        job.finish(_("You have no say in this review."))

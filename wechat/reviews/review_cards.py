"""The review card: approve or reject a suspended run (seed 001, 4.3; wecom.md 3.3, 8.3)."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext as _

from core.house.db import atomic
from engines.models import Review, TaskRun
from engines.sop.brief import overrides
from wechat.inbound.commands import Decide
from wechat.inbound.parse import Incoming
from wechat.models import Card
from wechat.outbound import cards
from wechat.outbound.cards import Click, fit_card
from wechat.reviews.decisions import decide, decision_text
from wechat.reviews.review_audience import Circle
from wechat.reviews.review_words import KIND as KIND
from wechat.reviews.review_words import deed, in_words, page_of

CLICK = "template_card_event"
QUESTION = "reason"


def reasons() -> dict[str, str]:
    """The reason options of the card; there is no free text on a card (3.3)."""
    return {
        "r_ok": _("Checked against the source"),
        "r_src": _("Source is missing"),
        "r_err": _("Data are wrong"),
        "r_other": _("Other reason"),
    }


def send_review_card(circle: Circle, run: TaskRun) -> None:
    """Send the card to those who decide, in the caller's transaction; a second time does nothing."""
    review = circle.review
    if review.version > 1:
        close_outdated(review)
    cards.send_or_tell(
        circle.reviewers(),
        kind=KIND,
        ref=review.pk,
        version=review.version,
        project=review.project,
        content=lambda: review_card(circle, run),
        words=lambda: in_words(circle),
        seen=review.seen,
    )


def review_card(circle: Circle, run: TaskRun) -> dict[str, Any]:
    """The card without its task_id.

    Where an e-signature is due, and where the evidence does not fit whole, it only links to the console:
    nobody decides by a tap on what they were not shown.
    """
    review = circle.review
    url, name = page_of(review), run.skill.name or run.skill.skill_type
    about = f"{review.project.code} {review.record_id or ''} {name}"
    texts, rows = cards.whole_texts(circle.paragraphs()), cards.whole_rows(circle.values())
    is_whole = texts is not None and rows is not None
    is_decided_here = is_whole and not review.project.requires_signature
    if is_decided_here:
        approve, reject = circle.evidence.verbs
        buttons = [
            cards.button(approve, 1, key="approve"),
            cards.button(reject, 2, key="reject"),
        ]
    else:
        buttons = [cards.button(_("Open console"), 1, url=url)]
    title = _("Review #%(number)s needed") % {"number": review.pk}
    card = cards.layout(title, buttons, desc=about, url=url)
    if is_decided_here:
        card["button_selection"] = cards.selection(QUESTION, _("Reason"), reasons())
    if not is_whole:
        more = _("The evidence does not fit on a card: please decide in the console.")
        texts = {
            "sub_title_text": fit_card(f"{more} {circle.masked(review.question)}", "sub_title")
        }
    facts = [(_("Project"), review.project.code), (_("Subject"), review.record_id or "-")]
    shown = cards.rows_below(facts, (rows or []) if is_whole else [])
    shown.append(cards.fact(_("Values"), _("Open console"), url))
    return {**card, **(texts or {}), "horizontal_content_list": shown}


def decide_by_card(click: Click) -> str:
    """Approve or reject by a button: the text for the person, blank where the changed card says it.

    The decision's event changes the card (`show_decision`), with this click's code.
    """
    key = click.incoming.event_key
    click.keep_code()
    outcome = decide(
        userid=click.member.wecom_userid,
        review_id=int(click.card.ref),
        decision="approve" if key == "approve" else "reject",
        reason=_reason(click.incoming),
        seen=click.card.seen,
        door=Review.Door.CARD,
    )
    if outcome.fresh:
        return ""
    if outcome.project is None:  # not theirs to see; that there is such a review their card tells
        return _("You have no say in this review.")
    if outcome.stale:
        show_as_it_stands(int(click.card.ref))
    return outcome.text


def bare_decision(incoming: Incoming, card: Card) -> Decide | None:
    """The decision that a click without a reason is; None with one."""
    key = incoming.event_key
    if _reason(incoming) or key not in ("approve", "reject"):
        return None
    return Decide(int(card.ref), "approve" if key == "approve" else "reject", "")


def lacks_reason(incoming: Incoming, card: Card) -> bool:
    """Whether a click decides nothing and is asked for its reason (A10)."""
    said = bare_decision(incoming, card)
    if said is None or said.decision == "reject":
        return said is not None
    return any(overrides(one) for one in Review.objects.filter(pk=said.review_id))


def _reason(incoming: Incoming) -> str:
    """The chosen option's text; none, several or an unknown one is no reason (A7)."""
    return reasons().get(cards.chosen_option(incoming, QUESTION), "")


def show_decision(review: Review) -> None:
    """Change the review's open cards to what was decided."""
    closed = cards.close(kind=KIND, ref=review.pk, up_to=review.version)
    if not closed:
        return
    button = deed(review)
    note = decision_text(review) if review.decided_by else button
    for card in closed:
        key = f"decided:{card.task_id}"
        cards.show_closed(card, note=note, button=button, key=key, fallback=note)


def show_as_it_stands(pk: int) -> None:
    """Change the open cards of a review that show something else: what its events do, where they are late.

    Who comes second changes nothing: the cards are closed by a condition, each change has a key.
    """
    review = Review.objects.select_related("project").get(pk=pk)
    with atomic(), translation.override(settings.LANGUAGE_CODE):
        if review.status == Review.Status.OPEN:
            close_outdated(review)
        else:
            show_decision(review)


def close_outdated(review: Review) -> None:
    """Take the buttons off cards that show values of an earlier version."""
    note, button = _("The values changed: please use the newer card."), _("No longer open")
    older = review.version - 1
    for card in cards.close(kind=KIND, ref=review.pk, up_to=older):
        cards.show_closed(card, note=note, button=button, key=f"outdated:{card.task_id}")

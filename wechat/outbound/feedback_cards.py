"""The feedback card under an answer: 👍 / 👎 with three reasons, then a thank-you (issue 5; seed 002, 2.9)."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from core.house.db import atomic
from projects.models import Project
from wechat.inbound import votes
from wechat.outbound import cards
from wechat.outbound.cards import Click

KIND = "feedback"
QUESTION = "reason"
LEAST_CHARS = 60  # not on every short answer
KEYS = {"up": "thumbs_up", "down": "thumbs_down"}


def reasons() -> dict[str, str]:
    """Our labels of a 👎 (decisions.md, "feedback")."""
    return {
        "too_long": _("Too long"),
        "inaccurate": _("Inaccurate"),
        "unclear": _("Unclear"),
    }


def offer_feedback_card(
    *, project: Project | None, to_user: str, answer: str, conversation_id: str | None
) -> None:
    """Put a card under a longer answer where the project wants it. Called inside its transaction."""
    if not project or not project.feedback_cards or not conversation_id:
        return
    if len(answer) < LEAST_CHARS:
        return
    cards.send(
        kind=KIND,
        ref=conversation_id,
        version=1,
        project=project,
        to=[to_user],
        content=feedback_card(),
    )


def feedback_card() -> dict[str, Any]:
    """The card without its task_id."""
    buttons = [cards.button("👍", 1, key="up"), cards.button("👎", 2, key="down")]
    selection = cards.selection(QUESTION, _("If not, why?"), reasons())
    return {
        **cards.layout(_("Was this answer helpful?"), buttons),
        "button_selection": selection,
    }


def take_vote(click: Click) -> str:
    """Note the vote (the latest wins), thank, and ask a bare 👎 for its reason."""
    feedback = KEYS[click.incoming.event_key]
    chosen = cards.chosen_option(click.incoming, QUESTION)
    reason = chosen if chosen in reasons() and feedback == "thumbs_down" else None
    with atomic():
        rated = votes.cast(
            member=click.member,
            feedback=feedback,
            reason=reason,
            conversation_id=click.card.ref,
        )
        said = votes.thanks(rated, feedback, reason)
        note = votes.THANKS if rated else votes.NOTHING
        cards.replace(
            click.job,
            click.card,
            note=_(note),
            button=_("Thank you") if rated else _("No longer open"),
            fallback=_(note),
        )
        # The card has said so; words are for what is still asked.
        click.job.finish("" if said == _(note) else said, click.card.project)
    return ""

"""The feedback card under an answer: 👍 / 👎 with three reasons, then a thank-you (issue 5; seed 002, 2.9)."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from core.house.db import atomic
from projects.models import Project
from wechat.inbound import votes
from wechat.outbound import cards
from wechat.outbound.cards import Click, fit_card

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


def offer(
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
    return {
        "card_type": "button_interaction",
        "main_title": {"title": fit_card(_("Was this answer helpful?"), "title")},
        "button_selection": cards.selection(QUESTION, _("If not, why?"), reasons()),
        "button_list": [
            {"text": "👍", "style": 1, "key": "up"},
            {"text": "👎", "style": 2, "key": "down"},
        ],
    }


def take_vote(click: Click) -> str:
    """Note the vote (the latest wins), thank, and ask a bare 👎 for its reason; only the reader has one."""
    if click.member.wecom_userid not in click.card.to_user.split("|"):
        return _("This card is meant for somebody else.")
    feedback = KEYS[click.incoming.event_key]
    chosen = click.incoming.selected.get(QUESTION, ())
    known = len(chosen) == 1 and chosen[0] in reasons() and feedback == "thumbs_down"
    reason = chosen[0] if known else None
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
            click.card,
            note=_(note),
            button=_("Thank you") if rated else _("No longer open"),
            key=click.key,
            code=click.incoming.response_code,
            fallback=_(note),
        )
        # The card has said so; words are for what is still asked.
        click.job.finish("" if said == _(note) else said, click.card.project)
    return ""

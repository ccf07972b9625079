"""What is said about a review without its number: explained, never decided (issue 5).

A decision can't be taken back, so a text that only may mean one gets the words that do.
"""

from __future__ import annotations

import re
from datetime import timedelta

from django.utils.translation import gettext as _

from engines.assistant.read.offline import detect
from engines.models import Review
from engines.sop.brief import Brief, kept_brief, overrides, verbs
from engines.sop.reviews import Decision, reviewer
from projects.models import Member
from wechat.inbound import commands
from wechat.inbound.commands import Decide, Unnumbered, deciding
from wechat.inbound.job import CHANNELS
from wechat.models import Card, InboxMessage
from wechat.reviews import review_cards
from wechat.reviews.review_words import KIND, how, to_be_signed

ASKED_FOR = timedelta(minutes=10)
_LOOKED_BACK = 10
_LISTED = 5
_ASKS = re.compile(
    r"[?\uff1f]|[吗么呢]\s*$|什么|多少|怎么|哪|谁|^(?:请|帮我|麻烦|给我)*(?:查|看|跑|列|统计)"
)
# What is no reason by its own words; a reason may sound like a question about data or a complaint.
_NO_REASON = frozenset(
    {
        "count_records",
        "query_history",
        "analyze_trend",
        "generate_report",
        "project_info",
        "remember",
        "general_chat",
        "off_topic",
    }
)
# What asks for a subject where it names one; "P001数据有误" and "缺少P001的原件" ask for none.
_OF_A_SUBJECT = frozenset({"query_record", "visit_window", "qc_task"})


def explain(row: InboxMessage, text: str) -> str:
    """How to decide what `text` may be about; "" where it is an ordinary message."""
    said = commands.unnumbered(text)
    if said:
        return _which(row.from_user, said)
    asked = _asked_for_reason(row)
    return _as_reason(*asked, text) if asked and _may_be_reason(text) else ""


def _which(userid: str, said: Unnumbered) -> str:
    """The reviews that wait for this person, and what to reply; "" where the number counts something."""
    waiting = _waiting(userid)
    if said.numbers:
        waiting = [review for review in waiting if review.pk in said.numbers]
    if not waiting:
        return "" if said.counts else _("No review is waiting for your decision.")
    open_here = [review for review in waiting if not review.project.requires_signature]
    if not open_here:
        return to_be_signed(waiting[0])
    lines = [_("Nothing was decided: please name the review. Waiting for you:")]
    lines += [_line(review) for review in open_here[:_LISTED]]
    if len(open_here) > _LISTED:
        lines.append(_("… %(number)s reviews in all") % {"number": len(open_here)})
    first = open_here[0]
    deeds = verbs(first, kept_brief(first) or Brief())
    return "\n".join([*lines, how(first, deeds, said.decision, said.reason)])


def _line(review: Review) -> str:
    skill = review.task_run.skill
    return " ".join(
        filter(None, [f"#{review.pk}", skill.name or skill.skill_type, review.record_id])
    )


def _waiting(userid: str) -> list[Review]:
    """Open reviews that this person may decide, oldest first."""
    found: list[Review] = []
    for member in Member.objects.active_of(userid):
        rows = Review.objects.for_member(member).filter(
            project=member.project, status=Review.Status.OPEN
        )
        rows = rows.select_related("project", "task_run__skill").order_by("pk")
        found += [review for review in rows if reviewer(member, review)]
    return found


def _asked_for_reason(row: InboxMessage) -> tuple[Review, Decision] | None:
    """The open review that this person has just tried to decide without the reason that it takes.

    None once a message since then was taken for the reason: it is explained once.
    """
    before = InboxMessage.objects.filter(
        from_user=row.from_user, pk__lt=row.pk, received_at__gte=row.received_at - ASKED_FOR
    )
    later: list[str] = []
    for earlier in before.order_by("-pk")[:_LOOKED_BACK]:
        if said := _decided_bare(earlier):
            if any(_may_be_reason(text) for text in later):
                return None
            found = [one for one in _waiting(row.from_user) if one.pk == said.review_id]
            return next(((one, said.decision) for one in found if _takes_reason(one, said)), None)
        later.append(earlier.content)
    return None


def _takes_reason(review: Review, said: Decide) -> bool:
    is_asked = said.decision == "reject" or overrides(review)
    return is_asked and not review.project.requires_signature


def _decided_bare(row: InboxMessage) -> Decide | None:
    """The decision without a reason that a message or a click is."""
    if row.event == review_cards.CLICK:
        incoming = CHANNELS[row.channel].parse(row.raw)
        card = Card.objects.filter(task_id=incoming.task_id, kind=KIND).first()
        return review_cards.bare_decision(incoming, card) if card else None
    said = commands.read_command(row.content)
    return said if isinstance(said, Decide) and not said.reason else None


def _may_be_reason(text: str) -> bool:
    if not text.strip() or commands.read_command(text) or _ASKS.search(text):
        return False
    found = detect(text)
    asks_of_subject = found.record_ids and _OF_A_SUBJECT & set(found.intents)
    return not asks_of_subject and not _NO_REASON & set(found.intents)


def _as_reason(review: Review, decision: Decision, text: str) -> str:
    words = deciding(decision, review.pk, " ".join(text.split()))
    said = {"number": review.pk, "words": words}
    return _('Review #%(number)s is still open. If this is the reason, reply: "%(words)s"') % said

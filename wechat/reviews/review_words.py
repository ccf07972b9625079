"""A review in words: for who sees no cards, and for who has not been shown it (wecom.md 9.5)."""

from __future__ import annotations

from django.conf import settings
from django.utils.translation import gettext as _

from engines.models import Review
from engines.sop.brief import Brief, Verbs, kept_brief, overrides, verbs
from engines.sop.reviews import Decision
from memory.visibility import told_to
from projects.models import Member
from wechat.aibot import streams
from wechat.inbound.commands import deciding
from wechat.outbound.cards import link
from wechat.outbound.neutralise import neutralise
from wechat.outbound.splitting import LIMIT, split
from wechat.reviews.review_audience import Circle

KIND = "review"
DECISIONS: tuple[Decision, Decision] = ("approve", "reject")


def page_of(review: Review) -> str:
    """Where the console shows the review."""
    return link(f"/admin/engines/review/{review.pk}/change/")


def in_words(circle: Circle) -> str:
    """The request with its evidence and the commands that answer it, or where it is signed."""
    review, shown = circle.review, circle.evidence
    head = f"{review.project.code} {review.record_id or ''}".strip()
    lines = [_("Review #%(number)s needed") % {"number": review.pk}, head, *circle.paragraphs()]
    lines += circle.values()
    signed = review.project.requires_signature
    return "\n".join([*lines, to_be_signed(review) if signed else how(review, shown.verbs)])


def how(review: Review, deeds: Verbs, decision: str = "", reason: str = "") -> str:
    """The words that decide it, and behind which of them a reason has to stand; one may have been given."""
    ways = {}
    for one, deed in zip(DECISIONS, deeds, strict=True):
        given = reason if one == decision else ""
        is_asked = not given and (one == "reject" or overrides(review))
        way = _('"%(words)s" and the reason: %(deed)s') if is_asked else _('"%(words)s": %(deed)s')
        ways[one] = way % {"words": deciding(one, review.pk, given), "deed": deed}
    return _("Reply %(approve)s; %(reject)s.") % ways


def deed(review: Review, decision: str = "") -> str:
    """What was decided, in the words of its button; the status where it has none of its own."""
    status = {"approve": Review.Status.APPROVED, "reject": Review.Status.REJECTED}.get(
        decision, Review.Status(review.status)
    )
    approve, reject = verbs(review, kept_brief(review) or Brief())
    told = {Review.Status.APPROVED: approve, Review.Status.REJECTED: reject}.get(status, "")
    return str(status.label) if told in ("", _("Approve"), _("Reject")) else told


def to_be_signed(review: Review) -> str:
    """Why nothing typed or tapped decides it, and the way to its page."""
    return f"{_('This project wants decisions signed in the console.')} {page_of(review)}"


def to_be_shown(review: Review) -> str:
    """Why nothing is decided by who lacks the second factor of their role, and the way to its page."""
    told = _("Your role demands a second factor: set one up in the console first.")
    return f"{told} {page_of(review)}"


def shown_now(review: Review, member: Member) -> tuple[str, bool]:
    """The review for who wants to decide what they have not been shown, and whether all of it is.

    Where a part is not theirs to read, or would only be linked to, the console shows it: nobody decides on
    the rest of it.
    """
    text = in_words(Circle.of(review, review.task_run))
    most = min(settings.WECOM_MOST_PARTS, streams.LIMIT // LIMIT)
    is_short = len(split(neutralise(text, markdown=True))) < most
    is_whole = is_short and told_to(member, text) == text
    if not is_whole:
        hint = _("This review cannot be shown here as a whole: please decide in the console.")
        return f"{hint} {page_of(review)}", False
    hint = _("You have not been shown this review; nothing was decided.")
    return "\n".join([hint, text, page_of(review)]), True

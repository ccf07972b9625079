"""A decision on a review that came through WeCom, by card or by text (wecom.md 8.3; decisions.md)."""

from __future__ import annotations

from dataclasses import dataclass
from zoneinfo import ZoneInfo

from django.utils import timezone
from django.utils.translation import gettext as _

from core.house.db import atomic
from engines import sop
from engines.models import Review
from engines.sop.reviews import STATUS, Decision
from projects import audit
from projects.login import second
from projects.models import Member, Project
from wechat.reviews.review_words import deed, shown_now, to_be_shown, to_be_signed
from wechat.texts import APPROVE_WORDS, REJECT_WORDS


@dataclass(frozen=True)
class Outcome:
    """What came of it. `fresh`: decided just now; `stale`: the card no longer shows what is.

    `shown`: what `text` shows whole, as `review@version`.
    """

    text: str
    project: Project | None = None
    fresh: bool = False
    stale: bool = False
    shown: str = ""


def decide(
    *,
    userid: str,
    review_id: int,
    decision: Decision,
    reason: str,
    seen: str,
    door: str = Review.Door.TEXT,
) -> Outcome:
    """Approve or reject for a WeCom user, by card or typed word.

    Commits by itself: the engine reads REDCap before it decides. Refused where a second factor is demanded
    (MFA_ROLES) and the member's login has none: they would pass by it here.
    Idempotent: who decided so already is told so again.
    """
    member, review = find(userid, review_id)
    if member is None or review is None:
        if hidden := Review.objects.filter(pk=review_id).select_related("project").first():
            _note_refusal(userid, hidden, decision)
        return Outcome(_("There is no review #%(number)s.") % {"number": review_id})
    if second.is_missing(member.person):
        _note_refusal(member, review, decision)
        return Outcome(to_be_shown(review), review.project)
    try:
        sop.decide(
            review_id=review.pk,
            actor=member,
            decision=decision,
            reason=reason,
            seen=seen,
            door=door,
        )
    except sop.SopError as error:
        return _refused(error, member, review, decision)
    said = {"number": review_id, "status": deed(review, decision)}
    text = _("Review #%(number)s: %(status)s.") % said
    return Outcome(text, review.project, fresh=True)


def find(userid: str, review_id: int) -> tuple[Member | None, Review | None]:
    """The review and the membership that sees it; "not yours" and "does not exist" are the same."""
    for member in Member.objects.active_of(userid):
        visible = Review.objects.for_member(member).select_related("project")
        if review := visible.filter(pk=review_id).first():
            return member, review
    return None, None


def _refused(error: sop.SopError, member: Member, review: Review, decision: Decision) -> Outcome:
    review.refresh_from_db()
    if isinstance(error, sop.NotAllowed):
        _note_refusal(member, review, decision)
        return Outcome(str(error), review.project)
    if isinstance(error, sop.NotSuspended):
        return _too_late(error, member, review, decision)
    if isinstance(error, sop.SignatureRequired):
        return Outcome(to_be_signed(review), review.project)
    if isinstance(error, sop.NotShown):
        text, is_whole = shown_now(review, member)
        shown = f"{review.pk}@{review.version}" if is_whole else ""
        return Outcome(text, review.project, shown=shown)
    if isinstance(error, sop.ReasonRequired):
        word = (APPROVE_WORDS if decision == "approve" else REJECT_WORDS)[0]
        said = {"reject": f"{word} {review.pk}"}
        hint = _('Reply "%(reject)s" and the reason.') % said
        return Outcome(f"{error} {hint}", review.project)
    return Outcome(str(error), review.project, stale=True)


def _note_refusal(actor: Member | str, review: Review, decision: Decision) -> None:
    """A1: also of somebody who is not even told that there is such a review."""
    with atomic():
        audit.record(
            "wechat.decision_refused",
            actor=actor,
            project=review.project,
            subject=review,
            record_id=review.record_id or "",
            new={"decision": decision},
        )


def _too_late(error: sop.SopError, member: Member, review: Review, decision: Decision) -> Outcome:
    """Tell who decided (A3); a task that runs twice finds its own decision."""
    if not review.decided_by:
        return Outcome(str(error), review.project, stale=True)
    own = review.decided_by == member.identity and review.status == STATUS[decision]
    text = decision_text(review)
    return Outcome(text if own else f"{error}. {text}", review.project, stale=True)


def decision_text(review: Review) -> str:
    """Who decided what, and when in the project's zone."""
    local = timezone.localtime(review.decided_at, ZoneInfo(review.project.timezone))
    said = {
        "number": review.pk,
        "status": deed(review),
        "who": _name(review.project, review.decided_by),
        "time": f"{local:%m-%d %H:%M}",
    }
    return _("Review #%(number)s: %(status)s by %(who)s, %(time)s") % said


def _name(project: Project, identity: str) -> str:
    """The display name of who is called so; the identity itself where that is nobody, or not one only."""
    people = Member.objects.named(project, identity)
    names = [*people.values_list("display_name", flat=True)[:2]]
    return (names[0] if len(names) == 1 else "") or identity

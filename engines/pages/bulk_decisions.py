"""Deciding several reviews on one page of the console: only those that the person opened on it.

The page does not know the hash of what a review shows; it comes with the review, when that is opened
(contracts.md, "Admin actions").
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib import messages
from django.contrib.admin import ModelAdmin, helpers
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from engines import sop
from engines.models import Review, TaskRun
from engines.pages import decisions
from projects import reads

ACTIONS: dict[sop.Decision, str] = {"approve": "approve_review", "reject": "reject_review"}
REPEATED = (sop.SignatureRequired, sop.SignatureWrong)
"""What one review is refused for, the next would be, too."""


def decide_selected(
    request: HttpRequest, runs: QuerySet[TaskRun], page: ModelAdmin, decision: sop.Decision
) -> HttpResponse | None:
    """The page, until it comes back with opened reviews and a reason; then what was opened is decided."""
    reviews = _waiting_for(request, runs)
    if not reviews:
        messages.error(request, _("None of the selected runs waits for your decision."))
        return None
    if "apply" in request.POST and _decide_opened(request, reviews, decision):
        return None
    approves = decision == "approve"
    context = page.admin_site.each_context(request) | {
        "title": _("Approve reviews") if approves else _("Reject reviews"),
        "approves": approves,
        "action": ACTIONS[decision],
        "runs": runs,
        "reviews": reviews.values(),
        "reason": request.POST.get("reason", ""),
        "reasons": decisions.reasons(),
        "must_sign": any(one.project.requires_signature for one in reviews.values()),
        "opts": page.model._meta,
        "checkbox": helpers.ACTION_CHECKBOX_NAME,
    }
    return render(request, "engines/decide_selected.html", context)


@require_GET
def open_view(request: HttpRequest, pk: int) -> HttpResponse:
    """What a waiting review shows, with the hash of it."""
    reviews = Review.objects.for_user(request.user)
    review = get_object_or_404(reviews, pk=pk, status=Review.Status.OPEN)
    about = [review.record_id] if review.record_id else []
    reads.note(actor=request.user, project=review.project_id, record_ids=about, door="console")
    return render(request, "engines/opened.html", decisions.review_context(review))


def _waiting_for(request: HttpRequest, runs: Iterable[TaskRun]) -> dict[int, Review]:
    """The open reviews of the runs that the person may decide, each once."""
    found = [sop.open_review(run) for run in runs if run.status == TaskRun.Status.SUSPENDED]
    user: Any = request.user
    return {one.pk: one for one in found if one is not None and sop.has_say(user, one)}


def _decide_opened(
    request: HttpRequest, reviews: dict[int, Review], decision: sop.Decision
) -> bool:
    """Decide one by one, each that could not be decided is named; False: the page has to be shown again."""
    # What was opened on the page comes with the hash of what it showed.
    pairs = [text.partition(":") for text in request.POST.getlist("opened")]
    given = {number: seen for number, _colon, seen in pairs}
    opened = [(one, given[str(pk)]) for pk, one in reviews.items() if str(pk) in given]
    reason = request.POST.get("reason", "").strip()
    if not opened:
        messages.error(request, _("Nothing was decided: open the reviews that you decide."))
    if not reason:
        messages.error(request, _("Please give the reason of the decision."))
    if not (opened and reason):
        return False
    signature, done = decisions.signature(request), 0
    for review, seen in opened:
        try:
            decisions.decide_as_reader(
                request, review, decision=decision, reason=reason, seen=seen, signature=signature
            )
            done += 1
        except REPEATED as error:
            messages.error(request, str(error))
            return False
        except sop.SopError as error:
            messages.error(request, f"{review}: {error}")
    said = _("%d approved.") if decision == "approve" else _("%d rejected.")
    messages.info(request, said % done)
    if left := len(reviews) - len(opened):
        messages.warning(request, _("%d not opened, so not decided.") % left)
    return True

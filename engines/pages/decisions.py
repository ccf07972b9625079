"""Decisions in the console: the same services as API, chat and cards.

Of several reviews on one page only those are decided that the person opened on it: the page does not know the
hash of what a review shows, which comes with the review when that is opened (contracts.md, "Admin actions").
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar
from uuid import UUID

from django.contrib import messages
from django.contrib.admin import helpers
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_POST

from core.integrations.redcap import RedcapError
from engines import sop
from engines.models import PendingAction, Review, TaskRun
from engines.pages import finding_words
from engines.pages.evidence import evidence, values
from engines.pages.layout import render_page
from engines.sop import findings, snapshot
from engines.sop.brief import overrides
from engines.sop.checks import switch
from engines.sop.order_run import RecordNotFound, rerun_for
from projects import reads
from projects.scoping import User, held
from study.client import NotConfiguredError, why_unread

RUN = "admin:engines_taskrun_change"
R = TypeVar("R")


REPEATED = (sop.SignatureRequired, sop.SignatureWrong)
"""What one review is refused for, the next would be, too."""


def reasons() -> list[str]:
    """Ready-made reasons of a decision; a person may write others."""
    return [
        _("Checked against the source"),
        _("Source is missing"),
        _("Data are wrong"),
        _("Other reason"),
    ]


def has_say(user: User, row: TaskRun | PendingAction) -> bool:
    """Whether one membership both opens the row and carries a role that decides about it."""
    if getattr(user, "is_superuser", False):
        return True
    rows: Any = type(row)._default_manager
    return any(
        rows.for_member(member).filter(pk=row.pk).exists()
        for member in held(user)
        if member.project_id == row.project_id and member.role in sop.DECIDERS
    )


def attempt(request: HttpRequest, act: Callable[[], R], about: str = "") -> R | None:
    """What `act` returns; None, with the reason told to the reader, where it could not be done.

    `about`: which row a refusal is about.
    """
    try:
        return act()
    except RecordNotFound:
        why = _("There is no such subject.")
    except (RedcapError, NotConfiguredError) as error:
        why = why_unread(error)
    except sop.SopError as error:
        why = f"{about}: {error}" if about else str(error)
    messages.error(request, why)
    return None


def run_context(request: HttpRequest, run: TaskRun) -> dict[str, Any]:
    """What the run's page shows beside its fields."""
    review = sop.open_review(run) if run.status == TaskRun.Status.SUSPENDED else None
    ended = run.status not in {TaskRun.Status.RUNNING, TaskRun.Status.SUSPENDED}
    found = findings.open_now(run)
    words = finding_words.by_key([str(row.pk) for row in found])
    may_decide = bool(review and sop.has_say(request.user, review))  # type: ignore[arg-type]
    may_act = has_say(request.user, run)
    return {
        "run": run,
        "covered": switch.coverage(run, switch.running(run.project)) if ended else "",
        "review": review_context(review) if review else None,
        "reasons": reasons(),
        "waiting": sop.waiting_for(review).exclude(pk=run.pk) if review else [],
        "open_findings": [words[str(row.pk)] for row in found if str(row.pk) in words],
        "hits": {row.field for row in found},
        "may_decide": may_decide,
        "must_sign": run.project.requires_signature,
        "may_cancel": not ended and may_act and (may_decide or not review),
        "may_rerun": ended and may_act and run.skill.is_active,
        "reruns": run.reruns.order_by("created_at"),
        "past_reviews": sop.reviews_of(run),
    }


def review_context(review: Review) -> dict[str, Any]:
    """A review as a page shows it: its evidence, and its values beside those before."""
    told = evidence(review)
    return {
        "review": review,
        "rows": review_rows(review),
        "evidence": told,
        "approve": told.verbs[0],
        "reject": told.verbs[1],
        "must_explain": overrides(review),
    }


def review_rows(review: Review) -> list[dict[str, Any]]:
    """The values of a review; `before` where they changed since the run read them."""
    now = values(review)
    if review.version == 1:
        return now
    first = Review(project=review.project, values=json.dumps(snapshot.rows(review.task_run)))
    before = {_place(row): row["text"] for row in values(first)}
    return [
        row
        if before.get(_place(row)) == row["text"]
        else row | {"before": before.get(_place(row)) or "-"}
        for row in now
    ]


def _place(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["event"], row["instrument"], row["instance"], row["field"]


@sensitive_post_parameters("password")
@require_POST
def decide_view(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Approve or reject from the run's page."""
    run = _run_of(request, pk)
    if (review := sop.open_review(run)) is None:
        messages.error(request, f"{run}: {sop.WRONG_STATE}")
    else:
        decide_posted(request, review)
    return redirect(RUN, run.pk)


@require_POST
def cancel_view(request: HttpRequest, pk: UUID) -> HttpResponse:
    """End a run that is not wanted any more."""
    run, reason = _run_of(request, pk), request.POST.get("reason", "")
    if _may_act(request, run):
        done = attempt(request, lambda: sop.cancel(run=run, actor=request.user, reason=reason))
        if done is not None:
            messages.success(request, _("Cancelled."))
    return redirect(RUN, run.pk)


@require_POST
def rerun_view(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Repeat an ended run; shows the new one."""
    run, again = _run_of(request, pk), None
    if _may_act(request, run):
        again = attempt(request, lambda: rerun_for(request.user, run))
    if again is not None:
        messages.success(request, _("Started again."))
    return redirect(RUN, (again or run).pk)


def _run_of(request: HttpRequest, pk: UUID) -> TaskRun:
    return get_object_or_404(TaskRun.objects.for_user(request.user), pk=pk)


def _may_act(request: HttpRequest, run: TaskRun) -> bool:
    may = has_say(request.user, run)
    if not may:
        messages.error(request, _("Your role does not allow this."))
    return may


def decide_posted(request: HttpRequest, review: Review) -> bool:
    """Take the decision that a form brought; False with the reason told where it was not taken."""
    if ("approve" in request.POST) == ("reject" in request.POST):
        messages.error(request, _("Please choose: approve or reject."))
        return False
    decision: sop.Decision = "approve" if "approve" in request.POST else "reject"
    decided = attempt(
        request,
        lambda: sop.decide(
            review_id=review.pk,
            actor=request.user,  # type: ignore[arg-type]
            decision=decision,
            reason=request.POST.get("reason", ""),
            seen=request.POST.get("seen", ""),
            signature=signature(request),
            door=Review.Door.CONSOLE,
        ),
        str(review),
    )
    if decided is None:
        return False
    approve, reject = evidence(review).verbs
    address = reverse("admin:engines_review_change", args=[review.pk])
    link = format_html('<a href="{}#take-back" data-key="u">{}</a>', address, _("Take it back"))
    done = f"{review}: {approve if decision == 'approve' else reject}"
    messages.success(request, format_html("{} {}", done, link))
    return True


def signature(request: HttpRequest) -> sop.Signature:
    """The password that the form brought."""
    return sop.Signature(request, request.POST.get("password", ""))


def decide_selected(
    request: HttpRequest, runs: QuerySet[TaskRun], decision: sop.Decision
) -> HttpResponse | None:
    """The page, until it comes back with opened reviews and a reason; then what was opened is decided."""
    found = [sop.open_review(run) for run in runs if run.status == TaskRun.Status.SUSPENDED]
    user: Any = request.user
    reviews = {one.pk: one for one in found if one is not None and sop.has_say(user, one)}
    if not reviews:
        messages.error(request, _("None of the selected runs waits for your decision."))
        return None
    if "apply" in request.POST and _decide_opened(request, reviews, decision):
        return None
    approves = decision == "approve"
    return render_page(
        request,
        "engines/decide_selected.html",
        _("Approve reviews") if approves else _("Reject reviews"),
        TaskRun,
        approves=approves,
        action=f"{decision}_review",
        runs=runs,
        reviews=reviews.values(),
        reason=request.POST.get("reason", ""),
        reasons=reasons(),
        must_sign=any(one.project.requires_signature for one in reviews.values()),
        checkbox=helpers.ACTION_CHECKBOX_NAME,
    )


@require_GET
def open_view(request: HttpRequest, pk: int) -> HttpResponse:
    """What a waiting review shows, with the hash of it."""
    reviews = Review.objects.for_user(request.user)
    review = get_object_or_404(reviews, pk=pk, status=Review.Status.OPEN)
    about = [review.record_id] if review.record_id else []
    reads.note(actor=request.user, project=review.project_id, record_ids=about, door="console")
    return render(request, "engines/opened.html", review_context(review))


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
    signed, done = signature(request), 0
    for review, seen in opened:
        try:
            sop.decide(
                review_id=review.pk,
                actor=request.user,  # type: ignore[arg-type]
                decision=decision,
                reason=reason,
                seen=seen,
                signature=signed,
                door=Review.Door.CONSOLE,
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

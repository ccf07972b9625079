"""Decisions in the console: the same services as API, chat and cards."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.admin import ModelAdmin, helpers
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from engines import sop
from engines.desk import finding_words
from engines.models import PendingAction, Review, TaskRun
from engines.review_view import review_view, values
from engines.sop import findings, snapshot
from engines.sop.order_run import RecordNotFound, rerun_for
from house.db import atomic
from integrations.redcap import RedcapError
from projects.scoping import User, held
from study.client import NotConfiguredError

RUNS = "admin:engines_taskrun_changelist"
RUN = "admin:engines_taskrun_change"


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
    mine = [
        member
        for member in held(user)
        if member.project_id == row.project_id and member.role in sop.DECIDERS
    ]
    rows: Any = type(row)._default_manager
    return any(rows.for_member(member).filter(pk=row.pk).exists() for member in mine)


def page(request: HttpRequest, run: TaskRun) -> dict[str, Any]:
    """What the run's page shows beside its fields."""
    review = sop.open_review(run) if run.status == TaskRun.Status.SUSPENDED else None
    ended = run.status not in {TaskRun.Status.RUNNING, TaskRun.Status.SUSPENDED}
    found = findings.open_now(run)
    words = finding_words.by_key([str(row.pk) for row in found])
    may_decide = bool(review and sop.has_say(request.user, review))  # type: ignore[arg-type]
    return {
        "run": run,
        "review": shown(review, words) if review else None,
        "reasons": reasons(),
        "waiting": sop.waiting_for(review).exclude(pk=run.pk) if review else [],
        "open_findings": [words[str(row.pk)] for row in found if str(row.pk) in words],
        "hits": {row.field for row in found},
        "may_decide": may_decide,
        "must_sign": run.project.requires_signature,
        "may_cancel": not ended and has_say(request.user, run) and (may_decide or not review),
        "may_rerun": ended and run.skill.is_active and has_say(request.user, run),
        "reruns": run.reruns.order_by("created_at"),
        "past_reviews": sop.reviews_of(run),
    }


def shown(review: Review, known: Mapping[str, dict[str, Any]] | None = None) -> dict[str, Any]:
    """A review as a page shows it: its values beside those before, its findings in words.

    `known`: findings in words that the page has already.
    """
    view, known = review_view(review), known or {}
    keys = [one["id"] for one in view["findings"]]
    words = {**known, **finding_words.by_key([key for key in keys if key not in known])}
    found = [words[key] for key in keys if key in words]
    return view | {"rows": review_rows(review), "findings": found}


def review_rows(review: Review) -> list[dict[str, Any]]:
    """The values of a review; `before` where they changed since the run read them."""
    shown = values(review)
    if review.version == 1:
        return shown
    first = Review(project=review.project, values=json.dumps(snapshot.rows(review.task_run)))
    before = {_place(row): row["text"] for row in values(first)}
    return [
        row
        if before.get(_place(row)) == row["text"]
        else row | {"before": before.get(_place(row)) or "-"}
        for row in shown
    ]


def _place(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["event"], row["instrument"], row["instance"], row["field"]


def _run(request: HttpRequest, pk: UUID) -> TaskRun:
    run = TaskRun.objects.for_user(request.user).filter(pk=pk).first()
    if run is None:
        raise Http404
    return run


@sensitive_post_parameters("password")
@require_POST
def decide_view(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Approve or reject from the run's page."""
    run = _run(request, pk)
    if ("approve" in request.POST) == ("reject" in request.POST):
        messages.error(request, _("Please choose: approve or reject."))
        return redirect(RUN, run.pk)
    decision: sop.Decision = "approve" if "approve" in request.POST else "reject"
    review = sop.open_review(run)
    if review is None:
        messages.error(request, f"{run}: {sop.WRONG_STATE}")
        return redirect(RUN, run.pk)
    try:
        decide(
            request,
            review,
            decision=decision,
            reason=request.POST.get("reason", ""),
            seen=request.POST.get("seen", ""),
            signature=signature(request),
        )
    except sop.SopError as error:
        messages.error(request, f"{run}: {error}")
    else:
        done = _("Approved.") if decision == "approve" else _("Rejected.")
        messages.success(request, done)
    return redirect(RUN, run.pk)


@require_POST
def cancel_view(request: HttpRequest, pk: UUID) -> HttpResponse:
    """End a run that is not wanted any more."""
    run = _run(request, pk)
    if not has_say(request.user, run):
        messages.error(request, _("Your role does not allow this."))
        return redirect(RUN, run.pk)
    try:
        sop.cancel(run=run, actor=request.user, reason=request.POST.get("reason", ""))
        messages.success(request, _("Cancelled."))
    except sop.SopError as error:
        messages.error(request, str(error))
    return redirect(RUN, run.pk)


@require_POST
def rerun_view(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Repeat an ended run; shows the new one."""
    run = _run(request, pk)
    if not has_say(request.user, run):
        messages.error(request, _("Your role does not allow this."))
        return redirect(RUN, run.pk)
    try:
        again = rerun_for(request.user, run)
    except RecordNotFound:
        messages.error(request, _("There is no such subject."))
    except (RedcapError, NotConfiguredError):
        messages.error(request, _("REDCap could not be read."))
    except sop.SopError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("Started again."))
        return redirect(RUN, again.pk)
    return redirect(RUN, run.pk)


def decide(request: HttpRequest, review: Review, **said: Any) -> None:
    """Decide in the name of who is logged in. Raises engines.sop.SopError."""
    sop.decide(review_id=review.pk, actor=request.user, **said)  # type: ignore[arg-type]


def signature(request: HttpRequest) -> sop.Signature:
    """The password that the form brought."""
    return sop.Signature(request, request.POST.get("password", ""))


def _ask(
    request: HttpRequest, rows: QuerySet[Any], page: ModelAdmin, action: str, title: str
) -> HttpResponse:
    context = page.admin_site.each_context(request) | {
        "title": title,
        "rows": rows,
        "action": action,
        "opts": page.model._meta,
        "checkbox": helpers.ACTION_CHECKBOX_NAME,
    }
    return render(request, "engines/ask_reason.html", context)


@require_POST
def resolve_view(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Close a finding from its page."""
    finding = PendingAction.objects.for_user(request.user).filter(pk=pk).first()
    if finding is None:
        raise Http404
    _resolve(request, [finding], request.POST.get("reason", "").strip())
    return redirect("admin:engines_pendingaction_change", finding.pk)


def resolve_selected(request: HttpRequest, rows: QuerySet[PendingAction], page: ModelAdmin) -> Any:
    """Ask what was done, then close one by one."""
    reason = request.POST.get("reason", "").strip()
    if not reason:
        if "apply" in request.POST:
            messages.error(request, _("Please say what was done about it."))
        return _ask(request, rows, page, "resolve_findings", _("What was done about it"))
    _resolve(request, rows, reason)
    return None


def _resolve(request: HttpRequest, rows: Any, resolution: str) -> None:
    if not resolution:
        messages.error(request, _("Please say what was done about it."))
        return
    done = 0
    for finding in rows:
        if not has_say(request.user, finding):
            messages.error(request, _("Your role does not allow this."))
            continue
        with atomic():
            closed = findings.close(finding, actor=request.user, resolution=resolution)
        if not closed:
            messages.error(request, _("The finding is closed already."))
        done += closed
    if done:
        messages.success(request, _("%d resolved.") % done)

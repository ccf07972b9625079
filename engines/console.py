"""Decisions in the console: the same services as API, chat and cards."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.admin import ModelAdmin, helpers
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from engines import sop
from engines.models import PendingAction, TaskRun
from engines.review_view import review_view
from engines.sop import findings
from engines.sop.reviews import reviewer
from projects.access import has_role
from projects.db import atomic

DECIDERS = ("PI", "CRC", "ADMIN")
RUNS = "admin:engines_taskrun_changelist"
RUN = "admin:engines_taskrun_change"


def page(request: HttpRequest, run: TaskRun) -> dict[str, Any]:
    """What the run's page shows beside its fields."""
    review = sop.open_review(run) if run.status == TaskRun.Status.SUSPENDED else None
    ended = run.status not in {TaskRun.Status.RUNNING, TaskRun.Status.SUSPENDED}
    return {
        "run": run,
        "review": review_view(review) if review else None,
        "may_decide": bool(review and reviewer(request.user, review)),
        "may_cancel": not ended and has_role(request.user, run.project_id, *DECIDERS),
        "past_reviews": run.reviews.exclude(status="open").order_by("-pk"),
    }


def _run(request: HttpRequest, pk: UUID) -> TaskRun:
    run = TaskRun.objects.for_user(request.user).filter(pk=pk).first()
    if run is None:
        raise Http404
    return run


@require_POST
def decide_view(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Approve or reject from the run's page."""
    run = _run(request, pk)
    decision = "approve" if "approve" in request.POST else "reject"
    reason = request.POST.get("reason", "")
    if _decide(request, run, decision, reason, request.POST.get("seen", "")):
        done = _("Approved.") if decision == "approve" else _("Rejected.")
        messages.success(request, done)
    return redirect(RUN, run.pk)


@require_POST
def cancel_view(request: HttpRequest, pk: UUID) -> HttpResponse:
    """End a run that is not wanted any more."""
    run = _run(request, pk)
    if not has_role(request.user, run.project_id, *DECIDERS):
        messages.error(request, _("Your role does not allow this."))
        return redirect(RUN, run.pk)
    try:
        sop.cancel(run=run, actor=request.user, reason=request.POST.get("reason", ""))
        messages.success(request, _("Cancelled."))
    except sop.NotSuspended as error:
        messages.error(request, str(error))
    return redirect(RUN, run.pk)


def _decide(
    request: HttpRequest, run: TaskRun, decision: sop.Decision, reason: str, seen: str
) -> bool:
    review = sop.open_review(run)
    if review is None:
        messages.error(request, f"{run}: {sop.WRONG_STATE}")
        return False
    try:
        sop.decide(
            review_id=review.pk,
            actor=request.user,  # type: ignore[arg-type]
            decision=decision,
            reason=reason,
            seen=seen,
        )
    except sop.SopError as error:
        messages.error(request, f"{run}: {error}")
        return False
    return True


def approve_selected(request: HttpRequest, runs: QuerySet[TaskRun]) -> None:
    """Approve one by one; each that could not be approved is named."""
    done = sum(_decide(request, run, "approve", "", "") for run in runs)
    messages.info(request, _("%d approved.") % done)


def reject_selected(request: HttpRequest, runs: QuerySet[TaskRun], page: ModelAdmin) -> Any:
    """Ask for the reason, then reject one by one."""
    reason = request.POST.get("reason", "").strip()
    if not reason:
        if "apply" in request.POST:
            messages.error(request, _("Please give the reason of the rejection."))
        return _ask(request, runs, page, "reject_review", _("Reason of the rejection"))
    done = sum(_decide(request, run, "reject", reason, "") for run in runs)
    messages.info(request, _("%d rejected.") % done)
    return None


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


def may_resolve(request: HttpRequest, finding: PendingAction) -> bool:
    """Whether the user has a say in a finding's end."""
    return has_role(request.user, finding.project_id, *DECIDERS)


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
        return _ask(request, rows, page, "resolve_findings", _("What was done about it"))
    _resolve(request, rows, reason)
    return None


def _resolve(request: HttpRequest, rows: Any, resolution: str) -> None:
    if not resolution:
        messages.error(request, _("Please say what was done about it."))
        return
    done = 0
    for finding in rows:
        if not may_resolve(request, finding):
            messages.error(request, _("Your role does not allow this."))
            continue
        with atomic():
            done += findings.close(finding, actor=request.user, resolution=resolution)
    messages.info(request, _("%d resolved.") % done)

"""The console's page of a batch: how far it is, what came of it, the way to stop it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from engines import sop
from engines.models import Batch, PendingAction, TaskRun
from engines.sop.batches import progress, visible, visible_to

PAGE = "admin:engines_batch_change"
RUNS = "admin:engines_taskrun_changelist"
FINDINGS = "admin:engines_pendingaction_changelist"
LISTED = (TaskRun.Status.SUSPENDED, TaskRun.Status.FAILED)
MOST = 50


def context(request: HttpRequest, batch: Batch) -> dict[str, Any]:
    """What the page shows: counts over the subjects that the reader may see."""
    mine = visible(request.user, batch)
    counts = progress(batch, mine)
    done = counts["total"] - counts["running"] - counts["waiting"]
    stopped = batch.runs.filter(record_id__in=mine, status__in=LISTED)
    findings = PendingAction.objects.for_user(request.user)
    return {
        "batch": batch,
        "total": counts["total"],
        "done": done,
        "share": round(100 * done / counts["total"]) if counts["total"] else 0,
        "parts": [_part(batch, status, counts) for status in TaskRun.Status],
        "waiting": counts["waiting"],
        "stopped": stopped.order_by("record_id")[:MOST],
        "most": MOST,
        "findings": findings.filter(task_run__batch=batch).count(),
        "findings_link": f"{reverse(FINDINGS)}?{urlencode({'task_run__batch__id__exact': batch.pk})}",
        "goes_on": batch.ended_at is None,
        "may_cancel": batch.ended_at is None
        and batch.cancelled_at is None
        and sop.may_cancel_batch(request.user, batch),
    }


def _part(batch: Batch, status: TaskRun.Status, counts: dict[str, int]) -> dict[str, Any]:
    query = urlencode({"batch__id__exact": str(batch.pk), "status__exact": status.value})
    return {
        "label": status.label,
        "count": counts[status.lower()],
        "colour": TaskRun.COLOURS[status],
        "link": f"{reverse(RUNS)}?{query}",
    }


def state(batch: Batch) -> tuple[str, str]:
    """Where it stands: a word for the list's colours, and its label."""
    if batch.cancelled_at:
        return "cancelled", _("Cancelled")
    if batch.ended_at:
        return "ended", _("Finished")
    return "running", _("Running")


@require_POST
def cancel_view(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Start no more runs of a batch and end those that are running."""
    rows = visible_to(request.user).select_related("project", "skill")
    batch = get_object_or_404(rows, pk=pk)
    if not sop.may_cancel_batch(request.user, batch):
        messages.error(request, _("Your role does not allow this."))
        return redirect(PAGE, batch.pk)
    try:
        sop.cancel_batch(batch=batch, actor=request.user, reason=request.POST.get("reason", ""))
        messages.success(request, _("Cancelled."))
    except sop.NotSuspended as error:
        messages.error(request, str(error))
    return redirect(PAGE, batch.pk)

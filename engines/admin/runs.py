"""The console's tables of runs, batches and reviews, and the desk."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.decorators import method_decorator
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_post_parameters
from unfold.decorators import action, display

from core.house.admin_json import folded
from engines import labels
from engines.admin.columns import DeciderAdmin, OwnPages, column, named, tag
from engines.models import Batch, PendingAction, Review, SopStep, TaskRun
from engines.pages import batch as batch_page
from engines.pages import decisions, review_desk, schedules
from engines.pages.order import order_view, try_view
from engines.sop.batches import visible_to
from projects import actors
from projects.admin_base import BY_PROJECT, ReadOnlyInline
from projects.admin_lists import OwnRows
from projects.models import Role
from study.admin.export import ExportAdmin
from study.admin.trail_words import TrailWords


class StepInline(ReadOnlyInline):
    model = SopStep
    fields = ("seq", "show_node", "show_kind", "show_outcome", "show_result", "ended_at")
    readonly_fields = fields
    tab = True
    verbose_name_plural = _("journal")
    per_page = 50

    show_kind = named("kind", _("kind"), labels.NODES)
    show_outcome = named("outcome", _("outcome"), labels.OUTCOMES)

    def get_formset(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        """Remembers whose journal it is: every step is of this run."""
        self.config = obj.config if obj else {}
        return super().get_formset(request, obj, **kwargs)

    @admin.display(description=_("node"))
    def show_node(self, obj: SopStep) -> str:
        return labels.node_title(self.config, obj.node)

    @admin.display(description=_("result"))
    def show_result(self, obj: SopStep) -> SafeString | str:
        return folded(_("Show"), obj.result) if obj.result else "-"


class FindingInline(ReadOnlyInline):
    model = PendingAction
    fk_name = "task_run"
    fields = ("action_type", "severity", "field", "message", "event", "instance", "state")
    readonly_fields = fields
    tab = True
    show_change_link = True
    per_page = 50


@admin.register(TaskRun)
class TaskRunAdmin(TrailWords, DeciderAdmin):
    value_words: ClassVar = {"final_state": lambda end: labels.node_title({}, end)}
    empty = _("Nothing has run yet: order a workflow, or wait for its schedule.")
    list_display = (
        *("show_run", "record_id", "show_status", "show_end", "show_by"),
        *("created_at", "show_project"),
    )
    list_filter = (BY_PROJECT, "status", ("skill", OwnRows))
    search_fields = ("record_id", "triggered_by")
    linked_by = ("batch__id__exact",)
    list_select_related = ("skill", "project")
    date_hierarchy = "created_at"
    fields = (
        ("project", "skill"),
        ("record_id", "show_by"),
        ("status", "show_end"),
        "message",
        ("created_at", "completed_at"),
        ("suspended_at", "resumed_at"),
        ("read_at", "is_complete"),
        ("skill_version", "show_node"),
    )
    readonly_fields = ("show_end", "show_node", "show_by")
    inlines = (FindingInline, StepInline)
    actions = ("approve_review", "reject_review", "export_selected")
    actions_list = ("order", "export_list")
    change_form_template = "engines/run.html"

    pages = (
        ("<uuid:pk>/decide/", "taskrun_decide", decisions.decide_view),
        ("<uuid:pk>/cancel/", "taskrun_cancel", decisions.cancel_view),
        ("<uuid:pk>/rerun/", "taskrun_rerun", decisions.rerun_view),
        ("try/", "taskrun_try", try_view),
        ("schedules/", "schedules", schedules.list_view),
        ("schedules/<uuid:pk>/", "schedule", schedules.one_view),
    )

    show_run = column(_("run"), lambda run: run.skill.name)
    show_node = column(_("node"), lambda run: _where(run))
    show_end = column(
        _("outcome"), lambda run: labels.name(labels.ENDS, run.final_state) or _where(run)
    )
    show_by = actors.column("triggered_by", _("ordered by"))
    show_status = tag("status", _("status"), TaskRun.COLOURS)

    @action(
        description=_("Order a workflow"),
        url_path="order",
        permissions=["decide"],
        icon="play_arrow",
    )
    def order(self, request: HttpRequest) -> HttpResponse:
        """Run a workflow on subjects, or try what it would do."""
        return order_view(request, self)

    @method_decorator(sensitive_post_parameters("password"))
    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        return super().changelist_view(request, extra_context)

    def more_context(self, request: HttpRequest, obj: TaskRun) -> dict[str, Any]:
        return decisions.run_context(request, obj)

    @admin.action(description=_("Approve the reviews of the selected runs"), permissions=["decide"])
    def approve_review(self, request: HttpRequest, queryset: QuerySet[TaskRun]) -> Any:
        return decisions.decide_selected(request, queryset, "approve")

    @admin.action(description=_("Reject the reviews of the selected runs"), permissions=["decide"])
    def reject_review(self, request: HttpRequest, queryset: QuerySet[TaskRun]) -> Any:
        return decisions.decide_selected(request, queryset, "reject")


def _where(run: TaskRun) -> str:
    """Where the run stands; one that is over stands nowhere."""
    return "-" if run.final_state else labels.node_title(run.config, run.current_node) or "-"


@admin.register(Batch)
class BatchAdmin(OwnPages):
    empty = _("A workflow ordered for several subjects at once is followed here.")
    list_display = ("created_at", "show_skill", "show_state", "show_by", "show_project")
    list_filter = (BY_PROJECT, ("skill", OwnRows))
    list_select_related = ("skill", "project")
    date_hierarchy = "created_at"
    readonly_fields = ("show_by",)
    fields = (
        ("project", "skill"),
        ("show_by", "cap"),
        ("created_at", "ended_at"),
        "cancelled_at",
    )
    change_form_template = "engines/batch.html"

    pages = (("<uuid:pk>/cancel/", "batch_cancel", batch_page.cancel_view),)

    show_skill = column(_("skill"), lambda batch: batch.skill.name or batch.skill.skill_type)
    show_by = actors.column("created_by", _("ordered by"))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Batch]:
        return super().get_queryset(request).filter(pk__in=visible_to(request.user).values("pk"))

    @display(
        description=_("status"), label={"running": "info", "ended": "success", "cancelled": ""}
    )
    def show_state(self, obj: Batch) -> tuple[str, str]:
        return batch_page.state(obj)

    def more_context(self, request: HttpRequest, obj: Batch) -> dict[str, Any]:
        return batch_page.context(request, obj)


@admin.register(Review)
class ReviewAdmin(OwnPages, ExportAdmin):
    empty = _("No review yet: a workflow asks here what only a person may decide.")
    list_display = (
        *("show_number", "record_id", "question", "show_status", "show_by"),
        *("decided_at", "created_at"),
    )
    list_filter = (BY_PROJECT, "status")
    search_fields = ("record_id", "decided_by")
    sealed_search_fields = ("question",)
    fields = (
        ("record_id", "task_run"),
        ("show_node", "version"),
        "question",
        ("status", "show_reviewers"),
        ("show_by", "decided_at"),
        "reason",
        "project",
        "seen",
    )
    labels = {"task_run": _("run")}
    actions = ("export_selected",)
    actions_list = ("export_list",)
    readonly_fields = ("show_reviewers", "show_node", "show_by")
    change_form_template = "engines/review.html"

    pages = (
        ("<int:pk>/opened/", "review_opened", decisions.open_view),
        ("desk/", "review_desk", review_desk.queue_view),
        ("<int:pk>/desk/", "review_desk_page", review_desk.review_view),
    )

    show_number = column(_("number"), lambda review: f"#{review.pk}", "pk")
    show_node = column(
        _("node"), lambda review: labels.node_title(review.task_run.config, review.node)
    )
    show_by = actors.column("decided_by", _("decided by"))
    show_status = tag("status", _("status"), Review.COLOURS)

    @admin.display(description=_("reviewers' roles"))
    def show_reviewers(self, obj: Review) -> str:
        names = dict(Role.choices)
        return ", ".join(str(names.get(role, role)) for role in obj.reviewers) or "-"

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """An open review is decided at the desk (cards link here); a closed one is shown as it was."""
        review = self.get_object(request, object_id)
        if review and review.status == Review.Status.OPEN:
            return redirect(review_desk.PAGE, review.pk)
        answer: HttpResponse = super().change_view(request, object_id, form_url, extra_context)
        return answer

    def more_context(self, request: HttpRequest, obj: Review) -> dict[str, Any]:
        return review_desk.closed(request, obj)

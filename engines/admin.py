from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path
from django.utils.decorators import method_decorator
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_post_parameters
from unfold.decorators import action, display

from engines import batch_page, bulk_decisions, console, labels, schedules_page
from engines.admin_decider import DeciderAdmin
from engines.admin_findings import PendingActionAdmin
from engines.admin_open_questions import OpenQuestionAdmin
from engines.admin_order import order_view
from engines.admin_traces import AgentTraceAdmin
from engines.desk import finding_words
from engines.desk import views as desk
from engines.models import (
    Batch,
    PendingAction,
    Review,
    SopStep,
    TaskRun,
)
from engines.sop.batches import visible_to
from house.admin_json import folded
from projects import actors
from projects.admin_base import BY_PROJECT, ReadOnlyInline, ScopedAdmin
from projects.admin_lists import OwnRows
from projects.models import Role
from study.admin import trail_words
from study.admin.export import ExportAdmin

__all__ = [
    "AgentTraceAdmin",
    "OpenQuestionAdmin",
    "PendingActionAdmin",
]  # registered where they are defined


trail_words.call("rule", finding_words.rule_name)
trail_words.call("final_state", lambda end: labels.place({}, end))


class StepInline(ReadOnlyInline):
    model = SopStep
    fields = ("seq", "show_node", "show_kind", "show_outcome", "show_result", "ended_at")
    readonly_fields = fields
    tab = True
    verbose_name_plural = _("journal")
    per_page = 50

    def get_formset(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        """Remembers whose journal it is: every step is of this run."""
        self.config = obj.config if obj else {}
        return super().get_formset(request, obj, **kwargs)

    @admin.display(description=_("node"))
    def show_node(self, obj: SopStep) -> str:
        return labels.place(self.config, obj.node)

    @admin.display(description=_("kind"))
    def show_kind(self, obj: SopStep) -> str:
        return labels.name(labels.NODES, obj.kind)

    @admin.display(description=_("outcome"))
    def show_outcome(self, obj: SopStep) -> str:
        return labels.name(labels.OUTCOMES, obj.outcome)

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
class TaskRunAdmin(DeciderAdmin):
    list_display = (
        "show_run",
        "record_id",
        "show_status",
        "show_end",
        "show_by",
        "created_at",
        "show_project",
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

    @action(
        description=_("Order a workflow"),
        url_path="order",
        permissions=["decide"],
        icon="play_arrow",
    )
    def order(self, request: HttpRequest) -> HttpResponse:
        """Run a workflow on subjects, or try what it would do."""
        return order_view(request, self)

    @admin.display(description=_("run"))
    def show_run(self, obj: TaskRun) -> str:
        return obj.skill.name

    @display(
        description=_("status"),
        ordering="status",
        label={str(status): colour for status, colour in TaskRun.COLOURS.items()},
    )
    def show_status(self, obj: TaskRun) -> tuple[str, str]:
        return obj.status, obj.get_status_display()

    @admin.display(description=_("node"))
    def show_node(self, obj: TaskRun) -> str:
        """Where the run stands; one that is over stands nowhere."""
        return "-" if obj.final_state else labels.place(obj.config, obj.current_node) or "-"

    @admin.display(description=_("outcome"))
    def show_end(self, obj: TaskRun) -> str:
        """How it ended, else where it stands."""
        end = labels.name(labels.ENDS, obj.final_state)
        return end or labels.place(obj.config, obj.current_node) or "-"

    show_by = actors.column("triggered_by", _("ordered by"))

    def get_urls(self) -> Any:
        decide = self.admin_site.admin_view(console.decide_view)
        cancel = self.admin_site.admin_view(console.cancel_view)
        rerun = self.admin_site.admin_view(console.rerun_view)
        own = [
            path("<uuid:pk>/decide/", decide, name="engines_taskrun_decide"),
            path("<uuid:pk>/cancel/", cancel, name="engines_taskrun_cancel"),
            path("<uuid:pk>/rerun/", rerun, name="engines_taskrun_rerun"),
            path(
                "schedules/",
                self.admin_site.admin_view(schedules_page.list_view),
                {"page": self},
                name="engines_schedules",
            ),
            path(
                "schedules/<uuid:pk>/",
                self.admin_site.admin_view(schedules_page.one_view),
                {"page": self},
                name="engines_schedule",
            ),
        ]
        return own + super().get_urls()

    @method_decorator(sensitive_post_parameters("password"))
    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        return super().changelist_view(request, extra_context)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> Any:
        run = self.get_object(request, object_id)
        extra = (extra_context or {}) | (console.page(request, run) if run else {})
        return super().change_view(request, object_id, form_url, extra)

    @admin.action(description=_("Approve the reviews of the selected runs"), permissions=["decide"])
    def approve_review(self, request: HttpRequest, queryset: QuerySet[TaskRun]) -> Any:
        return bulk_decisions.decide_selected(request, queryset, self, "approve")

    @admin.action(description=_("Reject the reviews of the selected runs"), permissions=["decide"])
    def reject_review(self, request: HttpRequest, queryset: QuerySet[TaskRun]) -> Any:
        return bulk_decisions.decide_selected(request, queryset, self, "reject")


@admin.register(Review)
class ReviewAdmin(ExportAdmin):
    list_display = (
        "show_number",
        "record_id",
        "question",
        "show_status",
        "show_by",
        "decided_at",
        "created_at",
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

    @admin.display(description=_("node"))
    def show_node(self, obj: Review) -> str:
        return labels.place(obj.task_run.config, obj.node)

    show_by = actors.column("decided_by", _("decided by"))

    @admin.display(description=_("reviewers' roles"))
    def show_reviewers(self, obj: Review) -> str:
        names = dict(Role.choices)
        return ", ".join(str(names.get(role, role)) for role in obj.reviewers) or "-"

    @admin.display(description=_("number"), ordering="pk")
    def show_number(self, obj: Review) -> str:
        return f"#{obj.pk}"

    @display(
        description=_("status"),
        ordering="status",
        label={str(status): colour for status, colour in Review.COLOURS.items()},
    )
    def show_status(self, obj: Review) -> tuple[str, str]:
        return obj.status, obj.get_status_display()

    def get_urls(self) -> Any:
        view = self.admin_site.admin_view
        opened = view(bulk_decisions.open_view)
        own = [
            path("<int:pk>/opened/", opened, name="engines_review_opened"),
            path("desk/", view(desk.queue_view), {"page": self}, name="engines_review_desk"),
            path(
                "<int:pk>/desk/",
                view(desk.review_view),
                {"page": self},
                name="engines_review_desk_page",
            ),
        ]
        return own + super().get_urls()

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """An open review is decided at the desk (cards link here); a closed one is shown as it was."""
        review = self.get_object(request, object_id)
        if review and review.status == Review.Status.OPEN:
            return redirect(desk.PAGE, review.pk)
        extra = desk.closed(request, review) if review else {}
        answer: HttpResponse = super().change_view(
            request, object_id, form_url, (extra_context or {}) | extra
        )
        return answer


@admin.register(Batch)
class BatchAdmin(ScopedAdmin):
    list_display = (
        "created_at",
        "show_skill",
        "show_state",
        "show_by",
        "show_project",
    )
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

    def get_queryset(self, request: HttpRequest) -> QuerySet[Batch]:
        return super().get_queryset(request).filter(pk__in=visible_to(request.user).values("pk"))

    show_by = actors.column("created_by", _("ordered by"))

    @admin.display(description=_("skill"))
    def show_skill(self, obj: Batch) -> str:
        return obj.skill.name or obj.skill.skill_type

    @display(
        description=_("status"), label={"running": "info", "ended": "success", "cancelled": ""}
    )
    def show_state(self, obj: Batch) -> tuple[str, str]:
        return batch_page.state(obj)

    def get_urls(self) -> Any:
        cancel = self.admin_site.admin_view(batch_page.cancel_view)
        return [
            path("<uuid:pk>/cancel/", cancel, name="engines_batch_cancel"),
            *super().get_urls(),
        ]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> Any:
        batch = self.get_object(request, object_id)
        extra = (extra_context or {}) | (batch_page.context(request, batch) if batch else {})
        return super().change_view(request, object_id, form_url, extra)

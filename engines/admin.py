from __future__ import annotations

import json
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import URLPattern, path
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from engines import console
from engines.models import (
    AgentTrace,
    FindingEvent,
    LlmUsage,
    PendingAction,
    Review,
    SopStep,
    TaskRun,
)
from projects.admin_base import HouseAdmin, ReadOnlyInline, ScopedAdmin


class StepInline(ReadOnlyInline):
    model = SopStep
    fields = ("seq", "node", "kind", "outcome", "result", "ended_at")
    readonly_fields = fields
    tab = True
    verbose_name_plural = _("journal")


class FindingInline(ReadOnlyInline):
    model = PendingAction
    fk_name = "task_run"
    fields = ("action_type", "severity", "field", "message", "event", "instance", "state")
    readonly_fields = fields
    tab = True
    show_change_link = True


@admin.register(TaskRun)
class TaskRunAdmin(ScopedAdmin):
    list_display = (
        "show_run",
        "record_id",
        "show_status",
        "show_end",
        "triggered_by",
        "created_at",
        "project",
    )
    list_filter = ("status", "skill__skill_type", "project")
    search_fields = ("record_id", "triggered_by")
    list_select_related = ("skill", "project")
    date_hierarchy = "created_at"
    fields = (
        ("project", "skill", "skill_version"),
        ("record_id", "triggered_by"),
        ("status", "final_state"),
        ("current_node", "message"),
        ("created_at", "suspended_at", "resumed_at", "completed_at"),
    )
    inlines = (FindingInline, StepInline)
    actions = ("approve_review", "reject_review")
    change_form_template = "engines/run.html"

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

    @admin.display(description=_("outcome"))
    def show_end(self, obj: TaskRun) -> str:
        return obj.final_state or obj.current_node or ""

    def get_urls(self) -> list[URLPattern]:
        decide = self.admin_site.admin_view(console.decide_view)
        cancel = self.admin_site.admin_view(console.cancel_view)
        own = [
            path("<uuid:pk>/decide/", decide, name="engines_taskrun_decide"),
            path("<uuid:pk>/cancel/", cancel, name="engines_taskrun_cancel"),
        ]
        return own + super().get_urls()

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> Any:
        run = self.get_object(request, object_id)
        extra = (extra_context or {}) | (console.page(request, run) if run else {})
        return super().change_view(request, object_id, form_url, extra)

    @admin.action(description=_("Approve the reviews of the selected runs"))
    def approve_review(self, request: HttpRequest, queryset: QuerySet[TaskRun]) -> None:
        console.approve_selected(request, queryset)

    @admin.action(description=_("Reject the reviews of the selected runs"))
    def reject_review(self, request: HttpRequest, queryset: QuerySet[TaskRun]) -> Any:
        return console.reject_selected(request, queryset, self)


class EventInline(ReadOnlyInline):
    model = FindingEvent
    fields = ("at", "what", "by", "note")
    readonly_fields = fields
    tab = True


@admin.register(PendingAction)
class PendingActionAdmin(ScopedAdmin):
    list_display = (
        "record_id",
        "show_kind",
        "field",
        "message",
        "event",
        "instance",
        "show_state",
        "created_at",
    )
    list_filter = ("state", "action_type", "severity", "skill_type")
    search_fields = ("record_id", "field", "message", "rule_key")
    date_hierarchy = "created_at"
    fields = (
        ("project", "record_id", "task_run"),
        ("action_type", "severity", "state"),
        ("field", "value"),
        "message",
        ("event", "instrument", "instance"),
        ("skill_type", "skill_version", "node", "rule_key"),
        ("outcome", "reason"),
        "show_detail",
        ("resolved_by", "resolved_at"),
        "resolution",
    )
    readonly_fields = ("show_detail",)
    inlines = (EventInline,)
    actions = ("resolve_findings",)
    change_form_template = "engines/finding.html"

    @display(
        description=_("kind"),
        ordering="action_type",
        label={"violation": "danger", "warning": "warning", "review_required": "info"},
    )
    def show_kind(self, obj: PendingAction) -> tuple[str, str]:
        return obj.action_type, obj.get_action_type_display()

    @display(
        description=_("state"),
        ordering="state",
        label={str(state): colour for state, colour in PendingAction.COLOURS.items()},
    )
    def show_state(self, obj: PendingAction) -> tuple[str, str]:
        return obj.state, obj.get_state_display()

    @admin.display(description=_("what the rule read"))
    def show_detail(self, obj: PendingAction) -> SafeString:
        shown = (
            json.dumps(json.loads(obj.detail), ensure_ascii=False, indent=2) if obj.detail else "-"
        )
        return format_html('<pre class="whitespace-pre-wrap text-xs">{}</pre>', shown)

    def get_urls(self) -> list[URLPattern]:
        resolve = self.admin_site.admin_view(console.resolve_view)
        own = [path("<uuid:pk>/resolve/", resolve, name="engines_pendingaction_resolve")]
        return own + super().get_urls()

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> Any:
        finding = self.get_object(request, object_id)
        may = bool(finding and finding.open_key and console.may_resolve(request, finding))
        extra = (extra_context or {}) | {"may_resolve": may, "finding": finding}
        return super().change_view(request, object_id, form_url, extra)

    @admin.action(description=_("Resolve the selected findings"))
    def resolve_findings(self, request: HttpRequest, queryset: QuerySet[PendingAction]) -> Any:
        return console.resolve_selected(request, queryset, self)


@admin.register(Review)
class ReviewAdmin(ScopedAdmin):
    list_display = (
        "pk",
        "record_id",
        "question",
        "show_status",
        "decided_by",
        "decided_at",
        "created_at",
    )
    list_filter = ("status",)
    search_fields = ("record_id", "question", "decided_by")
    fields = (
        ("project", "task_run", "record_id"),
        ("node", "version"),
        "question",
        ("status", "decided_by", "decided_at"),
        "reason",
        "seen",
    )

    @display(
        description=_("status"),
        ordering="status",
        label={str(status): colour for status, colour in Review.COLOURS.items()},
    )
    def show_status(self, obj: Review) -> tuple[str, str]:
        return obj.status, obj.get_status_display()


@admin.register(AgentTrace)
class AgentTraceAdmin(ScopedAdmin):
    list_display = (
        "created_at",
        "user_id",
        "intent_type",
        "query",
        "token_usage",
        "duration",
        "success",
    )
    list_filter = ("intent_type", "success")
    search_fields = ("user_id", "query")
    date_hierarchy = "created_at"


@admin.register(LlmUsage)
class LlmUsageAdmin(HouseAdmin):
    list_display = ("at", "project", "purpose", "model", "input_tokens", "output_tokens", "ok")
    list_filter = ("purpose", "model", "ok")
    date_hierarchy = "at"

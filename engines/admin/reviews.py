"""The console's table of reviews, and the desk."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy as _

from engines.admin.columns import node, own_pages, tag
from engines.models import Review
from engines.pages import bulk_decisions, review_desk
from projects import actors
from projects.admin_base import BY_PROJECT
from projects.models import Role
from study.admin.export import ExportAdmin


@admin.register(Review)
class ReviewAdmin(ExportAdmin):
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

    show_node = node(_("node"), lambda review: review.task_run.config)
    show_by = actors.column("decided_by", _("decided by"))
    show_status = tag("status", _("status"), Review.COLOURS)

    @admin.display(description=_("reviewers' roles"))
    def show_reviewers(self, obj: Review) -> str:
        names = dict(Role.choices)
        return ", ".join(str(names.get(role, role)) for role in obj.reviewers) or "-"

    @admin.display(description=_("number"), ordering="pk")
    def show_number(self, obj: Review) -> str:
        return f"#{obj.pk}"

    def get_urls(self) -> Any:
        own = own_pages(
            self,
            ("<int:pk>/opened/", "review_opened", bulk_decisions.open_view),
            ("desk/", "review_desk", review_desk.queue_view),
            ("<int:pk>/desk/", "review_desk_page", review_desk.review_view),
        )
        return own + super().get_urls()

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """An open review is decided at the desk (cards link here); a closed one is shown as it was."""
        review = self.get_object(request, object_id)
        if review and review.status == Review.Status.OPEN:
            return redirect(review_desk.PAGE, review.pk)
        extra = (extra_context or {}) | (review_desk.closed(request, review) if review else {})
        answer: HttpResponse = super().change_view(request, object_id, form_url, extra)
        return answer

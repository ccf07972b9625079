from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy as _

from memory import services
from memory.models import (
    ConversationHistory,
    MemoryTombstone,
    ProjectMemory,
    ProjectMemoryVersion,
    UserMemory,
    WeeklyReport,
)
from memory.widgets import MarkdownWidget
from projects import markdown
from projects.admin_base import ReadOnlyInline, ScopedAdmin
from projects.models import Role

EDITORS = (Role.ADMIN, Role.PI)


class ProjectMemoryForm(forms.ModelForm):
    """Remembers which version was read: the later of two writers is told (decisions.md, Memory)."""

    base_version = forms.IntegerField(widget=forms.HiddenInput, required=False)

    class Meta:
        model = ProjectMemory
        fields = ("content",)
        widgets = {"content": MarkdownWidget}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["base_version"] = self.instance.version

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        problem = services.memory_problem(cleaned.get("content", ""))
        if problem:
            self.add_error("content", problem)
        base = cleaned.get("base_version")
        current = ProjectMemory.objects.filter(pk=self.instance.pk).first()
        if current and base and current.version != base:
            self.add_error(
                None,
                _("Somebody changed the memory meanwhile. It now reads:\n%s") % current.content,
            )
        return cleaned


class VersionInline(ReadOnlyInline):
    model = ProjectMemoryVersion
    fields = ("version", "author", "created_at", "content")
    readonly_fields = fields
    tab = True


@admin.register(ProjectMemory)
class ProjectMemoryAdmin(ScopedAdmin):
    form = ProjectMemoryForm
    edit_roles = EDITORS
    list_display = ("project", "last_updated_by", "version", "updated_at")
    fields = ("content", "base_version")
    inlines = (VersionInline,)

    def save_model(self, request: HttpRequest, obj: ProjectMemory, form: Any, change: bool) -> None:
        try:
            services.save_memory(
                project=obj.project,
                content=obj.content,
                base_version=form.cleaned_data.get("base_version") or obj.version,
                actor=request.user,
            )
        except services.MemoryConflict as error:
            messages.error(request, str(error))


@admin.register(WeeklyReport)
class WeeklyReportAdmin(ScopedAdmin):
    list_display = ("show_week", "week_start", "week_end", "created_by", "project")
    list_filter = ("project",)
    search_fields = ("summary",)
    fields = (
        ("project", "week_number"),
        ("week_start", "week_end"),
        "show_summary",
        "metrics",
        "created_by",
    )
    readonly_fields = ("show_summary",)

    @admin.display(description=_("week"), ordering="week_number")
    def show_week(self, obj: WeeklyReport) -> str:
        return str(obj)

    @admin.display(description=_("report"))
    def show_summary(self, obj: WeeklyReport) -> SafeString:
        return format_html(
            '<div class="prose dark:prose-invert max-w-none">{}</div>',
            mark_safe(markdown.render(obj.summary)),  # noqa: S308 - nh3 has cleaned it
        )


@admin.register(ConversationHistory)
class ConversationHistoryAdmin(ScopedAdmin):
    list_display = ("created_at", "user_id", "role", "content", "intent", "record_id", "feedback")
    list_filter = ("role", "intent", "feedback")
    search_fields = ("content", "user_id", "record_id")
    date_hierarchy = "created_at"


@admin.register(UserMemory)
class UserMemoryAdmin(ScopedAdmin):
    list_display = ("user_id", "memory_type", "field", "content", "importance", "created_at")
    list_filter = ("memory_type",)
    search_fields = ("user_id", "field", "content")


@admin.register(MemoryTombstone)
class MemoryTombstoneAdmin(ScopedAdmin):
    view_roles = EDITORS
    list_display = ("created_at", "created_by", "user_id", "project")

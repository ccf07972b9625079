"""The study: its settings, visit plan, documents, subjects and data source."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.admin import TabularInline
from unfold.decorators import display
from unfold.widgets import UnfoldAdminPasswordWidget

from projects import audit, services
from projects.admin_base import BY_PROJECT, ReadOnlyInline, ScopedAdmin
from projects.admin_export import ExportAdmin
from projects.admin_text import rendered
from projects.db import atomic
from projects.models import (
    Dictionary,
    Project,
    ProtocolChunk,
    ProtocolDocument,
    Role,
    Subject,
    SyncState,
    VisitPlanEntry,
)

ADMIN = (Role.ADMIN,)
SECRETS = ("redcap_token", "dify_key", "llm_api_key")
# Shown to those who set the study up, to nobody else.
WIRING = (*SECRETS, "show_trigger_address")


class ProjectForm(forms.ModelForm):
    """Secrets are never sent to the browser: an empty box keeps what is stored."""

    class Meta:
        model = Project
        exclude = ("redcap_det_secret",)  # noqa: DJ006 - a new column belongs to the form unless secret

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in SECRETS:
            if name in self.fields:
                stored = bool(getattr(self.instance, name))
                self.fields[name].required = False
                self.fields[name].widget = UnfoldAdminPasswordWidget(
                    attrs={
                        "autocomplete": "new-password",
                        "placeholder": "••••••" if stored else "",
                    }
                )
                self.fields[name].help_text = _("Leave blank to keep the stored value.")
                self.initial[name] = ""

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        for name in SECRETS:
            if name in self.fields and not cleaned.get(name):
                cleaned[name] = getattr(self.instance, name)
        return cleaned


class VisitPlanInline(TabularInline):
    model = VisitPlanEntry
    fields = (
        "position",
        "visit",
        "arm",
        "anchor_field",
        "date_field",
        "event",
        "day",
        "minus",
        "plus",
    )
    extra = 0
    tab = True

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True

    def _may(self, request: HttpRequest, obj: Any) -> bool:
        return obj is None or ProjectAdmin(Project, admin.site).has_change_permission(request, obj)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._may(request, obj)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._may(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._may(request, obj)


def _tab(title: Any, *fields: Any) -> tuple[Any, dict[str, Any]]:
    return title, {"classes": ("tab",), "fields": fields}


@admin.register(Project)
class ProjectAdmin(ScopedAdmin):
    form = ProjectForm
    edit_roles = ADMIN
    project_path = "pk"
    list_display = ("code", "name", "show_status", "start_date", "target_enrolment")
    search_fields = ("code", "name")
    inlines = (VisitPlanInline,)
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("code", "name"),
                    ("status", "start_date"),
                    ("target_enrolment", "timezone"),
                    ("registration_no", "pi_name"),
                    "record_id_pattern",
                    "synopsis",
                )
            },
        ),
        _tab(
            _("REDCap"),
            "redcap_url",
            "redcap_token",
            "show_trigger_address",
            ("enrolment_field", "withdraw_field"),
            "anchor_is_day",
        ),
        _tab(_("Protocol search"), "dify_url", "dify_key", "dify_dataset_id", "synonyms"),
        _tab(
            _("Language model"),
            "llm_preset",
            "llm_base_url",
            "llm_api_key",
            ("llm_model", "llm_small_model"),
            ("llm_daily_token_cap", "soft_confidence"),
        ),
        _tab(_("Conduct"), "four_eyes", "requires_signature", "feedback_cards", "flow_log_days"),
        _tab(_("Quiet hours"), ("quiet_from", "quiet_until"), "quiet_holidays", "quiet_weekends"),
    )
    readonly_fields = ("show_trigger_address",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.is_superuser

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        given = super().get_fieldsets(request, obj)
        if self._writes(request, obj):
            return given
        return [
            (name, {**part, "fields": [f for f in part["fields"] if f not in WIRING]})
            for name, part in given
        ]

    @admin.display(description=_("data entry trigger address"))
    def show_trigger_address(self, obj: Project) -> str:
        return f"{settings.PUBLIC_URL}/redcap/det/{obj.redcap_det_secret}/" if obj.pk else "-"

    @display(
        description=_("status"),
        ordering="status",
        label={"active": "success", "paused": "warning", "planning": "info", "closed": ""},
    )
    def show_status(self, obj: Project) -> tuple[str, str]:
        return obj.status, obj.get_status_display()

    def save_model(self, request: HttpRequest, obj: Project, form: ModelForm, change: bool) -> None:
        services.save_project(project=obj, actor=request.user)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        """The visit plan, entry by entry, so that each change is in the trail."""
        for entry in formset.save(commit=False):
            services.save_visit(entry=entry, actor=request.user)
        for entry in formset.deleted_objects:
            remove_visit(entry, request.user)


def remove_visit(entry: VisitPlanEntry, actor: object) -> None:
    with atomic():
        old = services.summary(entry)
        audit.record(
            "plan.change", actor=actor, project=entry.project, subject=entry, old=old, new=None
        )
        entry.delete()


@admin.register(VisitPlanEntry)
class VisitPlanAdmin(ExportAdmin):
    list_display = (
        "visit",
        "arm",
        "anchor_field",
        "day",
        "minus",
        "plus",
        "date_field",
        "event",
        "show_project",
    )
    list_filter = (BY_PROJECT, "arm")
    search_fields = ("visit", "date_field")
    fields = (
        ("project", "position"),
        ("visit", "arm"),
        ("anchor_field", "date_field"),
        ("day", "event"),
        ("minus", "plus"),
    )
    actions = ("export_selected",)
    actions_list = ("export_list",)


class ChunkInline(ReadOnlyInline):
    model = ProtocolChunk
    fields = ("position", "heading", "content")
    readonly_fields = fields
    tab = True
    per_page = 20


@admin.register(ProtocolDocument)
class ProtocolDocumentAdmin(ScopedAdmin):
    list_display = ("name", "version", "show_project", "updated_at")
    list_filter = (BY_PROJECT,)
    search_fields = ("name", "text")
    fields = ("project", ("name", "version"), "show_text")
    readonly_fields = ("show_text",)
    inlines = (ChunkInline,)

    @admin.display(description=_("text"))
    def show_text(self, obj: ProtocolDocument) -> Any:
        return rendered(obj.text)


@admin.register(Subject)
class SubjectAdmin(ExportAdmin):
    list_display = ("record_id", "site", "is_present", "synced_at", "show_project")
    list_filter = (BY_PROJECT, "site", "is_present")
    search_fields = ("record_id",)
    fields = ("project", ("record_id", "site"), ("is_present", "synced_at"))
    actions = ("export_selected",)
    actions_list = ("export_list",)


@admin.register(SyncState)
class SyncStateAdmin(ScopedAdmin):
    list_display = ("show_project", "roster_at", "polled_at", "swept_at", "failed_at", "error")
    fields = (
        "project",
        ("roster_at", "polled_at"),
        ("swept_at", "records"),
        ("failed_at", "error"),
    )


@admin.register(Dictionary)
class DictionaryAdmin(ScopedAdmin):
    list_display = ("show_project", "read_at", "digest")
    fields = ("project", ("read_at", "digest"), "content")

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.admin import TabularInline
from unfold.decorators import display

from projects import services
from projects.admin_base import HouseAdmin, ReadOnlyInline, ScopedAdmin
from projects.models import (
    AuditEntry,
    CronFiring,
    Heartbeat,
    Member,
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


class ProjectForm(forms.ModelForm):
    """Secrets are never sent to the browser: an empty box keeps what is stored."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in SECRETS:
            if name in self.fields:
                self.fields[name].required = False
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
    extra = 0
    tab = True

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return obj is None or ProjectAdmin(Project, admin.site).has_change_permission(request, obj)

    has_add_permission = has_change_permission  # type: ignore[assignment]
    has_delete_permission = has_change_permission


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
                    ("status", "start_date", "target_enrolment"),
                    ("timezone", "record_id_pattern"),
                    ("registration_no", "pi_name"),
                    "synopsis",
                )
            },
        ),
        (
            _("REDCap"),
            {
                "classes": ("tab",),
                "fields": (
                    "redcap_url",
                    "redcap_token",
                    "redcap_det_secret",
                    ("enrolment_field", "withdraw_field"),
                    "anchor_is_day",
                ),
            },
        ),
        (
            _("Protocol search"),
            {
                "classes": ("tab",),
                "fields": ("dify_url", "dify_key", "dify_dataset_id", "synonyms"),
            },
        ),
        (
            _("Language model"),
            {
                "classes": ("tab",),
                "fields": (
                    "llm_preset",
                    "llm_base_url",
                    "llm_api_key",
                    ("llm_model", "llm_small_model"),
                    ("llm_daily_token_cap", "soft_confidence"),
                ),
            },
        ),
        (
            _("Conduct"),
            {
                "classes": ("tab",),
                "fields": ("four_eyes", "requires_signature", "feedback_cards", "flow_log_days"),
            },
        ),
    )
    readonly_fields = ("redcap_det_secret",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.is_superuser

    @display(
        description=_("status"),
        ordering="status",
        label={"active": "success", "paused": "warning", "planning": "info", "closed": ""},
    )
    def show_status(self, obj: Project) -> tuple[str, str]:
        return obj.status, obj.get_status_display()

    def save_model(self, request: HttpRequest, obj: Project, form: ModelForm, change: bool) -> None:
        services.save_project(project=obj, actor=request.user)


@admin.register(Member)
class MemberAdmin(ScopedAdmin):
    edit_roles = add_roles = ADMIN
    list_display = ("display_name", "wecom_userid", "role", "site", "project", "is_active")
    list_filter = ("role", "site", "is_active")
    search_fields = ("display_name", "wecom_userid")
    autocomplete_fields = ()
    fields = (
        ("project", "role", "site"),
        ("wecom_userid", "user"),
        ("display_name", "language"),
        ("plain_text", "is_active"),
    )

    def save_model(self, request: HttpRequest, obj: Member, form: ModelForm, change: bool) -> None:
        services.save_member(member=obj, actor=request.user)


class ChunkInline(ReadOnlyInline):
    model = ProtocolChunk
    fields = ("position", "heading", "content")
    readonly_fields = fields
    tab = True


@admin.register(ProtocolDocument)
class ProtocolDocumentAdmin(ScopedAdmin):
    list_display = ("name", "version", "project", "updated_at")
    search_fields = ("name",)
    fields = ("project", "name", "version", "text")
    inlines = (ChunkInline,)


@admin.register(Subject)
class SubjectAdmin(ScopedAdmin):
    list_display = ("record_id", "site", "is_present", "synced_at", "project")
    list_filter = ("site", "is_present")
    search_fields = ("record_id",)
    fields = ("project", "record_id", "site", "is_present", "synced_at")


@admin.register(SyncState)
class SyncStateAdmin(ScopedAdmin):
    list_display = ("project", "roster_at", "records", "failed_at", "error")


@admin.register(AuditEntry)
class AuditEntryAdmin(ScopedAdmin):
    view_roles = (Role.ADMIN, Role.AUDITOR)
    list_display = ("at", "actor", "action", "label", "record_id", "reason", "project")
    list_filter = ("action",)
    search_fields = ("actor", "action", "label", "record_id", "reason")
    date_hierarchy = "at"

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        if obj is not None and obj.project_id is None:
            return bool(request.user.is_superuser)
        return super().has_view_permission(request, obj)


@admin.register(Heartbeat)
class HeartbeatAdmin(HouseAdmin):
    list_display = ("name", "at")


@admin.register(CronFiring)
class CronFiringAdmin(HouseAdmin):
    list_display = ("job", "due_at", "fired_at")

"""The audit trail."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from projects import audit
from projects.admin_base import BY_PROJECT
from projects.models import AuditEntry, Role
from study.admin.export import ExportAdmin

# The apps register their actions as plain message ids; these lines put them into the catalog.
ACTIONS = (
    gettext_noop("Project created"),
    gettext_noop("Project changed"),
    gettext_noop("Member added"),
    gettext_noop("Member changed"),
    gettext_noop("Person added"),
    gettext_noop("Person's login linked"),
    gettext_noop("Unknown or left member refused"),
    gettext_noop("Logged in"),
    gettext_noop("Log-in failed"),
    gettext_noop("Logged out"),
    gettext_noop("Account created"),
    gettext_noop("Account changed"),
    gettext_noop("Account disabled"),
    gettext_noop("Account enabled"),
    gettext_noop("Rights of an account changed"),
    gettext_noop("Password changed"),
    gettext_noop("API token made"),
    gettext_noop("API token revoked"),
    gettext_noop("Subject data read"),
    gettext_noop("Subjects read from REDCap"),
    gettext_noop("Data dictionary read"),
    gettext_noop("Protocol document imported"),
    gettext_noop("Visit plan changed"),
    gettext_noop("Skill created"),
    gettext_noop("Skill changed"),
    gettext_noop("Skill deleted"),
    gettext_noop("Field mapping changed"),
    gettext_noop("Data quality rules taken over"),
    gettext_noop("Data quality rules switched"),
    gettext_noop("Form template changed"),
    gettext_noop("Hot memory changed"),
    gettext_noop("Memory proposed in chat"),
    gettext_noop("Weekly report saved"),
    gettext_noop("Run started"),
    gettext_noop("Alert closed"),
    gettext_noop("Memory line removed for good"),
    gettext_noop("Removed memory line taken back"),
    gettext_noop("Memory proposal accepted"),
    gettext_noop("Memory proposal refused"),
    gettext_noop("Day distilled into hot memory"),
    gettext_noop("Facts of a user kept"),
    gettext_noop("Facts of a user forgotten"),
    gettext_noop("Weekly report edited"),
    gettext_noop("Conversations deleted after their report"),
    gettext_noop("Run ended"),
    gettext_noop("Run cancelled"),
    gettext_noop("Review asked"),
    gettext_noop("Review approved"),
    gettext_noop("Review rejected"),
    gettext_noop("Finding opened"),
    gettext_noop("Finding closed"),
    gettext_noop("Unknown WeCom user refused"),
    gettext_noop("Decision through WeCom refused"),
    gettext_noop("Click on an unknown card ignored"),
    gettext_noop("Message sent again"),
    gettext_noop("Answer rated"),
    gettext_noop("Rows exported"),
    gettext_noop("Study blinded"),
    gettext_noop("Blinding of a study ended"),
    gettext_noop("Who is unblinded changed"),
    gettext_noop("Code of a subject broken"),
)


class ActionFilter(admin.SimpleListFilter):
    title = _("what")
    parameter_name = "action"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, gettext(label)) for name, label in audit.actions().items()]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        return queryset.filter(action=self.value()) if self.value() else queryset


@admin.register(AuditEntry)
class AuditEntryAdmin(ExportAdmin):
    view_roles = (Role.ADMIN, Role.AUDITOR)
    whole_study = True
    list_display = (
        "at",
        "actor",
        "login",
        "show_action",
        "label",
        "record_id",
        "reason",
        "show_project",
    )
    list_filter = (BY_PROJECT, ActionFilter)
    search_fields = ("actor", "login", "action", "record_id")
    sealed_search_fields = ("label", "reason")
    sealed_search_at = "at"
    list_select_related = ("project",)
    date_hierarchy = "at"
    fields = (
        ("at", "show_action"),
        ("actor", "login"),
        "project",
        ("object_type", "object_id"),
        ("label", "record_id"),
        "reason",
        "old",
        "new",
        ("chain", "number"),
        "previous",
        "hash",
    )
    readonly_fields = ("show_action",)
    actions = ("export_selected",)
    actions_list = ("export_list",)

    @admin.display(description=_("what"), ordering="action")
    def show_action(self, obj: AuditEntry) -> str:
        label = audit.actions().get(obj.action)
        return gettext(label) if label else obj.action

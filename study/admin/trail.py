"""The audit trail."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action

from projects import actors, audit
from projects.admin_base import BY_PROJECT
from projects.long_lists import LongList, period
from projects.models import AuditEntry, Role
from study.admin import trail_check, trail_words
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
    gettext_noop("Conversations read"),
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
class AuditEntryAdmin(LongList, ExportAdmin):
    view_roles = (Role.ADMIN, Role.AUDITOR)
    whole_study = True
    list_display = (
        "show_at",
        "show_actor",
        "login",
        "show_action",
        "label",
        "record_id",
        "show_changed",
        "reason",
        "show_project",
    )
    list_filter = (BY_PROJECT, period("at"), ActionFilter)
    search_fields = ("actor", "login", "action", "record_id")
    sealed_search_fields = ("label", "reason")
    sealed_search_at = "at"
    list_select_related = ("project",)
    fields = (
        ("show_at", "show_action"),
        ("show_actor", "login"),
        "project",
        ("show_object", "record_id"),
        "reason",
        "show_changes",
        ("chain", "number"),
        "previous",
        "hash",
    )
    readonly_fields = ("show_at", "show_actor", "show_action", "show_object", "show_changes")
    actions = ("export_selected",)
    actions_list = ("export_list", "check_chain")

    def get_exported(self, request: HttpRequest) -> list[str]:
        """As the list shows it, without marks."""
        plain = {"show_changed": "plain_changed"}
        return [plain.get(name, name) for name in super().get_exported(request)]

    @action(description=_("Check the chain"), url_path="check", icon="verified")
    def check_chain(self, request: HttpRequest) -> HttpResponse:
        """Walk the hash chain of a study's trail, part by part."""
        return trail_check.check_view(request, self)

    @admin.display(description=_("time"), ordering="at")
    def show_at(self, obj: AuditEntry) -> str:
        """To the second: what came first decides a dispute."""
        return f"{localtime(obj.at):%Y-%m-%d %H:%M:%S}"

    show_actor = actors.column("actor", _("who"))

    @admin.display(description=_("what changed"))
    def show_changed(self, obj: AuditEntry) -> SafeString:
        """In short: what changed, and into what."""
        told = trail_words.told(obj, most=120)
        return format_html_join("; ", '{}: <span class="iit-stored">{}</span>', told)

    @admin.display(description=_("what changed"))
    def plain_changed(self, obj: AuditEntry) -> str:
        """The same for a file."""
        return "; ".join(f"{name}: {value}" for name, value in trail_words.told(obj, most=120))

    @admin.display(description=_("what changed"))
    def show_changes(self, obj: AuditEntry) -> SafeString | str:
        """Each thing with its value before and after."""
        rows = trail_words.changes(obj)
        return render_to_string("study/trail_changes.html", {"rows": rows}) if rows else "-"

    @admin.display(description=_("object"))
    def show_object(self, obj: AuditEntry) -> SafeString | str:
        """What is spoken of, with a link where it is still there."""
        kind, address = trail_words.object_of(obj)
        label = obj.label or obj.object_id
        told = f"{kind}: {label}" if kind and label else kind or label or "-"
        return (
            format_html('<a class="iit-link" href="{}">{}</a>', address, told) if address else told
        )

    @admin.display(description=_("what"), ordering="action")
    def show_action(self, obj: AuditEntry) -> str:
        label = audit.actions().get(obj.action)
        return gettext(label) if label else obj.action

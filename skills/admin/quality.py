"""The console's page of REDCap's Data Quality rules: the report, upload, switching on and off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.text import Truncator
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action, display

from projects.admin_base import BY_PROJECT
from projects.models import Project
from skills import dq
from skills.admin import quality_page
from skills.admin.base import ADMIN, administered, confirm_page
from skills.models import QualityRule
from study.admin.export import ExportAdmin

_SHOWN = 120


@admin.register(QualityRule)
class QualityRuleAdmin(ExportAdmin):
    empty = _("No data quality rule was taken over from REDCap yet.")
    list_display = (
        "position",
        "name",
        "show_state",
        "is_on",
        "show_why",
        "show_logic",
        "show_project",
    )
    list_display_links = ("name",)
    list_filter = (BY_PROJECT, "state", "is_on")
    search_fields = ("name", "logic", "reason")
    fields = (
        ("project", "position"),
        "name",
        ("state", "is_on", "real_time"),
        "reason",
        "logic",
        "rule_key",
        "rule",
        ("imported_by", "imported_at"),
    )
    readonly_fields = (
        *("position", "name", "state", "is_on", "real_time", "reason", "logic", "rule_key"),
        *("imported_by", "imported_at"),
    )
    whole_texts = {"show_why": "reason", "show_logic": "logic"}
    more_exported = ("rule_key", "imported_by", "imported_at")
    actions_list = ("upload", "export_list", "export_book")
    actions = ("switch_on", "switch_off", "export_selected")

    @action(
        description=_("Upload REDCap's CSV"),
        url_path="upload",
        permissions=["upload"],
        icon="upload_file",
    )
    def upload(self, request: HttpRequest) -> HttpResponse:
        """Take over the rules of a file, and see what runs."""
        return confirm_page(
            self,
            request,
            name="admin:skills_qualityrule_upload",
            title=gettext("Data quality rules of REDCap"),
            template="skills/quality.html",
            offer=quality_page.offer,
            apply=quality_page.apply_chosen,
        )

    def has_upload_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Who administers a study."""
        return self._has(request, ADMIN, None)

    @display(
        description=_("state"), ordering="state", label={"taken": "success", "refused": "warning"}
    )
    def show_state(self, obj: QualityRule) -> tuple[str, str]:
        return obj.state, obj.get_state_display()

    @admin.display(description=_("why not"), empty_value="-")
    def show_why(self, obj: QualityRule) -> str:
        return Truncator(obj.reason).chars(_SHOWN)

    @admin.display(description=_("logic in REDCap"))
    def show_logic(self, obj: QualityRule) -> str:
        return Truncator(obj.logic).chars(_SHOWN)

    @admin.action(description=_("Switch on the ticked rules"), permissions=["upload"])
    def switch_on(self, request: HttpRequest, queryset: QuerySet[QualityRule]) -> None:
        self._switch(request, queryset, on=True)

    @admin.action(description=_("Switch off the ticked rules"), permissions=["upload"])
    def switch_off(self, request: HttpRequest, queryset: QuerySet[QualityRule]) -> None:
        self._switch(request, queryset, on=False)

    def _switch(self, request: HttpRequest, queryset: QuerySet[QualityRule], *, on: bool) -> None:
        changed = 0
        for project, keys in _by_project(queryset.filter(project__in=administered(self, request))):
            changed += dq.switch_rules(project=project, keys=keys, on=on, actor=request.user)
        if not changed:
            messages.warning(request, gettext("None of these rules changed."))
            return
        told = ngettext("%d rule switched.", "%d rules switched.", changed)
        messages.success(request, told % changed)


def _by_project(rows: QuerySet[QualityRule]) -> Iterator[tuple[Project, list[str]]]:
    keys: dict[Project, list[str]] = {}
    for row in rows.select_related("project").exclude(rule_key=""):
        keys.setdefault(row.project, []).append(row.rule_key)
    yield from keys.items()

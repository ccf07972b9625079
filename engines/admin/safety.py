"""The clocks of serious events, and the register of protocol deviations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from core.house import clock
from engines.admin.columns import DeciderAdmin, OwnFilter, OwnPages, column, shortened, tag
from engines.models import Deviation, SafetyClock
from engines.pages import deviations, finding_words
from engines.pages import safety as pages
from projects import actors
from projects.admin_base import BY_PROJECT, roles
from projects.models import Role
from study.admin.export import ExportAdmin


class Overdue(OwnFilter):
    """Reports whose time is over and that are still to be made."""

    title = _("report due")
    parameter_name = "due"
    options = (("past", _("Report overdue")), ("open", _("Still in time")))

    def narrowed(self, rows: Any, chosen: str, request: HttpRequest) -> Any:
        running, at = rows.filter(state=SafetyClock.State.RUNNING), clock.now()
        within = {"past": running.filter(due_at__lte=at), "open": running.filter(due_at__gt=at)}
        return within.get(chosen, rows)


@admin.register(SafetyClock)
class SafetyClockAdmin(OwnPages, ExportAdmin):
    empty = _("No clock yet: they start with serious events once the study's settings are made.")
    list_display = (
        *("record_id", "show_place", "recipient", "show_state", "show_due"),
        *("show_started", "started_from", "hours", "reported_on"),
    )
    more_exported = ("show_project",)
    list_filter = (*(BY_PROJECT, Overdue), "state", "recipient")
    list_select_related = ("project",)
    list_before_template = "engines/safety/above.html"
    search_fields = ("record_id",)
    linked_by = ("record_id__exact",)
    fields = (
        ("record_id", "event", "instrument", "instance"),
        ("recipient", "hours"),
        ("show_started", "started_from", "show_due"),
        ("show_state", "reported_on"),
    )
    readonly_fields = ("show_started", "show_due", "show_state")
    actions = ("export_selected",)
    actions_list = ("export_list", "export_book")
    pages = (("settings/", "safetyclock_settings", pages.settings_view),)

    show_place = column(_("place"), lambda row: _place(row))
    show_due = column(_("report due"), lambda row: _local(row, "due_at"), "due_at")
    show_started = column(_("started"), lambda row: _local(row, "started_at"), "started_at")

    @display(description=_("state"), ordering="state", label=True)
    def show_state(self, obj: SafetyClock) -> str:
        """In words, with what is overdue or late."""
        return pages.state_words(obj)[0]

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        may_set = Role.ADMIN in roles(request, whole_study=True)
        return super().changelist_view(request, (extra_context or {}) | {"may_set": may_set})

    def more_context(self, request: HttpRequest, obj: SafetyClock) -> dict[str, Any]:
        return {}


def _place(row: SafetyClock) -> str:
    parts = (row.event, f"{row.instrument} #{row.instance}" if row.instance else row.instrument)
    return " · ".join(part for part in parts if part) or "-"


def _local(row: SafetyClock, name: str) -> str:
    moment = getattr(row, name).astimezone(ZoneInfo(row.project.timezone))
    return str(moment.strftime("%Y-%m-%d %H:%M"))


def _place_of_finding(row: Any) -> str:
    row.finding.dictionary_digest = row.dictionary_digest
    return finding_words.place_words(row.finding)


def _decision(state: str) -> Callable[..., Any]:
    """The action that decides about the ticked rows."""

    @admin.action(description=deviations.TITLES[state], permissions=["decide"])
    def act(_page: Any, request: HttpRequest, queryset: QuerySet[Deviation]) -> Any:
        return deviations.decide_selected(request, queryset, state)

    return act


@admin.register(Deviation)
class DeviationAdmin(DeciderAdmin):
    empty = _("No deviation yet: findings of visit windows and rules are proposed here.")
    list_display = (
        *("record_id", "show_state", "show_grade", "source", "show_text", "show_place"),
        *("found_at", "show_by", "decided_at"),
    )
    more_exported = ("reason", "measure", "created_at", "show_finding", "show_project")
    list_filter = (BY_PROJECT, "state", "grade", "source")
    date_hierarchy = "found_at"
    list_select_related = ("project", "finding__task_run")
    search_fields = ("record_id",)
    sealed_search_fields = ("text", "reason")
    linked_by = ("record_id__exact",)
    list_before_template = "engines/safety/keys.html"
    list_after_template = "engines/findings/below.html"
    fields = (("project", "record_id", "source"), ("found_at", "created_at"))
    readonly_fields = ("created_at",)
    actions = (
        *("confirm_deviations", "reject_deviations", "take_back_deviations"),
        "export_selected",
    )
    actions_list = ("export_list", "export_book")
    whole_texts = {"show_text": "text"}
    change_form_template = "engines/safety/deviation.html"
    pages = (("<uuid:pk>/decide/", "deviation_decide", deviations.decide_view),)

    confirm_deviations = _decision(Deviation.State.CONFIRMED)
    reject_deviations = _decision(Deviation.State.REJECTED)
    take_back_deviations = _decision(Deviation.State.PROPOSED)

    show_state = tag("state", _("state"), Deviation.COLOURS)
    show_grade = tag("grade", _("grade"), Deviation.GRADE_COLOURS)
    show_text = shortened("text", _("what happened"))
    show_place = column(_("place"), lambda row: _place_of_finding(row))
    show_by = actors.column("decided_by", _("decision by"))
    show_finding = column(_("state of the finding"), lambda row: row.finding.get_state_display())

    def get_queryset(self, request: HttpRequest) -> QuerySet[Deviation]:
        """With what the words of the study need."""
        return finding_words.worded(super().get_queryset(request))

    def more_context(self, request: HttpRequest, obj: Deviation) -> dict[str, Any]:
        return deviations.context(request, obj)

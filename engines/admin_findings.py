"""The findings desk: the list with its filters and batches, and the page of one finding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import path
from django.utils.html import format_html
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from engines import console, labels
from engines.admin_decider import DeciderAdmin
from engines.desk import checks_page, finding_steps, finding_words, reports, saved
from engines.desk.finding_filters import ByRule, ByWorkflow, Due, Waits, Whose
from engines.models import FindingEvent, PendingAction
from projects import actors
from projects.admin_base import BY_PROJECT, roles
from projects.admin_lists import Undeclared
from projects.long_lists import KeysFirst
from projects.models import Role

MOST_NEIGHBOURS = 1000


def _thread(finding: PendingAction) -> list[FindingEvent]:
    """What happened, each with its word for people."""
    events = [*finding.events.order_by("at", "pk")]
    for event in events:
        event.label = labels.name(labels.EVENTS, event.what)  # type: ignore[attr-defined]
    return events


@admin.register(PendingAction)
class PendingActionAdmin(DeciderAdmin):
    list_display = (
        "record_id",
        "show_kind",
        "show_rule",
        "show_message",
        "show_place",
        "show_value",
        "show_age",
        "assignee",
        "show_due",
        "show_state",
    )
    more_exported = (
        "show_key",
        "severity",
        "event",
        "instrument",
        "instance",
        "field",
        "show_verdict",
        "show_reason",
        "created_at",
        "resolution",
        "show_by",
        "resolved_at",
        "show_project",
    )
    list_filter = (
        BY_PROJECT, Waits, Whose, Due, ByRule,
        "state", "action_type", "severity", ByWorkflow,
    )  # fmt: skip
    linked_by = ("task_run__batch__id__exact",)
    list_select_related = ("project", "task_run")
    list_before_template = "engines/findings/above.html"
    list_after_template = "engines/findings/below.html"
    search_fields = ("record_id", "field", "rule_key", "assignee")
    sealed_search_fields = ("message",)
    fields = (
        ("project", "task_run"),
        ("action_type", "severity"),
        ("show_rule", "show_node"),
        ("show_skill", "skill_version"),
        ("show_verdict", "show_reason"),
    )
    readonly_fields = ("show_rule", "show_skill", "show_node", "show_verdict", "show_reason")
    actions = (
        "confirm_findings",
        "query_findings",
        "assign_findings",
        "accept_findings",
        "reject_findings",
        "reopen_findings",
        "resolve_findings",
        "export_selected",
    )
    actions_list = ("export_list", "export_book")
    whole_texts = {"show_message": "message"}
    paginator = KeysFirst
    change_form_template = "engines/finding.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[PendingAction]:
        """With what the words of the study need; a request asks whose rows they are once, not per filter."""
        known: QuerySet[PendingAction] | None = getattr(request, "_iit_findings", None)
        if known is None:
            known = finding_words.worded(super().get_queryset(request))
            request._iit_findings = known  # type: ignore[attr-defined]
        return known.all()

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

    @admin.display(description=_("message"))
    def show_message(self, obj: PendingAction) -> str:
        return Truncator(obj.message).chars(60)

    @admin.display(description=_("rule"), ordering="rule_key")
    def show_rule(self, obj: PendingAction) -> str:
        return finding_words.rule(obj)

    @admin.display(description=_("rule key"))
    def show_key(self, obj: PendingAction) -> str:
        return obj.rule_key or "-"

    @admin.display(description=_("skill"))
    def show_skill(self, obj: PendingAction) -> str:
        return obj.task_run.skill.name

    @admin.display(description=_("node"))
    def show_node(self, obj: PendingAction) -> str:
        return labels.place(obj.task_run.config, obj.node)

    show_by = actors.column("resolved_by", _("resolved by"))

    @admin.display(description=_("place"))
    def show_place(self, obj: PendingAction) -> str:
        return finding_words.place(obj)

    @admin.display(description=_("value"))
    def show_value(self, obj: PendingAction) -> str:
        return finding_words.value(obj)

    @admin.display(description=_("age"), ordering="-created_at")
    def show_age(self, obj: PendingAction) -> str:
        return finding_words.age_text(obj)

    @admin.display(description=_("due date"), ordering="due_on")
    def show_due(self, obj: PendingAction) -> str:
        """The day; said to be past where it is, not by colour alone."""
        if obj.due_on and finding_words.is_overdue(obj):
            return format_html(
                '<span class="iit-tag danger">{} {}</span>', obj.due_on, _("past due")
            )
        return str(obj.due_on or "-")

    @admin.display(description=_("outcome"))
    def show_verdict(self, obj: PendingAction) -> str:
        return labels.name(labels.VERDICTS, obj.outcome) or "-"

    @admin.display(description=_("reason"))
    def show_reason(self, obj: PendingAction) -> str:
        return labels.name(labels.REASONS, obj.reason) or "-"

    def get_urls(self) -> Any:
        own: dict[str, Callable[..., HttpResponse]] = {
            "resolve": console.resolve_view,
            "step": finding_steps.step_view,
            "assign": finding_steps.assign_view,
            "comment": finding_steps.comment_view,
        }
        view = self.admin_site.admin_view
        paths = [
            path(f"<uuid:pk>/{name}/", view(call), name=f"engines_pendingaction_{name}")
            for name, call in own.items()
        ]
        kept = [
            path("filters/", view(saved.save_view), name="engines_pendingaction_filter"),
            path(
                "filters/<int:pk>/remove/",
                view(saved.remove_view),
                name="engines_pendingaction_filter_remove",
            ),
        ]
        own_pages: dict[str, Callable[..., HttpResponse]] = {
            "rates": reports.rates_view,
            "undecided": reports.undecided_view,
            "checks": checks_page.checks_view,
        }
        more = [
            path(f"{name}/", view(call), {"page": self}, name=f"engines_pendingaction_{name}")
            for name, call in own_pages.items()
        ]
        return [*paths, *kept, *more, *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        extra = (extra_context or {}) | {
            "chips": saved.chips(request),
            "may_switch": Role.ADMIN in roles(request, whole_study=True),
        }
        return super().changelist_view(request, extra)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> Any:
        finding = self.get_object(request, object_id)
        extra = dict(extra_context or {})
        if finding is not None:
            may = console.has_say(request.user, finding)
            extra |= {
                "finding": finding,
                "told": finding_words.told(finding),
                "colour": PendingAction.COLOURS.get(PendingAction.State(finding.state), ""),
                "thread": _thread(finding),
                "ground": finding_words.ground(finding),
                "may_resolve": bool(may and finding.open_key),
                "steps": finding_steps.offered(finding) if may else [],
                "people": finding_steps.people(finding) if may and finding.open_key else [],
                "may_comment": may,
                "reasons": console.reasons(),
                **self._neighbours(request, finding),
            }
        return super().change_view(request, object_id, form_url, extra)

    def _neighbours(self, request: HttpRequest, finding: PendingAction) -> dict[str, Any]:
        """The ones before and after in the list that the page was opened from."""
        asked = QueryDict(request.GET.get("_changelist_filters", ""))
        given, request.GET = request.GET, asked
        try:
            rows = self.get_changelist_instance(request).get_queryset(request)
            keys = [*rows.values_list("pk", flat=True)[:MOST_NEIGHBOURS]]
        except Undeclared:
            keys = []
        finally:
            request.GET = given
        at = keys.index(finding.pk) if finding.pk in keys else -1
        return {
            "place": at + 1,
            "total": len(keys),
            "previous": keys[at - 1] if at > 0 else None,
            "next": keys[at + 1] if -1 < at < len(keys) - 1 else None,
            "kept": given.urlencode(),
            "list_query": asked.urlencode(),
        }

    @admin.action(description=_("Resolve the selected findings"), permissions=["decide"])
    def resolve_findings(self, request: HttpRequest, queryset: QuerySet[PendingAction]) -> Any:
        return console.resolve_selected(request, queryset, self)

    @admin.action(description=_("Confirm the selected findings"), permissions=["decide"])
    def confirm_findings(self, request: HttpRequest, queryset: QuerySet[PendingAction]) -> Any:
        return finding_steps.move_selected(request, queryset, self, "confirm")

    @admin.action(description=_("Query to the site about the selected"), permissions=["decide"])
    def query_findings(self, request: HttpRequest, queryset: QuerySet[PendingAction]) -> Any:
        return finding_steps.move_selected(request, queryset, self, "query")

    @admin.action(description=_("Assign the selected findings"), permissions=["decide"])
    def assign_findings(self, request: HttpRequest, queryset: QuerySet[PendingAction]) -> Any:
        return finding_steps.assign_selected(request, queryset, self)

    @admin.action(description=_("Confirm the data change of the selected"), permissions=["decide"])
    def accept_findings(self, request: HttpRequest, queryset: QuerySet[PendingAction]) -> Any:
        return finding_steps.move_selected(request, queryset, self, "accept")

    @admin.action(description=_("Reject the selected as false alarms"), permissions=["decide"])
    def reject_findings(self, request: HttpRequest, queryset: QuerySet[PendingAction]) -> Any:
        return finding_steps.move_selected(request, queryset, self, "reject")

    @admin.action(description=_("Take up the selected findings again"), permissions=["decide"])
    def reopen_findings(self, request: HttpRequest, queryset: QuerySet[PendingAction]) -> Any:
        return finding_steps.move_selected(request, queryset, self, "reopen")

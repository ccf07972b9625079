"""The findings desk: the list with its filters and batches, and the page of one finding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Case, Count, Q, QuerySet, When
from django.http import HttpRequest, QueryDict
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin

from core.house import clock
from engines import labels, redcap_asks
from engines.admin.columns import DeciderAdmin, OwnFilter, column, named, shortened, tag
from engines.admin.redcap_queries import (
    Beside,
    FindingsList,
    Source,
    listed,
    of_findings,
    redcap_as_of,
    source_words,
)
from engines.models import PendingAction
from engines.pages import (
    checks,
    decisions,
    finding_steps,
    finding_words,
    rule_reports,
    saved_filters,
)
from engines.pages.finding_steps import act_view
from engines.pages.finding_words import rule_name
from engines.sop.checks.kinds import Kind, kind_of
from engines.sop.findings import VERDICT
from projects import actors
from projects.admin_base import BY_PROJECT, roles
from projects.admin_lists import Undeclared
from projects.long_lists import KeysFirst
from projects.models import Role
from projects.scoping import memberships
from skills.models import Skill
from study.admin.trail_words import TrailWords

NOBODY = "-"


MOST_NEIGHBOURS = 1000
_GRAVITY = Case(
    When(open_key__isnull=True, then=3),
    When(severity=PendingAction.Severity.ERROR, then=0),
    When(severity=PendingAction.Severity.WARNING, then=1),
    default=2,
)


class Waits(OwnFilter):
    """Open whatever the state is called (by the key that open findings have), or ended."""

    title = _("waits for a person")
    parameter_name = "waits"
    options = (("yes", _("Waiting")), ("no", _("Ended")))

    def narrowed(self, rows: Any, chosen: str, request: HttpRequest) -> Any:
        if chosen == "yes":
            return rows.unclosed()
        return rows.filter(open_key__isnull=True) if chosen == "no" else rows


class Whose(OwnFilter):
    """Mine, nobody's, or one person's. By identity; a person may go by another in each study."""

    title = _("assignee")
    parameter_name = "whose"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, Any]]:
        """Those that open findings of the reader are given to."""
        rows = model_admin.get_queryset(request).unclosed()
        people = rows.exclude(assignee="").order_by("assignee")
        given = people.values_list("assignee", flat=True).distinct()[:50]
        return [("me", _("Mine")), (NOBODY, _("Nobody's")), *((name, name) for name in given)]

    def narrowed(self, rows: Any, chosen: str, request: HttpRequest) -> Any:
        if chosen == "me":
            mine = {member.identity for member in memberships(request.user)}
            return rows.filter(assignee__in=mine | {request.user.get_username()})
        return rows.filter(assignee="" if chosen == NOBODY else chosen)


class Due(OwnFilter):
    """By when it is to be done; only what is open is due."""

    title = _("due date")
    parameter_name = "due"
    options = (
        ("past", _("Past due")),
        ("now", _("Due today or before")),
        ("week", _("Within 7 days")),
        ("none", _("No due date")),
    )

    def narrowed(self, rows: Any, chosen: str, request: HttpRequest) -> Any:
        """By the house's day: studies of several zones are listed together."""
        today = clock.now().date()
        within = {
            "past": Q(due_on__lt=today),
            "now": Q(due_on__lte=today),
            "week": Q(due_on__gte=today, due_on__lte=today + timedelta(days=7)),
            "none": Q(due_on__isnull=True),
        }
        return rows.unclosed().filter(within[chosen]) if chosen in within else rows


class ByRule(OwnFilter):
    """The rules that the reader's own findings are of; a standard check by the start of its key."""

    title = _("rule")
    parameter_name = "rule"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, Any]]:
        """Standard checks by what they look for, then the study's rules."""
        rows = model_admin.get_queryset(request).order_by("rule_key")
        keys = [*rows.values_list("rule_key", flat=True).distinct()[:2000]]
        kinds = {kind for key in keys if (kind := kind_of(key))}
        own = [(key, rule_name(key)) for key in keys if key and kind_of(key) is None]
        return [*((f"std.{k}.", k.label) for k in Kind if k in kinds), *own]

    def narrowed(self, rows: Any, chosen: str, request: HttpRequest) -> Any:
        is_kind = chosen.startswith("std.") and chosen.endswith(".")
        return rows.filter(**{"rule_key__startswith" if is_kind else "rule_key": chosen})


class ByWorkflow(OwnFilter):
    """The workflows of the reader's studies by their names; of a kind one, as findings keep the kind."""

    title = _("skill")
    parameter_name = "skill_type"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, Any]]:
        """What is there now, also where it found nothing."""
        found = Skill.objects.for_user(request.user).order_by("skill_type", "name")
        return dict(found.values_list("skill_type", "name")).items()

    def narrowed(self, rows: Any, chosen: str, request: HttpRequest) -> Any:
        return rows.filter(skill_type=chosen)


def _step(step: str, title: Any) -> Callable[..., Any]:
    """The action that takes a step with the ticked findings."""

    @admin.action(description=title, permissions=["decide"])
    def act(_page: Any, request: HttpRequest, queryset: QuerySet[PendingAction]) -> Any:
        return finding_steps.move_selected(request, queryset, step)

    return act


@admin.register(PendingAction)
class PendingActionAdmin(TrailWords, DeciderAdmin):
    value_words: ClassVar = {"rule": finding_words.rule_name}
    empty = _("No finding yet: checks and workflows put here what somebody has to look at.")
    list_display = (
        *("record_id", "show_source", "show_severity", "show_kind", "show_rule", "show_message"),
        *("show_linked_place", "show_value", "show_age", "assignee", "show_due", "show_state"),
    )
    more_exported = (
        *(
            "show_author",
            "show_key",
            "event",
            "instrument",
            "instance",
            "field",
            "show_verdict",
            "show_reason",
        ),
        *("created_at", "resolution", "show_by", "resolved_at", "show_project"),
    )
    list_filter = (
        *(BY_PROJECT, Source, Waits, Whose, Due, ByRule),
        *("state", "action_type", "severity", ByWorkflow),
    )
    linked_by = ("task_run__batch__id__exact", "record_id__exact")
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
        *("confirm_findings", "query_findings", "assign_findings", "accept_findings"),
        *("reject_findings", "reopen_findings", "resolve_findings", "export_selected"),
    )
    actions_list = ("export_list", "export_book")
    whole_texts = {"show_message": "message"}
    paginator = KeysFirst
    change_form_template = "engines/finding.html"
    pages = (
        *(
            (f"<uuid:pk>/{what}/", f"pendingaction_{what}", partial(act_view, what=what))
            for what in ("resolve", "step", "assign", "comment")
        ),
        ("<uuid:pk>/redcap/", "pendingaction_redcap", finding_steps.redcap_view),
        ("filters/", "pendingaction_filter", saved_filters.save_view),
        ("filters/<int:pk>/remove/", "pendingaction_filter_remove", saved_filters.remove_view),
        ("rates/", "pendingaction_rates", rule_reports.rates_view),
        ("undecided/", "pendingaction_undecided", rule_reports.undecided_view),
        ("checks/", "pendingaction_checks", checks.checks_view),
    )

    show_source = column(_("source"), source_words)
    show_severity = of_findings(
        tag(
            "severity",
            _("severity"),
            {"error": "danger", "warning": "warning", "info": "info"},
            ordering=_GRAVITY,
        )
    )
    show_kind = of_findings(
        tag(
            "action_type",
            _("kind"),
            {"violation": "danger", "warning": "warning", "review_required": "info"},
        )
    )
    show_state = tag("state", _("state"), PendingAction.COLOURS)
    show_message = shortened("message", _("message"))
    show_rule = column(_("rule"), lambda row: finding_words.rule_name(row.rule_key), "rule_key")
    show_author = column(
        _("AI label"), lambda row: labels.AI_GENERATED if row.rule_key == VERDICT else ""
    )
    show_key = column(_("rule key"), lambda row: row.rule_key or "-")
    show_linked_place = column(_("place"), finding_words.linked_place)
    show_skill = column(_("skill"), lambda row: row.task_run.skill.name)
    show_node = column(_("node"), lambda row: labels.node_title(row.task_run.config, row.node))
    show_by = actors.column("resolved_by", _("resolved by"))
    show_place = column(_("place"), finding_words.place_words)
    show_value = column(_("value"), finding_words.value_words)
    show_age = column(_("age"), finding_words.age, "-created_at")
    show_verdict = named("outcome", _("outcome"), labels.VERDICTS)
    show_reason = named("reason", _("reason"), labels.REASONS)

    confirm_findings = _step("confirm", _("Confirm the selected findings"))
    query_findings = _step("query", _("Query to the site about the selected"))
    accept_findings = _step("accept", _("Confirm the data change of the selected"))
    reject_findings = _step("reject", _("Reject the selected as false alarms"))
    reopen_findings = _step("reopen", _("Take up the selected findings again"))
    resolve_findings = _step("resolve", _("Resolve the selected findings"))

    @admin.action(description=_("Assign the selected findings"), permissions=["decide"])
    def assign_findings(self, request: HttpRequest, queryset: QuerySet[PendingAction]) -> Any:
        return finding_steps.assign_selected(request, queryset)

    def get_ordering(self, request: HttpRequest) -> tuple[Any, ...]:
        """What waits before what has ended, the gravest first and of equal ones the oldest."""
        return _GRAVITY, "created_at", "pk"

    def get_exported(self, request: HttpRequest) -> list[str]:
        """A file has no links and no tags."""
        plain = {"show_linked_place": "show_place", "show_due": "due_on"}
        return [plain.get(name, name) for name in super().get_exported(request)]

    def get_queryset(self, request: HttpRequest) -> QuerySet[PendingAction]:
        """With what the words of the study need; a request asks whose rows they are once, not per filter."""
        known: QuerySet[PendingAction] | None = getattr(request, "_iit_findings", None)
        if known is None:
            rows = super().get_queryset(request).select_related("project")
            known = finding_words.worded(rows)
            request._iit_findings = known  # type: ignore[attr-defined]
        return known.all()

    def get_list_display(self, request: HttpRequest) -> Any:
        """Without the source where there is one."""
        columns = super().get_list_display(request)
        is_read = redcap_asks.are_read(request.user)
        return columns if is_read else [name for name in columns if name != "show_source"]

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[FindingsList]:
        """With the queries of REDCap."""
        return FindingsList

    def get_paginator(
        self, request: HttpRequest, queryset: Any, per_page: int, *args: Any, **more: Any
    ) -> Any:
        """The queries of REDCap stand between what waits and what has ended; in another order at the end."""
        # The page of a row's history asks for pages of Django's own log.
        others = listed(request) if queryset.model is self.model else []
        if not others:
            return super().get_paginator(request, queryset, per_page, *args, **more)
        waiting = Count("pk", filter=Q(open_key__isnull=False))
        counted = queryset.order_by().aggregate(waiting=waiting, found=Count("pk"))
        at = None if request.GET.get("o") else counted["waiting"]
        more |= {"others": others, "at": at, "found": counted["found"]}
        return Beside(queryset, per_page, *args, **more)

    def by_model(self, rows: QuerySet[Any]) -> bool:
        """Those that a model judged hold its words."""
        return rows.filter(rule_key=VERDICT).exists()

    def rows_beside(self, request: HttpRequest) -> list[PendingAction]:
        """The queries of REDCap go into a file, too."""
        return listed(request)

    def prepare(self, request: HttpRequest, rows: Sequence[Any]) -> None:
        """Which findings REDCap asks about itself."""
        ours = [row for row in rows if not hasattr(row, "asked")]
        known = redcap_asks.numbers(ours)
        for row in ours:
            row.redcap_number = known.get(row.pk)

    @admin.display(description=ModelAdmin.action_checkbox.short_description)
    def action_checkbox(self, obj: PendingAction) -> Any:
        """Nothing is done here with a query of REDCap."""
        return "" if hasattr(obj, "asked") else super().action_checkbox(obj)

    @admin.display(description=_("due date"), ordering="due_on")
    def show_due(self, obj: PendingAction) -> str:
        """The day; said to be past where it is, not by colour alone."""
        if obj.due_on and finding_words.is_overdue(obj):
            return format_html(
                '<span class="iit-tag danger">{} {}</span>', obj.due_on, _("past due")
            )
        return str(obj.due_on or "-")

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        extra = (extra_context or {}) | {
            "chips": saved_filters.chips(request),
            "may_switch": Role.ADMIN in roles(request, whole_study=True),
            "queries_as_of": redcap_as_of(request),
        }
        return super().changelist_view(request, extra)

    def more_context(self, request: HttpRequest, obj: PendingAction) -> dict[str, Any]:
        may = decisions.has_say(request.user, obj)
        events = obj.events.order_by("at", "pk")
        asked = redcap_asks.number_of(obj)
        return {
            "finding": obj,
            "told": finding_words.finding_summary(obj),
            "redcap": finding_words.redcap_page(obj),
            "asked": redcap_asks.told(asked) if asked else "",
            "colour": PendingAction.COLOURS.get(PendingAction.State(obj.state), ""),
            "thread": [(event, labels.name(labels.EVENTS, event.what)) for event in events],
            "ground": finding_words.ground(obj),
            "may_resolve": bool(may and obj.open_key),
            "steps": finding_steps.offered(obj, is_asked=bool(asked)) if may else [],
            "people": finding_steps.people(obj) if may and obj.open_key else [],
            "may_comment": may,
            "reasons": decisions.reasons(),
            **self._neighbours(request, obj),
        }

    def _neighbours(self, request: HttpRequest, finding: PendingAction) -> dict[str, Any]:
        """The ones before and after in the list that the page was opened from."""
        asked = QueryDict(request.GET.get("_changelist_filters", ""))
        given, request.GET = request.GET, asked
        try:
            rows = self.get_changelist_instance(request).queryset
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

"""How the list of findings is narrowed: what waits, whose it is, by when, by which rule."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.db.models import Q
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from core.house import clock
from engines.admin.columns import OwnFilter
from engines.pages.finding_words import rule_name
from engines.sop.checks.kinds import Kind, kind_of
from projects.scoping import memberships
from skills.models import Skill

NOBODY = "-"


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

"""How the list of findings is narrowed: what waits, whose it is, by when, by which rule."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.contrib.admin import SimpleListFilter
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from engines.desk.finding_words import rule_name
from engines.models import PendingAction
from engines.sop.checks.kinds import LABELS, kind_of
from house import clock
from projects.scoping import memberships
from skills.models import Skill

NOBODY = "-"
_WEEK = timedelta(days=7)


class Waits(SimpleListFilter):
    """Open whatever the state is called, or ended."""

    title = _("waits for a person")
    parameter_name = "waits"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, Any]]:
        """Yes and no."""
        return [("yes", _("Waiting")), ("no", _("Ended"))]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[PendingAction]
    ) -> QuerySet[PendingAction]:
        """By the key that open findings have."""
        if self.value() in ("yes", "no"):
            return queryset.filter(open_key__isnull=self.value() == "no")
        return queryset


class Whose(SimpleListFilter):
    """Mine, nobody's, or one person's."""

    title = _("assignee")
    parameter_name = "whose"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, Any]]:
        """Those that open findings of the reader are given to."""
        rows = model_admin.get_queryset(request).filter(open_key__isnull=False)
        people = rows.exclude(assignee="").order_by("assignee")
        given = people.values_list("assignee", flat=True).distinct()[:50]
        return [("me", _("Mine")), (NOBODY, _("Nobody's")), *((name, name) for name in given)]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[PendingAction]
    ) -> QuerySet[PendingAction]:
        """By identity; a person may go by another in each study."""
        chosen = self.value()
        if chosen == "me":
            return queryset.filter(assignee__in=identities(request))
        if chosen == NOBODY:
            return queryset.filter(assignee="")
        return queryset.filter(assignee=chosen) if chosen else queryset


class Due(SimpleListFilter):
    """By when it is to be done; only what is open is due."""

    title = _("due date")
    parameter_name = "due"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, Any]]:
        """Past, soon, without a day."""
        return [("past", _("Past due")), ("week", _("Within 7 days")), ("none", _("No due date"))]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[PendingAction]
    ) -> QuerySet[PendingAction]:
        """The house's day: studies of several zones are listed together."""
        today = clock.now().date()
        within = {
            "past": Q(due_on__lt=today),
            "week": Q(due_on__gte=today, due_on__lte=today + _WEEK),
            "none": Q(due_on__isnull=True),
        }.get(self.value() or "")
        return queryset.filter(within, open_key__isnull=False) if within else queryset


class ByRule(SimpleListFilter):
    """The rules that the reader's own findings are of."""

    title = _("rule")
    parameter_name = "rule"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, Any]]:
        """Standard checks by what they look for, then the study's rules."""
        rows = model_admin.get_queryset(request).order_by("rule_key")
        keys = [*rows.values_list("rule_key", flat=True).distinct()[:2000]]
        kinds = {kind for key in keys if (kind := kind_of(key))}
        own = [(key, rule_name(key)) for key in keys if key and kind_of(key) is None]
        return [*((f"std.{k}.", LABELS[k]) for k in LABELS if k in kinds), *own]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[PendingAction]
    ) -> QuerySet[PendingAction]:
        """A standard check by the start of its key."""
        chosen = self.value()
        if not chosen:
            return queryset
        is_kind = chosen.startswith("std.") and chosen.endswith(".")
        return queryset.filter(**{"rule_key__startswith" if is_kind else "rule_key": chosen})


class ByWorkflow(SimpleListFilter):
    """The workflows of the reader's studies by their names; of a kind one, as findings keep the kind."""

    title = _("skill")
    parameter_name = "skill_type"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, Any]]:
        """What is there now, also where it found nothing."""
        found = Skill.objects.for_user(request.user).order_by("skill_type", "name")
        return dict(found.values_list("skill_type", "name")).items()

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[PendingAction]
    ) -> QuerySet[PendingAction]:
        """By kind."""
        return queryset.filter(skill_type=self.value()) if self.value() else queryset


def identities(request: HttpRequest) -> list[str]:
    """What the person goes by in their studies, and their login."""
    mine = {member.identity for member in memberships(request.user)}
    return sorted(mine | {request.user.get_username()})

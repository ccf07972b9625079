"""Who did something, in words: a person by the identity that the house knows, a job by its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from core.house.stored_labels import name

# What writes without being a person (decisions.md, "identities"); each names itself so where it writes.
JOBS: dict[str, Promise] = {
    "system": _("system"),
    "system_daily_job": _("daily distillation"),
    "system_scheduler": _("scheduler"),
    "system_change": _("data change"),
    "system_event": _("event"),
    "system_day": _("visit window that closed"),
    "system_clock": _("clock of a serious event"),
    "profiler_job": _("feedback of a user, counted"),
    "dry_run": _("trial"),
    "command": _("command line"),
    "anonymous": _("nobody logged in"),
    "demo": _("demo data"),
}


def describe_actor(actor: str | None) -> str:
    """The name of a job, a person's identity as it is; "" for nobody."""
    return name(JOBS, actor)


def column(field: str, title: Any) -> Callable[[Any, Any], str]:
    """A column of a list of the console, and a field of its page: who stands in `field`, in words."""

    @admin.display(description=title, ordering=field)
    def show(_page: Any, obj: Any) -> str:
        return describe_actor(getattr(obj, field))

    return show

"""Tables of the running house and of its libraries: superusers look at them."""

from __future__ import annotations

from typing import Any

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _
from django_celery_beat.models import (
    ClockedSchedule,
    CrontabSchedule,
    IntervalSchedule,
    PeriodicTask,
    SolarSchedule,
)

from core.house.models import BrokerMessage, CronFiring, Heartbeat
from core.house.stored_labels import name
from projects import audit, audit_anchors
from projects.admin import beat_words
from projects.admin_base import HouseAdmin
from projects.models import AuditHead

for _replaced in (
    AccessAttempt,
    AccessFailureLog,
    AccessLog,
    ClockedSchedule,
    CrontabSchedule,
    IntervalSchedule,
    PeriodicTask,
    SolarSchedule,
):
    if admin.site.is_registered(_replaced):
        admin.site.unregister(_replaced)


def _told(row: Any) -> str:
    """Who and when; axes says it in English only."""
    return f"{row.username or row.ip_address} {localtime(row.attempt_time):%Y-%m-%d %H:%M}"


for _log in (AccessAttempt, AccessFailureLog, AccessLog):
    _log.__str__ = _told


_PROCESSES = {
    "worker": _("Worker"),
    "beat": _("Scheduler"),
    "wecom_socket": _("Smart bot, long connection"),
}
_CHAINS = {audit.HOUSE: _("The house"), audit_anchors.FILE: _("Anchors of the trail")}


@admin.register(Heartbeat)
class HeartbeatAdmin(HouseAdmin):
    empty = _("No process has reported yet: are worker and scheduler running?")
    list_display = ("show_name", "at")
    fields = (("show_name", "at"),)
    readonly_fields = ("show_name",)

    @admin.display(description=_("process"), ordering="name")
    def show_name(self, obj: Heartbeat) -> str:
        return name(_PROCESSES, obj.name)


@admin.register(CronFiring)
class CronFiringAdmin(HouseAdmin):
    empty = _("No schedule has fired yet.")
    list_display = ("show_job", "due_at", "fired_at")
    search_fields = ("job",)
    date_hierarchy = "due_at"
    fields = ("show_job", ("due_at", "fired_at"))
    readonly_fields = ("show_job",)

    @admin.display(description=_("job"), ordering="job")
    def show_job(self, obj: CronFiring) -> str:
        return beat_words.fired(obj.job)


@admin.register(BrokerMessage)
class BrokerMessageAdmin(HouseAdmin):
    empty = _("No message waits in the queue.")
    list_display = ("id", "queue", "visible_at", "created_at")
    fields = ("queue", "visible_at", "created_at")


@admin.register(AuditHead)
class AuditHeadAdmin(HouseAdmin):
    empty = _("No chain of the audit trail was begun yet.")
    list_display = ("show_chain", "length")
    fields = ("show_chain", ("length", "anchored"))
    readonly_fields = ("show_chain",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[AuditHead]:
        """Without how much there is of what would unblind the reader."""
        rows: QuerySet[AuditHead] = super().get_queryset(request)
        return rows.exclude(chain__in=audit.unseen_chains(request.user))

    @admin.display(description=_("chain"), ordering="chain")
    def show_chain(self, obj: AuditHead) -> str:
        """Whose entries it holds; a study's are chained by its key."""
        return name(_CHAINS, obj.chain)


@admin.register(PeriodicTask)
class PeriodicTaskAdmin(HouseAdmin):
    """What beat starts; the skills among it have a page of their own (engines_schedules)."""

    empty = _("No job is planned: the scheduler puts the house's own here when it starts.")
    list_display = (
        "show_job",
        "show_enabled",
        "show_schedule",
        "show_last_run",
        "show_count",
    )
    list_filter = ("enabled",)
    search_fields = ("name", "task")
    list_select_related = ("crontab", "interval")
    fields = (
        ("show_job", "show_enabled"),
        "show_schedule",
        ("show_last_run", "show_count"),
        ("show_name", "show_task"),
    )
    readonly_fields = (
        "show_job",
        "show_enabled",
        "show_schedule",
        "show_last_run",
        "show_count",
        "show_name",
        "show_task",
    )

    @admin.display(description=_("job"), ordering="name")
    def show_job(self, obj: PeriodicTask) -> str:
        return beat_words.job(obj)

    @admin.display(description=_("active"), ordering="enabled", boolean=True)
    def show_enabled(self, obj: PeriodicTask) -> bool:
        return bool(obj.enabled)

    @admin.display(description=_("schedule"))
    def show_schedule(self, obj: PeriodicTask) -> str:
        return beat_words.schedule(obj)

    @admin.display(description=_("last run"), ordering="last_run_at")
    def show_last_run(self, obj: PeriodicTask) -> Any:
        return obj.last_run_at

    @admin.display(description=_("runs so far"), ordering="total_run_count")
    def show_count(self, obj: PeriodicTask) -> int:
        return int(obj.total_run_count)

    @admin.display(description=_("name of the entry"))
    def show_name(self, obj: PeriodicTask) -> SafeString:
        return format_html("<code>{}</code>", obj.name)

    @admin.display(description=_("name of the task"))
    def show_task(self, obj: PeriodicTask) -> SafeString:
        return format_html("<code>{}</code>", obj.task)


@admin.register(AccessAttempt)
class AccessAttemptAdmin(HouseAdmin):
    empty = _("No log-in has failed lately.")
    list_display = ("attempt_time", "username", "ip_address", "failures_since_start")
    search_fields = ("username", "ip_address")
    fields = ("attempt_time", "username", "ip_address", "user_agent", "failures_since_start")


@admin.register(AccessFailureLog)
class AccessFailureLogAdmin(HouseAdmin):
    empty = _("No log-in has failed yet.")
    list_display = ("attempt_time", "username", "ip_address", "locked_out")
    search_fields = ("username", "ip_address")
    fields = ("attempt_time", "username", "ip_address", "user_agent", "locked_out")


@admin.register(AccessLog)
class AccessLogAdmin(HouseAdmin):
    empty = _("Nobody has logged in yet.")
    list_display = ("attempt_time", "logout_time", "username", "ip_address")
    search_fields = ("username", "ip_address")
    fields = ("attempt_time", "logout_time", "username", "ip_address", "user_agent")

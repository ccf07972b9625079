"""Tables of the running house and of its libraries: superusers look at them."""

from __future__ import annotations

from typing import Any

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib import admin
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _
from django_celery_beat.models import (
    ClockedSchedule,
    CrontabSchedule,
    IntervalSchedule,
    PeriodicTask,
    SolarSchedule,
)

from house.models import BrokerMessage, CronFiring, Heartbeat
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


@admin.register(Heartbeat)
class HeartbeatAdmin(HouseAdmin):
    list_display = ("name", "at")


@admin.register(CronFiring)
class CronFiringAdmin(HouseAdmin):
    list_display = ("job", "due_at", "fired_at")
    search_fields = ("job",)
    date_hierarchy = "due_at"


@admin.register(BrokerMessage)
class BrokerMessageAdmin(HouseAdmin):
    list_display = ("id", "queue", "visible_at", "created_at")
    fields = ("queue", "visible_at", "created_at")


@admin.register(AuditHead)
class AuditHeadAdmin(HouseAdmin):
    list_display = ("chain", "length")


@admin.register(PeriodicTask)
class PeriodicTaskAdmin(HouseAdmin):
    list_display = (
        "name",
        "show_task",
        "enabled",
        "show_schedule",
        "last_run_at",
        "total_run_count",
    )
    list_filter = ("enabled",)
    search_fields = ("name", "task")

    @admin.display(description=_("task"), ordering="task")
    def show_task(self, obj: PeriodicTask) -> str:
        return str(obj.task)

    @admin.display(description=_("schedule"))
    def show_schedule(self, obj: PeriodicTask) -> str:
        return str(obj.scheduler)


@admin.register(CrontabSchedule, IntervalSchedule, ClockedSchedule, SolarSchedule)
class ScheduleAdmin(HouseAdmin):
    list_display = ("__str__",)


@admin.register(AccessAttempt)
class AccessAttemptAdmin(HouseAdmin):
    list_display = ("attempt_time", "username", "ip_address", "failures_since_start")
    search_fields = ("username", "ip_address")
    fields = ("attempt_time", "username", "ip_address", "user_agent", "failures_since_start")


@admin.register(AccessFailureLog)
class AccessFailureLogAdmin(HouseAdmin):
    list_display = ("attempt_time", "username", "ip_address", "locked_out")
    search_fields = ("username", "ip_address")
    fields = ("attempt_time", "username", "ip_address", "user_agent", "locked_out")


@admin.register(AccessLog)
class AccessLogAdmin(HouseAdmin):
    list_display = ("attempt_time", "logout_time", "username", "ip_address")
    search_fields = ("username", "ip_address")
    fields = ("attempt_time", "logout_time", "username", "ip_address", "user_agent")

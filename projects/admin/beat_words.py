"""An entry of beat's schedule in words: what it does, and when."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django_celery_beat.models import CrontabSchedule, PeriodicTask

from core.house import cron_words
from core.house.stored_labels import name

# settings.CELERY_BEAT_SCHEDULE; a check of the tests says when one is missing.
JOBS: dict[str, Promise] = {
    "heartbeat": _("Sign of life of the scheduler"),
    "sweep messages": _("Take up messages that were left behind"),
    "sweep runs": _("Take up runs that were left behind"),
    "fire missed skills": _("Start scheduled workflows that were missed"),
    "partitions": _("Prepare the months of the flow log"),
    "distil memory": _("Distil the day into hot memory"),
    "prune memory": _("Shorten hot memory that has grown too long"),
    "check days": _("Check what the day decides: missed visits, rules that name today"),
    "check models": _("Check the language models of the day"),
    "weekly reports": _("Write weekly reports"),
    "profile users": _("Learn preferences from feedback"),
    "forget flow log": _("Delete conversations after their time"),
    "forget turns": _("Delete turns that nobody used"),
    "sweep turns": _("Take up turns that were left behind"),
    "end sessions": _("Sum up sessions that have ended"),
    "write reads": _("Write down who read which subject"),
    "read subjects": _("Read changed subjects from REDCap"),
    "follow uploads": _("Read uploaded files and put versions in force"),
    "forget readings": _("Delete readings after their time"),
    "celery.backend_cleanup": _("Delete old results of tasks"),
}
SKILL = "skill:"
# What is claimed for its time (house.cron.claim): whole names, and what stands before a study's key.
FIRED: dict[str, Promise] = {
    "skill": _("A scheduled workflow of a study"),
    "distil": JOBS["distil memory"],
    "day": JOBS["check days"],
    # Until rules that name the day were looked at with them.
    "visits": _("Check visits that were missed"),
    "feedback": JOBS["profile users"],
    "wechat.reviews.reconcile": _("Compare review cards with their reviews"),
    "wechat.forget": _("Delete messages after their time"),
    "audit.anchor": _("Compare the ends of the audit trail with their anchors"),
    "audit.verify": _("Check the whole audit trail"),
}
# Seconds, one of it, more of it.
_UNITS = (
    (86400, _("every day"), _("every %(count)d days")),
    (3600, _("every hour"), _("every %(count)d hours")),
    (60, _("every minute"), _("every %(count)d minutes")),
    (1, _("every second"), _("every %(count)d seconds")),
)


def job(entry: PeriodicTask) -> str:
    """What beat starts; a skill's entry bears the skill's key (skills.beat.name)."""
    return fired(entry.name) if entry.name.startswith(SKILL) else name(JOBS, entry.name)


def fired(job: str) -> str:
    """What was started at its time."""
    found = FIRED.get(job) or FIRED.get(job.partition(":")[0])
    return str(found) if found else job


def schedule(entry: PeriodicTask) -> str:
    """When: a cron expression as people say it, else how often; "" for what our schedule never has."""
    if entry.crontab:
        return _cron(entry.crontab)
    if entry.interval:
        return _often(round(entry.interval.schedule.run_every.total_seconds()))
    return ""


def _cron(found: CrontabSchedule) -> str:
    parts = (found.minute, found.hour, found.day_of_month, found.month_of_year, found.day_of_week)
    try:
        return cron_words.in_words(" ".join(map(str, parts)))
    except ValidationError:
        return " ".join(map(str, parts))


def _often(seconds: int) -> str:
    size, one, many = next(unit for unit in _UNITS if seconds % unit[0] == 0)
    count = seconds // size
    return str(one) if count == 1 else str(many) % {"count": count}

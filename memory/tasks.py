"""Background jobs of the memories."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from celery import shared_task
from django.db.models import QuerySet

from core.house import clock
from core.house.alone import each
from memory.hot import distill, prune
from memory.log import partitions, retention
from memory.people import profiler, questions, turns
from projects.models import Project

# Days a house that was switched off catches up with: over a long holiday no proposal is lost.
CATCH_UP = 14
# Recruitment may pause while the study goes on.
REPORTED = (Project.Status.ACTIVE, Project.Status.PAUSED)


@shared_task
def save_info(turn_id: int) -> None:
    """Let the Memory Manager read a turn (decisions.md, "004 trigger table")."""
    turns.work(turn_id)


@shared_task
def sweep_turns() -> None:
    """Queue the turns that a lost message, a dead worker or a model that was down left behind."""
    for turn_id in turns.due_turns():
        save_info.delay(turn_id)


@shared_task
def forget_turns() -> None:
    """Delete turns that nobody used within 24 hours (decisions.md, Memory), and questions left open."""
    turns.drop_old()
    questions.drop_old()


@shared_task
def summarize_sessions() -> None:
    """Summarize the profiles of those whose session ended."""
    turns.summarize_ended()


@shared_task
def prepare_partitions() -> None:
    """Make the flow log's months ahead of time (PostgreSQL)."""
    partitions.prepare()


@shared_task
def distil_days() -> None:
    """Queue the days that are over and not distilled yet; each study's days end in its own zone."""
    done = distill.done_since(clock.now() - timedelta(days=CATCH_UP + 1))
    studies = Project.objects.filter(status__in=REPORTED)
    each("distilling", studies, lambda project: _queue_days(project, done))


def _queue_days(project: Project, done: set[tuple[str, datetime]]) -> None:
    today = clock.today(project.timezone)
    for back in range(CATCH_UP, 0, -1):
        day = today - timedelta(days=back)
        if distill.firing(project, day) not in done:
            distil_day.delay(str(project.pk), day.isoformat())


@shared_task
def distil_day(project_id: str, day: str) -> None:
    """Distil one day of a study into hot memory, then see whether it has grown too long."""
    if project := Project.objects.filter(pk=project_id).first():
        distill.distil(project, date.fromisoformat(day))
        prune.prune(project)


@shared_task
def prune_memories() -> None:
    """Propose a shorter text where hot memory exceeds its 2000 tokens."""
    each("pruning", _keys(Project.objects.filter(status__in=REPORTED)), prune_memory.delay)


@shared_task
def prune_memory(project_id: str) -> None:
    """Propose a shorter text of one study's hot memory."""
    if project := Project.objects.filter(pk=project_id).first():
        prune.prune(project)


@shared_task
def profile_users() -> None:
    """Turn repeated feedback into lines of the profiles."""
    each("profiles", _keys(Project.objects.filter(status__in=REPORTED)), profile_study.delay)


@shared_task
def profile_study(project_id: str) -> None:
    """Turn repeated feedback of one study's users into lines of their profiles."""
    if project := Project.objects.filter(pk=project_id).first():
        profiler.profile(project)


@shared_task
def purge_flow_logs() -> None:
    """Queue the studies whose conversations may have to go."""
    each("conversations", _keys(Project.objects.all()), purge_flow_log.delay)


@shared_task
def purge_flow_log(project_id: str) -> None:
    """Delete conversations that their week's report has covered for long enough; go on until none is left."""
    project = Project.objects.filter(pk=project_id).first()
    if project is not None and retention.purge(project) >= retention.CHUNK * retention.CHUNKS:
        purge_flow_log.delay(project_id)


def _keys(projects: QuerySet[Project]) -> list[str]:
    return [str(pk) for pk in projects.values_list("pk", flat=True)]

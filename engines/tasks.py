"""Background jobs of the engines; each finds its work in the database."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from core.house.alone import alone, each
from engines import deviations, llm_canary, safety, sop, work
from engines.assistant import chat_queue
from engines.sop import batches, brief, daily_checks, deleted, events, run_events, visit_reminders
from engines.sop.asking import remind_and_escalate
from engines.sop.lease import left_behind
from engines.sop.nodes import soft_instruction
from memory.reports import job
from projects.models import Project
from skills import publish
from skills.models import Skill
from study import change_handlers

AT_ONCE = 500
# Recruitment may pause while the study goes on; of a closed one the conversations wait for their reports.
REPORTED = (Project.Status.ACTIVE, Project.Status.PAUSED, Project.Status.CLOSED)


@shared_task
def drive_run(run_id: str) -> None:
    """Go on with a run."""
    sop.drive(UUID(run_id))


@shared_task
def advance_batch(batch_id: str) -> None:
    """Start the next runs of a batch."""
    batches.advance(UUID(batch_id))


@shared_task
def tell_events(lane: str, *others: str) -> None:
    """Tell what happened to a run or a batch; `others`: of the same transaction, perhaps to other workers."""
    for other in others:
        tell_events.delay(other)
    alone("evidence", lambda: brief.prepare(UUID(lane)), lane)
    run_events.tell_lane(UUID(lane))


@shared_task
def answer_question(pk: int) -> None:
    """Answer a question of the API, then wake the person's next one."""
    following = chat_queue.answer_question(pk)
    if following is not None:
        answer_question.delay(following)


@shared_task
def sweep_runs() -> None:
    """Pick up what a lost message, a dead worker or a timer left behind (design.md 4).

    Recovery comes first, and no step waits for another.
    """
    alone("soft checks", soft_instruction.release)
    alone("runs", lambda: each("runs", left_behind(), drive_run.delay))
    alone("questions", lambda: each("questions", chat_queue.due_questions(), answer_question.delay))
    alone("batches", lambda: each("batches", batches.unfinished(), advance_batch.delay))
    alone(
        "triggers",
        lambda: each(
            "triggers", change_handlers.projects_with_changed_subjects(), read_changed.delay
        ),
    )
    alone("events", lambda: each("events", run_events.lanes_due(AT_ONCE), _tell))
    alone("reviews", remind_and_escalate)
    alone("visits", visit_reminders.keep_promises)
    alone("deleted", deleted.look_for_unlisted)
    alone("safety clocks", safety.sweep)
    alone("deviations", deviations.propose_missing)
    alone("questions", chat_queue.forget_answered)
    alone("events", run_events.forget)


def _tell(lane: UUID) -> None:
    tell_events.delay(str(lane))


@shared_task
def fire_skill(skill_id: str) -> None:
    """Fire a cron skill for its last due time."""
    skill = Skill.objects.select_related("project").filter(pk=skill_id).first()
    if skill:
        sop.fire(skill)


@shared_task
def fire_missed_skills() -> None:
    """Publish workflows whose day has come, then fire the cron skills that beat or its message missed."""
    each("planned versions", publish.due(), publish.publish_due)
    for skill_id in events.unfired():
        fire_skill.delay(skill_id)


@shared_task
def check_days() -> None:
    """Queue the studies in which nobody has looked today for what the passing of a day decides."""
    for pk in Project.objects.filter(status__in=daily_checks.STUDIES).values_list("pk", flat=True):
        check_day.delay(str(pk))


@shared_task
def check_day(project_id: str, after: str = "", due_at: str = "") -> None:
    """Check some subjects of a study `after` the last ones; come back for the others."""
    project = Project.objects.filter(pk=project_id, status__in=daily_checks.STUDIES).first()
    if project is not None and (more := daily_checks.look_at_day(project, after, due_at)):
        check_day.apply_async((project_id,), {"after": more.last, "due_at": more.due})


@shared_task
def check_models() -> None:
    """Queue the studies whose models were not heard today yet; those that were away are asked again."""
    studies = Project.objects.filter(status__in=(Project.Status.ACTIVE, Project.Status.PAUSED))
    due = (project for project in studies if llm_canary.is_due(project))
    each("models", due, lambda project: check_model.delay(str(project.pk)))


@shared_task
def check_model(project_id: str) -> None:
    """Today's ten probes of one study's models."""
    if project := Project.objects.filter(pk=project_id).first():
        llm_canary.check(project)


@shared_task
def write_reports() -> None:
    """Queue the weeks that are over and lack their report, or a part of it; missed ones, too."""
    reported = Project.objects.filter(status__in=REPORTED)
    each("reports", reported, _queue_weeks)


def _queue_weeks(project: Project) -> None:
    for number in job.due_weeks(project):
        write_report.delay(str(project.pk), number)


@shared_task
def write_report(project_id: str, number: int) -> None:
    """One step on a week's report, and the next one when there is one."""
    project = Project.objects.filter(pk=project_id).first()
    if project is not None and job.work(project, number, work.week_figures):
        write_report.delay(project_id, number)


@shared_task
def read_changed(project_id: str) -> None:
    """Read some of the subjects that REDCap's trigger named; come back for the others."""
    project = Project.objects.filter(pk=project_id).first()
    if project and change_handlers.read_changed_subjects(project, events.subjects_changed):
        read_changed.delay(project_id)


@shared_task
def follow_changes(project_id: str, *others: str, after: str = "") -> None:
    """Do what follows from changed data, of some subjects `after` the last ones; come back for the others.

    `others`: studies of the same transaction, perhaps for other workers.
    """
    for other in others:
        follow_changes.delay(other)
    project = Project.objects.filter(pk=project_id).first()
    if project is None:
        return
    if last := change_handlers.handle_changes(project, events.data_changed, after).last:
        follow_changes.apply_async((project_id,), {"after": last})

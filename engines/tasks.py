"""Background jobs of the engines; each finds its work in the database."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from core.house.alone import alone, each
from engines import deviations, safety, sop
from engines.assistant import chat_queue
from engines.sop import batches, brief, deleted, events, run_events, visit_reminders
from engines.sop.asking import remind_and_escalate
from engines.sop.lease import left_behind
from engines.sop.nodes import soft_instruction
from projects.models import Project
from skills.models import Skill
from study import change_handlers

AT_ONCE = 500


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
    alone("deviations", deviations.sweep)
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
    """Fire the cron skills that beat or its message missed."""
    for skill_id in events.unfired():
        fire_skill.delay(skill_id)


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

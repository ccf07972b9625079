"""Background jobs of the engines; each finds its work in the database."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from engines import sop
from engines.assistant import asked
from engines.sop import batches, events, firing, run_events, visit_reminders
from engines.sop.lease import left_behind
from engines.sop.timeouts import remind_and_escalate
from projects.models import Project
from skills.models import Skill

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
    run_events.tell(UUID(lane))


@shared_task
def answer_question(pk: int) -> None:
    """Answer a question of the API, then wake the person's next one."""
    following = asked.answer(pk)
    if following is not None:
        answer_question.delay(following)


@shared_task
def sweep_runs() -> None:
    """Pick up what a lost message, a dead worker or a timer left behind (design.md 4)."""
    for pk in asked.due():
        answer_question.delay(pk)
    asked.forget()
    remind_and_escalate()
    for run_id in left_behind():
        drive_run.delay(run_id)
    for batch_id in batches.unfinished():
        advance_batch.delay(batch_id)
    for lane in run_events.due(AT_ONCE):
        tell_events.delay(str(lane))
    visit_reminders.keep_promises()
    run_events.forget()


@shared_task
def fire_skill(skill_id: str) -> None:
    """Fire a cron skill for its last due time."""
    skill = Skill.objects.select_related("project").filter(pk=skill_id).first()
    if skill:
        sop.fire(skill)


@shared_task
def fire_missed_skills() -> None:
    """Fire the cron skills that beat or its message missed."""
    for skill_id in firing.unfired():
        fire_skill.delay(skill_id)


@shared_task
def record_changed(project_id: str, record_id: str) -> None:
    """Start event skills on a subject whose data changed."""
    project = Project.objects.filter(pk=project_id).first()
    if project:
        events.record_changed(project, record_id)

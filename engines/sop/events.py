"""Event skills: started by a change of a subject's data (decisions.md, "triggers")."""

from __future__ import annotations

from engines.models import TaskRun
from engines.sop import snapshot
from engines.sop.errors import Fault
from engines.sop.runs import start
from projects.models import Project
from skills.models import Skill

ACTOR = "system_event"


def record_changed(project: Project, record_id: str) -> list[TaskRun]:
    """Start the study's `record_changed` skills on the subject as it is now.

    The cause is the content itself: a trigger that comes twice, or late, starts nothing twice.
    """
    active = Skill.objects.filter(project=project, is_active=True, trigger_type=Skill.Trigger.EVENT)
    skills = [skill for skill in active if skill.config.get("event") == "record_changed"]
    if not skills:
        return []
    try:
        data = snapshot.read(project, record_id)
    except Fault:
        return []
    cause = f"changed:{record_id}:{snapshot.fingerprint([dict(row) for row in data.rows])}"
    return [
        start(
            project=project,
            skill=skill,
            record_id=record_id,
            triggered_by=ACTOR,
            cause=cause,
            data=data,
        )
        for skill in skills
    ]

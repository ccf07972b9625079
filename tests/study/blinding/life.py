"""What happens in a blinded study until somebody looks: runs, reviews, versions, a report, talks."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.core.cache import cache

from core.house import clock
from engines import sop, work
from engines.models import TaskRun
from engines.sop.order_run import start_for
from memory.hot import save
from memory.models import ProjectMemory, WeeklyReport
from memory.reports import job, weeks
from projects.models import Member, Person
from skills.models import Skill
from skills.services import save_skill
from study import door, readings
from study.blinding import services
from tests.study.blinding import prover, twins, workflows
from tests.support.study import Study

UNBLINDED = "unblinded"
SUBJECTS = ("P001", "P002", "P003", "P004", "P022")


def blinded(study: Study) -> None:
    """Switch it on, with one unblinded member."""
    services.switch_on(project=study.project, fields=twins.fields(), actor="test")
    user = User.objects.create_user(UNBLINDED, password="a-good-long-word", is_staff=True)
    person = Person.objects.create(wecom_userid=UNBLINDED, user=user)
    made = Member.objects.create(project=study.project, person=person, role="CRC")
    services.choose_unblinded(
        project=study.project, unblinded=[str(made.pk)], actor=study["admin"].user
    )
    people = Member.objects.select_related("project", "person__user")
    study.members = {one.wecom_userid: one for one in people}


def lived(study: Study, twin: str) -> None:
    """A while of the study, the same of both twins but for what the arm decides."""
    project = study.project
    project.refresh_from_db()
    for number in range(2 if twin == "a" else 5):
        values = {"kit_no": f"KT-{9000 + number}", "marker": str(number)}
        kit(study, "P005", values)
    kit(study, "P005", {"kit_no": twins.kit_of("P005", twin)})
    telling, checks = (
        skill(study, "qc_process:level", workflows.TELLING),
        skill(study, "qc_std", workflows.CHECKS),
    )
    for kind in (telling, checks, Skill.objects.get(project=project, skill_type="qc_process")):
        for record_id in SUBJECTS:
            run_of(study, kind, record_id)
    start_for(study[UNBLINDED], project, telling, "P022")
    prover.asked(
        "ask",
        [{"user": UNBLINDED, "text": f"{one}的药盒号和分组"} for one in ("P022", "P023", "P024")],
        "--json",
        lines=True,
    )
    memory = ProjectMemory.objects.get(project=project)
    arm = twins.ARMS[twins.arm_of("P003", twin)]
    save.save_memory(
        project=project,
        content=f"{memory.content}\nP003 在{arm},药盒 {twins.kit_of('P003', twin)}",
        base_version=memory.version,
        actor=study["admin"].user,
    )
    last = weeks.weeks_over(project, clock.now())
    WeeklyReport.objects.filter(project=project, week_number=last).delete()
    while job.work(project, last, work.week_figures):
        pass


def kit(study: Study, record_id: str, values: dict[str, Any]) -> None:
    """Save values as a CRC would, and let them be read: one more version."""
    row = {"record": record_id, "event": twins.EVENT, "instrument": "", "instance": None}
    study.stand_ins.post("redcap/records", [row | {"values": values}])
    cache.clear()
    readings.read_all(study.project)
    door.ask_one(study.project, None, {"aggregate": "count"})


def skill(study: Study, kind: str, config: dict[str, Any]) -> Skill:
    """A workflow of the study."""
    made = Skill(project=study.project, skill_type=kind, name=config["name"], config=config)
    return save_skill(skill=made, actor="test")


def run_of(study: Study, kind: Skill, record_id: str) -> TaskRun:
    run = sop.start(
        project=study.project,
        skill=kind,
        record_id=record_id,
        triggered_by="system_event",
        wake=False,
    )
    sop.drive(run.pk)
    run.refresh_from_db()
    return run

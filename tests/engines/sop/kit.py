"""What the tests of the SOP engine share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.db import connection
from django.utils.timezone import now

from engines import sop
from engines.models import PendingAction, Review, TaskRun
from engines.sop import run_events
from engines.sop.findings import seen_in
from skills.models import Skill
from skills.services import save_skill
from study.records import read_record
from tests.house.kit import together
from tests.support.study import Study


def qc(study: Study, kind: str = "qc_process") -> Skill:
    return Skill.objects.select_related("project").get(project=study.project, skill_type=kind)


def new_skill(
    study: Study, nodes: dict[str, Any], kind: str = "qc_process:test", **more: Any
) -> Skill:
    """A saved workflow that starts at its first node; `more`: fields of the skill or of its config."""
    fields = {key: more.pop(key) for key in ("trigger_type", "cron_schedule") if key in more}
    config = {"name": kind, "start_node": next(iter(nodes)), "nodes": nodes, **more}
    skill = Skill(project=study.project, skill_type=kind, name=kind, config=config, **fields)
    return save_skill(skill=skill, actor="admin")


def begin(study: Study, skill: Skill, record: str | None = "P001", **more: Any) -> TaskRun:
    """A run that nobody has driven yet."""
    more.setdefault("triggered_by", "zhangyi")
    return sop.start(project=study.project, skill=skill, record_id=record, wake=False, **more)


def go(run: TaskRun) -> TaskRun:
    sop.drive(run.pk)
    run.refresh_from_db()
    return run


def run_of(study: Study, skill: Skill, record: str | None = "P001", **more: Any) -> TaskRun:
    return go(begin(study, skill, record, **more))


def run_qc(study: Study, record: str, kind: str = "qc_process", **more: Any) -> TaskRun:
    return run_of(study, qc(study, kind), record, **more)


def tell() -> None:
    """What happened to runs is told, as the worker does it that is woken for them."""
    for lane in run_events.lanes_due(1000):
        run_events.tell_lane(lane)


def steps(run: TaskRun) -> list[str]:
    return [f"{step.node} {step.outcome}" for step in run.steps.order_by("seq")]


def findings(run: TaskRun) -> list[PendingAction]:
    return seen_in(run)


def review_of(run: TaskRun) -> Review:
    review = sop.open_review(run)
    assert review
    return review


def change(study: Study, record: str, event: str, **values: str) -> None:
    """Somebody enters data in REDCap."""
    row = {"record": record, "event": event, "instrument": "", "instance": None, "values": values}
    study.stand_ins.post("redcap/records", [row])


def newer_values(study: Study, record: str = "P001") -> None:
    """The subject is as no run has read it before; no rule of the tests minds.

    A version that counts up: on values that come back a decision on them would still stand.
    """
    found = read_record(project=study.project, record_id=record)
    assert found
    place = next(row for row in found.rows if row.get("icf_version"))
    major, minor = str(place["icf_version"]).split(".")
    version = f"{major}.{int(minor) + 1}"
    change(study, record, str(place["redcap_event_name"]), icf_version=version)


@contextmanager
def meanwhile(statement: str, call: Callable[[], object]) -> Iterator[None]:
    """Right after the first statement with this text, something happens on another connection."""
    left = [call]

    def wrapper(execute: Any, sql: str, *more: Any) -> Any:
        result = execute(sql, *more)
        if left and statement in sql:
            [outcome] = together(left.pop())
            if isinstance(outcome, Exception):
                raise outcome
        return result

    with connection.execute_wrapper(wrapper):
        yield
    assert not left, "nothing happened meanwhile"


def expire(run: TaskRun) -> None:
    """The lease and every waiting time of a run are over."""
    past = now() - timedelta(hours=1)
    TaskRun.objects.filter(pk=run.pk, lease_until__isnull=False).update(lease_until=past)
    TaskRun.objects.filter(pk=run.pk, available_at__isnull=False).update(available_at=past)
    TaskRun.objects.filter(pk=run.pk).update(updated_at=past)


def rule(**more: Any) -> dict[str, Any]:
    """A rule that P001 passes."""
    return {
        "id": "R1",
        "field": "age",
        "logic": {">=": [{"var": "age"}, 18]},
        "message": "未满18岁",
        **more,
    }


def born(study: Study, day: str, record: str = "P001") -> None:
    """Somebody enters a date of birth in REDCap."""
    change(study, record, "screening_arm_1", birth_date=day)


def birth_rule(**more: Any) -> dict[str, Any]:
    """A rule of the study's own about a date that identifies a person; P001 passes it."""
    dates = [{"before": [{"var": "birth_date"}, "1920-01-01"]}]
    dates.append({"after": [{"var": "birth_date"}, "2010-01-01"]})
    told = {"id": "B", "field": "birth_date", "message": "出生日期有误"}
    return told | {"logic": {"!": [{"or": dates}]}} | more


def hard(**more: Any) -> dict[str, Any]:
    return {"type": "hard_rule", "rules": [rule()], **more}


def human(**more: Any) -> dict[str, Any]:
    return {"type": "human_review", "description": "请复核", **more}


def soft(**more: Any) -> dict[str, Any]:
    return {"type": "soft_instruction", "instruction": "检查既往史,排除间质性肺炎。", **more}

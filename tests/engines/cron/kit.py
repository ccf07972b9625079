"""What the tests of the cron skills share: the demo study at a time of the day, and what its people get."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import time_machine

from core.house.holidays import is_weekend
from engines import sop
from engines.models import TaskRun
from memory.models import ProjectMemory
from projects.models import Project
from skills.models import Skill
from skills.services import save_skill
from study.models import VisitPlanEntry
from tests.engines.sop.kit import change, expire, go, tell
from tests.support.study import Study
from wechat.models import OutboxMessage
from wechat.outbound.outbox import Payload

Status = OutboxMessage.Status
ZONE = ZoneInfo("Asia/Shanghai")


def skill_of(study: Study, kind: str) -> Skill:
    return Skill.objects.select_related("project").get(project=study.project, skill_type=kind)


def configure(study: Study, kind: str, schedule: str | None = None, **more: Any) -> Skill:
    """Change a cron skill: its schedule, its graph (`catch_up`, `urgent`), or its node."""
    skill = skill_of(study, kind)
    skill.cron_schedule = schedule or skill.cron_schedule
    top = {name: more.pop(name) for name in ("catch_up", "urgent") if name in more}
    key = skill.config["start_node"]
    node = {**skill.config["nodes"][key], **more}
    skill.config = {**skill.config, **top, "nodes": {key: node}}
    return save_skill(skill=skill, actor="admin")


def today(study: Study) -> datetime:
    """Midnight of the day the demo study is laid around."""
    return datetime.fromisoformat(study.run["demo_today"]).replace(tzinfo=ZONE)


@contextmanager
def at(moment: datetime) -> Iterator[None]:
    with time_machine.travel(moment, tick=False):
        yield


def clock(study: Study, text: str, days: int = 0) -> datetime:
    hour, minute = map(int, text.split(":"))
    return today(study) + timedelta(days=days, hours=hour, minutes=minute)


def weekend(study: Study) -> int:
    """In how many days the next Saturday comes whose weekend nobody works in exchange for a holiday."""
    day = today(study).date()
    days = 1 + (4 - day.weekday()) % 7
    while not all(is_weekend(day + timedelta(days=days + one)) for one in (0, 1)):
        days += 7
    return days


def fired(study: Study, kind: str) -> TaskRun:
    """The skill fired now, and its run to its end."""
    run = sop.fire(skill_of(study, kind))
    assert run
    run = go(run)
    tell()
    return run


def all_trials(run: TaskRun) -> TaskRun:
    """The run after all its retries."""
    for _trial in range(6):
        expire(run)
        run = go(run)
    tell()
    return run


def rows(kind: str | None = None) -> list[OutboxMessage]:
    """Texts to people; the picture beside a weekly message is told apart in tests of pictures."""
    found = OutboxMessage.objects.filter(key__startswith="notify:").exclude(kind="image")
    found = found.order_by("pk")
    return [row for row in found if kind is None or row.status == kind]


def texts() -> dict[str, str]:
    """What each person was told last."""
    return {row.to_user: text(row) for row in rows()}


def text(row: OutboxMessage) -> str:
    message = Payload.model_validate_json(row.payload).message
    return str(message[message["msgtype"]]["content"])


def delivered(study: Study) -> dict[str, list[str]]:
    """The texts that WeCom delivered, by reader; cards are told apart in tests of cards."""
    found: dict[str, list[str]] = {}
    for message in study.stand_ins.sent():
        content = message["content"]
        if isinstance(content, dict) and "content" not in content:
            continue
        shown = content["content"] if isinstance(content, dict) else content
        found.setdefault(message["to"], []).append(shown)
    return found


def do_visit(study: Study, record: str, visit: str) -> None:
    """Somebody enters in REDCap that the visit took place today."""
    entry = VisitPlanEntry.objects.get(project=study.project, visit=visit)
    day = today(study).date().isoformat()
    change(study, record, f"{visit.lower()}_arm_1", **{entry.date_field: day})


def no_rest(study: Study) -> None:
    """No quiet hours, no holidays, nobody with a best time."""
    Project.objects.filter(pk=study.project.pk).update(
        quiet_from="00:00", quiet_until="00:00", quiet_holidays=False
    )
    study.project.refresh_from_db()
    ProjectMemory.objects.filter(project=study.project).update(content="")

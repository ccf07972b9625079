"""What the tests of the weekly report share."""

from __future__ import annotations

import json
from datetime import datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.timezone import now

from engines.tasks import write_report, write_reports
from memory.log.flow_log import Turn, append
from memory.models import WeeklyReport
from memory.reports import job, weeks
from memory.reports.weeks import Week
from tests.engines.chat.kit import prompts
from tests.support.study import Study
from tests.support.tasks import drain

DECISION = "今天PI会议定了:维持ECOG 0到2分,不放宽入排标准"


def last_number(study: Study) -> int:
    """The last week that is over."""
    return weeks.weeks_over(study.project, now())


def due_later(study: Study) -> list[int]:
    """What an hour from now is due of the weeks that are over now; one more may end within the hour."""
    last = last_number(study)
    return [
        number
        for number in job.due_weeks(study.project, now() + timedelta(hours=1))
        if number <= last
    ]


def last_week(study: Study) -> Week:
    return weeks.week(study.project, last_number(study))


def forget(study: Study, *numbers: int) -> None:
    """As if these weeks (the last one) had been missed."""
    wanted = numbers or (last_number(study),)
    WeeklyReport.objects.filter(project=study.project, week_number__in=wanted).delete()


def said(
    study: Study, text: str, user: str = "zhangyi", *, day: int = 2, back: int = 0, **more: Any
) -> datetime:
    """A turn on a day (0 to 6) of the last week that is over, or of `back` weeks before it."""
    week = weeks.week(study.project, last_number(study) - back)
    zone = ZoneInfo(study.project.timezone)
    at = datetime.combine(week.first + timedelta(days=day), more.pop("clock", time(10)), zone)
    turn = Turn(
        text,
        more.pop("answer", "好的"),
        more.pop("intent", "general_chat"),
        {"intents": [], "record_ids": more.pop("records", [])},
        more.pop("record_id", None),
    )
    append(project=study.project, user_id=user, turn=turn, at=at)
    return at


def claim(section: str, text: str, row: int, quote: str = "") -> dict[str, Any]:
    return {"section": section, "text": text, "row": row, "quote": quote or text}


def told(*entries: dict[str, Any]) -> dict[str, str]:
    """What the model says about one part of a week."""
    return {"content": json.dumps({"entries": list(entries)}, ensure_ascii=False)}


def write() -> None:
    """What beat does every hour, to the end."""
    write_reports()
    drain()


def finish(study: Study, number: int | None = None) -> None:
    """The job at one week, until nothing is left to do."""
    write_report(str(study.project.pk), number or last_number(study))
    drain()


def report(study: Study, number: int | None = None) -> WeeklyReport:
    return WeeklyReport.objects.get(project=study.project, week_number=number or last_number(study))


def section(found: WeeklyReport, name: str) -> list[str]:
    """The lines below a `###` heading."""
    body = found.summary.partition(f"### {name}")[2].partition("###")[0]
    return [line for line in body.strip().split("\n") if line]


def asked(study: Study) -> list[str]:
    """The texts of the weekly report's requests to the model."""
    return [
        "\n".join(str(message["content"]) for message in body["messages"])
        for body in prompts(study)
        if "【对话记录】" in str(body["messages"])
    ]

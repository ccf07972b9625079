"""Weekly reports of the demo study's past weeks (decisions.md, "week number")."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from demo import files

SECTIONS = {"decisions": "关键决策", "pitfalls": "踩坑记录", "todo": "待办"}


def weeks_before(start: date, today: date) -> int:
    """Number of the last week that ended before `today`'s week."""
    return max(0, (today - start).days // 7)


def enrolment_dates(today: date) -> list[date]:
    """Enrolment dates in the study's data."""
    records = files.load("redcap/records.json", today)
    found = (row["values"].get("enroll_date", "") for row in records)
    return sorted(date.fromisoformat(value) for value in found if len(value) == 10)


def compose(
    week: int, start: date, notes: dict[str, Any], enrolled: list[date], target: int
) -> tuple[str, dict[str, Any]]:
    """Markdown and figures of a week; the figures come from the data, never from the notes."""
    end = start + timedelta(days=6)
    total = sum(day <= end for day in enrolled)
    new = sum(start <= day <= end for day in enrolled)
    percent = round(100 * total / target) if target else 0
    lines = [
        f"## Week {week} ({start} ~ {end})",
        "### 进度",
        f"- 本周新入组:{new} 例",
        f"- 累计入组:{total} / {target} 例",
        f"- 完成率:{percent}%",
        *(f"- {line}" for line in notes.get("progress", [])),
    ]
    for key, title in SECTIONS.items():
        if items := notes.get(key):
            lines += [f"### {title}", *(f"- {_item(item)}" for item in items)]
    metrics = {
        "enrolled": new,
        "enrolled_total": total,
        "target": target,
        "completion": percent,
    }
    return "\n".join(lines), metrics


def _item(item: Any) -> str:
    return f"{item['date']}: {item['text']}" if isinstance(item, dict) else str(item)

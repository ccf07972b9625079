"""Weekly reports and documents of the demo study fit its data."""

from __future__ import annotations

import json
import re
from datetime import date, timedelta

from tests.demo.study_files import choices, dictionary, load, records, text


def test_weeks_one_to_sixty_are_written_and_their_decisions_fall_into_the_week() -> None:
    weeks = load("weekly_reports.json")
    assert list(weeks) == [str(number) for number in range(1, 61)]
    start = date.fromisoformat(load("project.json")["start_date"])
    for number, week in weeks.items():
        assert set(week) == {"progress", "decisions", "pitfalls", "todo"}
        assert all(week.values()), number
        first = start + timedelta(days=7 * (int(number) - 1))
        for decision in week["decisions"]:
            assert first <= date.fromisoformat(decision["date"]) <= first + timedelta(days=6)
    assert len({json.dumps(week) for week in weeks.values()}) == 60


def test_notable_weeks_tell_their_decisions() -> None:
    weeks = {n: json.dumps(w, ensure_ascii=False) for n, w in load("weekly_reports.json").items()}
    assert "增加受试者交通补贴" in weeks["12"]
    assert "门诊增派 CRC" in weeks["15"]
    assert "短暂提升" in weeks["14"]
    assert "短暂提升" in weeks["16"]
    assert "暂停筛选" in weeks["20"]
    assert "超温" in weeks["20"]
    assert "恢复筛选" in weeks["23"]
    assert "200元降到100元" in weeks["27"]


def test_weekly_reports_name_no_subject_by_name() -> None:
    names = [v for row in records() if (v := row["values"].get("subject_name"))]
    assert not any(name in text("weekly_reports.json") for name in names)


def test_the_protocol_is_twenty_pages_with_numbered_headings() -> None:
    protocol = text("documents/protocol.md")
    assert len(protocol) >= 25_000
    chapters = re.findall(r"^## (\d+) ", protocol, re.MULTILINE)
    assert chapters == [str(number) for number in range(1, 11)]
    for heading in ("### 4.1 入选标准", "### 4.2 排除标准", "### 5.3 访视安排"):
        assert heading in protocol


def test_the_exclusion_choices_are_the_exclusion_criteria_of_the_protocol() -> None:
    section = text("documents/protocol.md").split("### 4.2 排除标准")[1].split("### ")[0]
    assert choices(dictionary()["exclusion"]) == re.findall(r"^(\d)\. ", section, re.MULTILINE)

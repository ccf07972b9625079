"""`manage.py visit_window --plan FILE`: lines in, lines out, no database."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

PLAN = {
    "timezone": "Asia/Shanghai",
    "anchor_is_day": 1,
    "withdraw_field": "withdraw_date",
    "visits": [
        {
            "visit": "V1",
            "anchor_field": "enroll_date",
            "day": 1,
            "minus": 3,
            "plus": 3,
            "date_field": "v1_date",
        },
        {
            "visit": "V2",
            "anchor_field": "first_dose_date",
            "day": 28,
            "minus": 7,
            "plus": 7,
            "date_field": "v2_date",
        },
    ],
}
VALUES = {"enroll_date": "2024-03-01", "first_dose_date": "2024-03-01", "v1_date": "2024-03-04"}


@pytest.fixture
def plan_file(tmp_path: Path) -> Path:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(PLAN), "utf-8")
    return path


def run(
    monkeypatch: pytest.MonkeyPatch, plan: Path, *lines: str, today: str = "2024-04-05"
) -> list[dict[str, Any]]:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    out = io.StringIO()
    call_command("visit_window", plan=plan, today=today, stdout=out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_one_line_a_planned_visit(monkeypatch: pytest.MonkeyPatch, plan_file: Path) -> None:
    lines = run(monkeypatch, plan_file, json.dumps({"record_id": "007", "values": VALUES}))

    assert [(line["record_id"], line["visit"], line["state"], line["days"]) for line in lines] == [
        ("007", "V1", "in_window", 0),
        ("007", "V2", "overdue", 1),
    ]


@pytest.mark.parametrize(
    ("today", "state"),
    [
        ("2024-04-04", "due"),
        ("2024-04-05", "overdue"),
        ("2024-04-04T15:59:00Z", "due"),
        ("2024-04-04T16:00:00Z", "overdue"),
    ],
)
def test_today_counts_in_the_studys_zone(
    monkeypatch: pytest.MonkeyPatch, plan_file: Path, today: str, state: str
) -> None:
    line = json.dumps({"record_id": "1", "values": VALUES})

    assert run(monkeypatch, plan_file, line, today=today)[1]["state"] == state


@pytest.mark.parametrize(
    "bad",
    [
        "not json",
        "[]",
        "7",
        "{}",
        '{"record_id": true, "values": {}}',
        '{"record_id": ["7"], "values": {}}',
        '{"record_id": null, "values": {}}',
        '{"record_id": "7", "values": []}',
        '{"record_id": "7", "values": {"enroll_date": {"day": 1}}}',
        '{"record_id": "7"',
        '{"record_id": "\\ud800", "values": {}}',
        '{"record_id": "\udcff", "values": {}}',
        '{"record_id": "7", "values": {"\\ud800": []}}',
    ],
)
def test_a_bad_line_is_answered_and_the_next_one_read(
    monkeypatch: pytest.MonkeyPatch, plan_file: Path, bad: str
) -> None:
    good = json.dumps({"record_id": "8", "values": VALUES})

    first, *others = run(monkeypatch, plan_file, bad, good)

    assert list(first) == ["error"]
    assert [line["record_id"] for line in others] == ["8", "8"]


def test_numbers_among_the_values_are_the_text_they_print_as(
    monkeypatch: pytest.MonkeyPatch, plan_file: Path
) -> None:
    values = {**VALUES, "age": 65, "bmi": 21.5, "smoker": True, "v2_date": 20240328}

    first, second = run(monkeypatch, plan_file, json.dumps({"record_id": 7, "values": values}))

    assert (first["record_id"], first["state"]) == ("7", "in_window")
    assert second["state"] == "unknown"
    assert "v2_date" in second["reason"]


def test_a_plan_file_may_begin_with_a_byte_order_mark(
    monkeypatch: pytest.MonkeyPatch, plan_file: Path
) -> None:
    plan_file.write_text(json.dumps(PLAN), "utf-8-sig")

    lines = run(monkeypatch, plan_file, json.dumps({"record_id": "7", "values": VALUES}))

    assert [line["visit"] for line in lines] == ["V1", "V2"]


def test_a_plan_file_that_is_no_utf_8_is_refused(
    monkeypatch: pytest.MonkeyPatch, plan_file: Path
) -> None:
    plan_file.write_bytes(b"\xff\xfe{}")

    with pytest.raises(CommandError) as refused:
        run(monkeypatch, plan_file)

    assert refused.value.returncode == 2


def test_an_error_does_not_repeat_the_values(
    monkeypatch: pytest.MonkeyPatch, plan_file: Path
) -> None:
    (line,) = run(monkeypatch, plan_file, '{"record_id": "7", "values": {"name": ["张三"]}}')

    assert "张三" not in line["error"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("not json", "JSON"),
        (json.dumps({**PLAN, "visits": [{**PLAN["visits"][0], "day": 0}]}), "V1"),  # type: ignore[dict-item]
        (json.dumps({**PLAN, "timezone": "Nowhere"}), "Nowhere"),
        (json.dumps({"anchor_is_day": 1}), "visits"),
    ],
)
def test_a_bad_plan_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str, told: str
) -> None:
    path = tmp_path / "plan.json"
    path.write_text(content, "utf-8")

    with pytest.raises(CommandError, match=told) as refused:
        run(monkeypatch, path)

    assert refused.value.returncode == 2


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"project": "LUNG-IIT"},
        {"record": "P001"},
        {"project": "A", "record": "1", "plan": Path("x")},
        {"plan": Path("/nonexistent/plan.json")},
    ],
)
def test_unclear_calls_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(CommandError) as refused:
        call_command("visit_window", **options)

    assert refused.value.returncode == 2


@pytest.mark.parametrize("today", ["2024-02-30", "9999-12-31T23:00Z", "0001-01-01T00:00+14:00"])
def test_an_impossible_today_is_refused(
    monkeypatch: pytest.MonkeyPatch, plan_file: Path, today: str
) -> None:
    with pytest.raises(CommandError) as refused:
        run(monkeypatch, plan_file, today=today)

    assert today in str(refused.value)
    assert refused.value.returncode == 2

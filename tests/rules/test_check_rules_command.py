"""`manage.py check_rules`: files in, lines in, lines out; no database, no network."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_django.fixtures import Settings

from core.house import clock
from tests.rules.conftest import RULES
from tests.rules.support import DICTIONARY, MISSING_CODES, var

ROOT = Path(__file__).resolve().parents[2]
FORM = [
    *("rule", "field", "event", "instrument", "instance", "outcome", "value", "message"),
    *("severity", "reason", "detail"),
]


def test_one_answer_per_line_in_order(run: Any) -> None:
    lines = [json.dumps({"record_id": str(n), "age": str(n), "sex": "1"}) for n in (50, 90)]
    answers = run(*lines, dictionary=DICTIONARY, project=MISSING_CODES)
    assert [answer["record_id"] for answer in answers] == ["50", "90"]
    outcomes = [[r["outcome"] for r in answer["results"]] for answer in answers]
    assert outcomes == [["PASS", "PASS"], ["FAIL", "PASS"]]
    first, second = answers[0]["results"]
    assert list(first) == list(second) == FORM
    assert (first["rule"], first["message"], first["severity"]) == ("age", "年龄", "error")
    assert (first["event"], first["instrument"], first["instance"]) == (None, None, None)
    assert second["severity"] == "info"


def test_a_bad_line_gives_an_error_and_the_next_is_answered(run: Any) -> None:
    deep = "[" * 5_000 + "]" * 5_000
    bad = ["{", "[]", "1", deep, f'{{"age": {deep}}}', '{"rows": [1]}', '{"record_id": "\\ud800"}',
           '{"age": 1' + "0" * 5_000 + "}", '{"age": "17", "age": "50"}']  # fmt: skip
    answers = run(*bad, '{"record_id": "1", "age": "50", "sex": "1"}')
    assert len(answers) == len(bad) + 1
    assert all("error" in answer for answer in answers[:-1])
    assert [r["outcome"] for r in answers[-1]["results"]] == ["PASS", "PASS"]


def test_nan_never_reaches_the_output(run: Any) -> None:
    [answer] = run('{"record_id": NaN, "age": NaN, "sex": Infinity}', dictionary=DICTIONARY)
    assert [r["reason"] for r in answer["results"]] == ["type_mismatch", "invalid_choice"]
    assert [r["value"] for r in answer["results"]] == ["nan", "inf"]


def test_rules_may_stand_in_an_object(run: Any) -> None:
    [answer] = run('{"age": "50", "sex": "0"}', rules={"rules": RULES})
    assert [r["outcome"] for r in answer["results"]] == ["PASS", "FAIL"]


def test_today_with_an_offset(run: Any) -> None:
    rules = [{"field": "d", "logic": {"<=": [var("d"), {"today": []}]}, "message": "m"}]
    line = '{"d": "2024-03-02"}'
    for today, zone, outcome in (
        ("2024-03-01T17:30:00Z", "Asia/Shanghai", "PASS"),
        ("2024-03-01T17:30:00Z", "UTC", "FAIL"),
        ("2024-03-02", "UTC", "PASS"),
    ):
        [answer] = run(line, rules=rules, project={"timezone": zone}, today=today)
        assert answer["results"][0]["outcome"] == outcome


def test_today_is_the_day_the_studies_are_at(run: Any, settings: Settings) -> None:
    rules = [{"field": "d", "logic": {"<=": [var("d"), {"today": []}]}, "message": "m"}]
    line = json.dumps({"d": clock.today("Asia/Shanghai").isoformat()})
    [now] = run(line, rules=rules)
    settings.DEBUG, settings.DEMO_TODAY = True, "2020-03-01"
    [then] = run(line, rules=rules)
    assert [one["results"][0]["outcome"] for one in (now, then)] == ["PASS", "FAIL"]


@pytest.mark.parametrize(
    "options",
    [
        {"rules": [{"field": "age", "logic": {"foo": 1}, "message": "m"}]},
        {"rules": [{"field": "aeg", "logic": True, "message": "m"}], "dictionary": DICTIONARY},
        {"rules": "{"},
        {"rules": "[" * 5_000},
        {"rules": '[{"field": "age", "logic": {"<": [1, 2], "<": [2, 1]}, "message": "m"}]'},
        {"rules": {"no": "rules"}},
        {"dictionary": {}},
        {"dictionary": "["},
        {"dictionary": [1]},
        {"project": []},
        {"project": {"timezone": "Mars"}},
        {"today": "soon"},
    ],
    ids=str,
)
def test_bad_files_end_with_exit_2_and_no_answer(run: Any, options: dict[str, Any]) -> None:
    with pytest.raises(CommandError) as caught:
        run('{"age": "50"}', **options)
    assert caught.value.returncode == 2
    assert str(caught.value)


def test_a_missing_file_ends_with_exit_2() -> None:
    with pytest.raises(CommandError) as caught:
        call_command("check_rules", rules="/nonexistent/rules.json")
    assert caught.value.returncode == 2


def test_a_line_that_is_no_utf_8_gives_an_error_whatever_the_locale(
    monkeypatch: pytest.MonkeyPatch, write: Any
) -> None:
    good = b'{"record_id": "1", "age": "50", "sex": "1"}\n'
    content = b"\xef\xbb\xbf" + good + b"\xff\xfe\n" + b'{"age": "\xff"}\n' + good
    stdin = io.TextIOWrapper(io.BytesIO(content), encoding="gbk", errors="strict")
    monkeypatch.setattr(sys, "stdin", stdin)
    out = io.StringIO()
    call_command("check_rules", stdout=out, rules=write("rules.json", RULES))
    answers = [json.loads(line) for line in out.getvalue().splitlines()]
    assert ["error" in answer for answer in answers] == [False, True, True, False]


@pytest.mark.slow
def test_as_a_process_with_a_database_that_is_not_there(write: Any) -> None:
    rules = write("rules.json", RULES)
    environment = {**os.environ, "DATABASE_URL": "postgresql://nobody@127.0.0.1:9/nothing"}
    command = [sys.executable, "manage.py", "check_rules", "--rules"]
    lines = '{"age": "50", "sex": "1"}\n{\n'
    good = subprocess.run(
        [*command, rules], input=lines, capture_output=True, text=True, cwd=ROOT, env=environment
    )
    assert good.returncode == 0, good.stderr
    first, second = map(json.loads, good.stdout.splitlines())
    assert [r["outcome"] for r in first["results"]] == ["PASS", "PASS"]
    assert "error" in second
    bad = write("bad.json", [{"field": "age", "logic": {"foo": 1}, "message": "m"}])
    refused = subprocess.run(
        [*command, bad], input=lines, capture_output=True, text=True, cwd=ROOT, env=environment
    )
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "foo" in refused.stderr

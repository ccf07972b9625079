"""`manage.py llm_check`: what an endpoint can do, told by ten probes each on invented data."""

from __future__ import annotations

import io
import json
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from engines.llm_check import PROBES, Invented, cites
from integrations.llm import Completion, Usage
from llm.models import LlmUsage
from projects.models import Project
from tests.engines.chat.kit import prompts, sent
from tests.support.study import Study

CITING = Path(__file__).parents[3] / "shared" / "tools" / "citing_llm.py"
LINE = re.compile(r"(\w+) (\d+)/10 (\d+) (.+)")
NAMES = ["cites", "study_query", "json_schema", "tools", "streaming", "latency", "usage"]
CASES = [Invented.number(n) for n in range(PROBES)]


def checked(**options: Any) -> tuple[dict[str, int], dict[str, str], int]:
    """Met of ten and what follows, by ability, and the exit status."""
    out, status = io.StringIO(), 0
    try:
        call_command("llm_check", stdout=out, **options)
    except SystemExit as end:
        status = int(str(end.code))
    found = [LINE.fullmatch(line) for line in out.getvalue().splitlines()]
    assert all(found), out.getvalue()
    rows = [match.groups() for match in found if match]
    assert [row[0] for row in rows] == NAMES
    return {row[0]: int(row[1]) for row in rows}, {row[0]: row[3] for row in rows}, status


def say(case: Invented) -> str:
    line = f"{{{case.subject}|ALT|V2|{case.value}}}"
    return f"{case.subject} 的 ALT 在 {case.visit} 升至 {case.value} U/L{line}。"


def plan(study: Study, rows: list[str]) -> None:
    study.stand_ins.post("llm/script", [{"content": row} for row in rows])


def test_a_model_that_does_not_cite(study: Study) -> None:
    met, follows, status = checked(project=study.project.code)
    assert met["cites"] == 0
    assert status == 1
    assert follows["cites"] == "引用不足:聊天只给数据答案"
    assert (met["streaming"], met["usage"], met["latency"]) == (10, 10, 10)


def test_a_model_that_cites(study: Study) -> None:
    plan(study, [say(case) for case in CASES])
    met, follows, status = checked()
    assert (met["cites"], status) == (10, 0)
    assert "引用不足" not in follows["cites"]


@pytest.mark.parametrize(("wrong", "status"), [(2, 0), (3, 1)])
def test_met_from_eight_of_ten(study: Study, wrong: int, status: int) -> None:
    rows = [say(case) for case in CASES]
    plan(study, ["不清楚。"] * wrong + rows[wrong:])
    met, _follows, ended = checked()
    assert (met["cites"], ended) == (10 - wrong, status)


def test_nothing_of_a_study_leaves_and_every_call_is_counted(study: Study) -> None:
    checked(project=study.project.code)
    asked = sent(study)
    for word in ("P001", study.project.name, study.project.code, "张"):
        assert word not in asked
    rows = list(LlmUsage.objects.filter(purpose="check"))
    assert len(rows) == len(prompts(study)) == 50
    assert {row.model_purpose for row in rows} == {"chat", "engines", "small"}
    assert sum(row.input_tokens for row in rows) > 0


def test_each_ability_is_asked_of_the_purpose_that_needs_it(study: Study) -> None:
    Project.objects.update(llm_model="talk", llm_engines_model="think", llm_small_model="tiny")
    checked()
    told = {(row.prompt_version, row.model) for row in LlmUsage.objects.all()}
    assert told == {
        ("check_cite.v1", "talk"),
        ("check_query.v1", "tiny"),
        ("check_json.v1", "tiny"),
        ("check_tools.v1", "think"),
    }


@pytest.mark.parametrize(
    "fault",
    [
        ("status", 500),
        ("status", 429),
        ("status", 401),
        ("body", "<html>busy</html>"),
        ("reset", 1),
    ],
)
def test_an_endpoint_in_trouble_meets_nothing(study: Study, fault: tuple[str, Any]) -> None:
    study.stand_ins.fault("llm", *fault, times=None)
    met, _follows, status = checked()
    assert (set(met.values()), status) == ({0}, 1)


def test_a_slow_endpoint_is_given_up_after_three(study: Study, settings: Settings) -> None:
    settings.LLM_TIMEOUT_S = 0.05
    study.stand_ins.post("configure", {"llm": {"latency_s": 0.4}})
    met, _follows, status = checked()
    assert (set(met.values()), status) == ({0}, 1)
    assert LlmUsage.objects.filter(ok=True).count() == 0
    assert len({(row.model_purpose) for row in LlmUsage.objects.all()}) == 3
    assert LlmUsage.objects.count() == 9


def test_an_endpoint_that_tells_no_usage_is_counted_here(study: Study) -> None:
    rows = [{"content": "不清楚。", "usage": None} for _case in CASES]
    study.stand_ins.post("llm/script", rows)
    met, follows, _status = checked()
    assert met["usage"] == 0
    assert "本地" in follows["usage"]


def test_a_study_that_is_not_there_and_a_house_without_a_model(
    study: Study, settings: Settings
) -> None:
    with pytest.raises(CommandError) as unknown:
        call_command("llm_check", project="NOPE")
    assert unknown.value.returncode == 3
    settings.LLM_PRESET = ""
    with pytest.raises(CommandError) as unset:
        call_command("llm_check")
    assert unset.value.returncode == 1


def answered(content: str) -> Completion:
    return Completion(content, (), Usage(1, 1), "m", "stop", 1)


@pytest.mark.parametrize(
    ("said", "good"),
    [
        ("X910 的 ALT 为 101 U/L[F1]。", True),
        ("为 101 U/L [F1],高于上限。", True),
        ("为 101 U/L。", False),
        ("[F1] 为 101 U/L", False),  # the mark stands behind what it proves
        ("为 101[F2]", False),
        ("为 101[F1][F2]", False),  # a line that says nothing of it
        ("为 1010[F1]", False),
        ("为 101 U/L。另外都正常[F1]", False),
        ("", False),
    ],
)
def test_what_counts_as_citing(said: str, good: bool) -> None:
    assert (CASES[0].value, CASES[0].mark) == (101, "[F1]")
    assert cites(answered(said), CASES[0]) is good


def test_the_ten_are_ten() -> None:
    assert len({case.question for case in CASES}) == len({case.value for case in CASES}) == PROBES
    assert len({case.mark for case in CASES}) > 2
    for case in CASES:
        [line] = [line for line in case.lines if f"= {case.value} " in line]
        assert line.startswith(f"{case.mark} {case.subject} ")


@pytest.fixture
def citing(study: Study, settings: Settings, tmp_path: Path) -> Iterator[Callable[..., None]]:
    """The house asks a server that cites; `start(*arguments)` of it."""
    if not CITING.exists():
        pytest.skip("NOT RUN: the citing model is not beside this checkout")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    script = tmp_path / "script.jsonl"
    entries = [row for case in CASES for row in _entries(case)]
    script.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in entries))
    running: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str) -> None:
        command = [sys.executable, str(CITING), "--port", str(port), "--script", str(script)]
        running.append(subprocess.Popen([*command, *arguments]))
        with httpx.Client(transport=httpx.HTTPTransport(retries=20), trust_env=False) as http:
            http.get(f"http://127.0.0.1:{port}/v1/models", timeout=30).raise_for_status()

    settings.LLM_BASE_URL = f"http://127.0.0.1:{port}/v1"
    yield start
    for process in running:
        process.terminate()
        process.wait()


def _entries(case: Invented) -> list[dict[str, Any]]:
    query = {"subjects": [case.subject], "select": ["alt"], "place": case.visit}
    read = {"record_id": case.subject, "fields": ["alt"]}
    return [
        {
            "when": case.question,
            "say": say(case),
            "calls": [{"name": "query_study", "arguments": query}],
        },
        {
            "when": f"请读取 {case.subject} ",
            "say": "",
            "calls": [{"name": "read_clinical_data", "arguments": read}],
        },
    ]


def test_the_model_that_cites(citing: Callable[..., None]) -> None:
    citing()
    met, _follows, status = checked()
    assert status == 0
    # It answers a form with the emptiest object that fits.
    assert met == {**dict.fromkeys(NAMES, 10), "json_schema": 0}


def test_the_same_model_without_its_marks(citing: Callable[..., None]) -> None:
    citing("--mode", "nocite")
    met, _follows, status = checked()
    assert (met["cites"], met["tools"], status) == (0, 10, 1)


def test_a_model_that_says_nothing(citing: Callable[..., None]) -> None:
    citing("--mode", "empty")
    met, _follows, status = checked()
    assert (met["cites"], met["streaming"], met["usage"], status) == (0, 0, 10, 1)

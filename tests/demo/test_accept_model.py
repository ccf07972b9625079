"""`manage.py accept_model`: the frozen set by the real road, in a house that knows nothing of the real one."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from core.llm import acceptance
from core.llm.models import ModelAcceptance
from core.llm.providers import provider_of
from demo import accepting
from projects.endpoints import Purpose
from projects.models import AuditEntry, Project
from tests.answers.leaks import identifiers
from tests.answers.model import Model, served
from tests.demo.capable import Capable
from tests.support.study import Study

KEY = "key-of-the-real-study"
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def model() -> Iterator[Model]:
    with served() as found:
        yield found


@pytest.fixture
def pointed(study: Study, model: Model, settings: Settings) -> Project:
    """The study asks the model that is served here, and has a name that is nobody else's."""
    settings.REQUIRE_MODEL_ACCEPTANCE = True
    project = study.project
    project.llm_preset, project.llm_base_url = "local", model.url
    project.llm_model, project.llm_api_key = "recorded", KEY
    project.name, project.redcap_token = "真实研究的名称", "F" * 32
    project.save()
    return project


def accept(project: Project) -> tuple[str, int]:
    out, status = io.StringIO(), 0
    try:
        call_command("accept_model", project=project.code, by="operator", stdout=out)
    except SystemExit as end:
        status = int(str(end.code))
    return out.getvalue(), status


def test_every_case_can_be_judged() -> None:
    found = accepting.cases()
    assert 40 <= len(found) <= 60
    assert len({one["id"] for one in found}) == len({one["text"] for one in found}) == len(found)
    for one in found:
        assert one["says"] or one["not"] or one.get("asked_back")
        right = " ".join(w if isinstance(w, str) else w[0] for w in one["says"])
        answer = {"reply": right or "-", "asked_back": bool(one.get("asked_back"))}
        assert accepting.verdict(one, answer) == "passed", one
        if one["not"]:
            assert accepting.verdict(one, {"reply": f"{right} {one['not'][0]}"}) == "wrong", one


def test_no_case_is_of_the_tests_of_the_answers() -> None:
    known = {
        text
        for path in (ROOT / "tests" / "answers").glob("*.jsonl")
        for line in path.read_text("utf-8").splitlines()
        for text in (json.loads(line).get("turns") or [json.loads(line).get("text")])
    }
    assert not [one["text"] for one in accepting.cases() if one["text"] in known]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"reply": "P016 V2 谷丙转氨酶ALT: 185 U/L"}, "passed"),
        ({"reply": "185,另有88"}, "wrong"),
        ({"reply": "1850"}, "missing"),
        ({"reply": "请问是哪一项? 1. V2 185 2. AST 88", "asked_back": True}, "asked back"),
        ({"error": "REDCap"}, "missing"),
    ],
)
def test_a_verdict(answer: dict[str, Any], told: str) -> None:
    assert accepting.verdict({"says": ["185"], "not": ["88"]}, answer) == told


def test_a_case_passes_only_if_all_three_do() -> None:
    done = [{"verdicts": ["passed"] * 3}, {"verdicts": ["passed", "wrong", "passed"]}]
    assert accepting.figures(done) == (1, 1)


def test_the_house_of_its_own_is_told_nothing_of_ours(
    pointed: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = {"DATABASE_URL": "postgresql://x", "WECOM_SECRET": "s", "FIELD_ENCRYPTION_KEYS": "k"}
    for name, value in ours.items():
        monkeypatch.setenv(name, value)
    told = accepting.bare()
    assert not {"DATABASE_URL", "REDIS_URL", "WECOM_SECRET"} & told.keys()
    assert told["FIELD_ENCRYPTION_KEYS"] != os.environ["FIELD_ENCRYPTION_KEYS"]
    assert told["ENV_FILE"] == os.devnull
    model = accepting.model_of(pointed)
    assert model["LLM_API_KEY"] == KEY
    assert pointed.redcap_token not in str({**told, **model})


def test_the_small_model_of_the_environment_is_that_of_the_study(
    pointed: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    pointed.llm_small_preset, pointed.llm_small_base_url = "local", "http://127.0.0.1:1/v1"
    pointed.llm_small_model, pointed.llm_small_api_key = "little", "another-key"
    for name, value in accepting.model_of(pointed).items():
        monkeypatch.setenv(name, value)
    found = provider_of(Project(), Purpose.SMALL)
    assert (found.base_url, found.model, found.key) == (
        "http://127.0.0.1:1/v1",
        "little",
        "another-key",
    )
    assert acceptance.endpoints_of(Project()) == acceptance.endpoints_of(pointed)


def test_without_a_model_that_answers_nothing_is_kept(pointed: Project) -> None:
    pointed.llm_base_url = "http://127.0.0.1:1/v1"
    pointed.save()
    with pytest.raises(CommandError) as refused:
        call_command("accept_model", project=pointed.code)
    assert refused.value.returncode == 4
    with pytest.raises(CommandError):
        call_command("accept_model", project="NONE")
    assert not ModelAcceptance.objects.exists()


@pytest.mark.slow
@pytest.mark.parametrize("is_capable", [False, True])
def test_the_whole_set_by_the_real_road(
    pointed: Project, model: Model, is_capable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that says nothing does not pass; one that reads and chooses does. Every sixth case is played."""
    asked = accepting.cases()[::6]
    monkeypatch.setattr(accepting, "cases", lambda: asked)
    if is_capable:
        monkeypatch.setattr(model, "answer", Capable(model).answer)
    told, status = accept(pointed)
    row = ModelAcceptance.objects.get()
    assert (row.total, row.by) == (len(asked), "operator")
    assert all(len(one["replies"]) == 3 for one in row.cases)
    assert row.is_passed is is_capable, told
    assert status == (0 if is_capable else 1)
    assert row.wrong == 0, told
    assert row.digest in told
    assert AuditEntry.objects.get(action="model.accept").new["sha256"] == row.digest
    assert acceptance.state_of(pointed) is (
        acceptance.State.UNSIGNED if is_capable else acceptance.State.FAILED
    )
    sent = json.dumps(model.asked, ensure_ascii=False)
    assert model.asked
    assert not re.search("真实研究|F{32}", sent)
    assert not [one for one in identifiers() if one in sent]

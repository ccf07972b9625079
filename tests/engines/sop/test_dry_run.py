"""A dry run says what a run would do and leaves nothing behind (issue B, "dry run")."""

from __future__ import annotations

from typing import Any

import pytest
from django.apps import apps

from core.llm.models import LlmUsage
from engines import sop
from engines.assistant.tools import tools
from engines.assistant.tools.registry import Tool
from engines.assistant.tools.results import Status, ToolResult
from projects.models import Project
from tests.engines.sop.kit import findings, hard, human, new_skill, qc, rule, run_of, soft
from tests.engines.sop.test_soft_lies import call, said
from tests.support.study import Study
from tests.support.tasks import drain

pytestmark = pytest.mark.django_db

OF_SITE_B = "P020"


def counts() -> dict[str, int]:
    return {model._meta.db_table: model._default_manager.count() for model in apps.get_models()}


def contents() -> dict[str, list[Any]]:
    """Every row of every table but the reading of the dictionary."""
    return {
        model._meta.db_table: [*model._default_manager.order_by("pk").values()]
        for model in apps.get_models()
    }


def dry(study: Study, nodes: dict[str, Any], record: str = "P001", **more: Any) -> sop.DryRun:
    config = {"name": "dry", "start_node": next(iter(nodes)), "nodes": nodes}
    return sop.dry_run(project=study.project, config=config, record_id=record, **more)


def way(done: sop.DryRun) -> list[str]:
    return [f"{step.node} {step.outcome}" for step in done.steps]


@pytest.mark.full
@pytest.mark.parametrize("record", ["P001", "P004", "P012"])
def test_nothing_is_written(record: str, study: Study) -> None:
    config = qc(study).config
    before, rows = counts(), contents()

    sop.dry_run(project=study.project, config=config, record_id=record)

    assert counts() == before
    assert contents() == rows
    assert drain() == []
    assert study.stand_ins.requests("llm") == []


def test_what_rules_say_is_what_a_run_finds(study: Study) -> None:
    skill = qc(study)
    done = sop.dry_run(project=study.project, config=skill.config, record_id="P004")
    run = run_of(study, skill, "P004")

    assert (done.end, done.would_suspend, done.is_complete) == (run.final_state, False, True)
    bad = [seen for seen in done.observations if seen.outcome != "PASS"]
    assert [(seen.rule_key, seen.field, seen.value) for seen in bad if seen.outcome == "FAIL"] == [
        (row.rule_key, row.field, row.value) for row in findings(run)
    ]


def test_it_stops_at_a_person_and_says_what_would_be_asked(study: Study) -> None:
    done = dry(study, {"check": hard(on_pass="ask"), "ask": human(), "more": hard()})

    assert way(done) == ["check pass", "ask would_ask_person"]
    assert (done.end, done.would_suspend) == ("", True)
    assert done.steps[-1].message == "请复核"


def test_a_soft_node_that_is_not_asked_is_no_pass(study: Study) -> None:
    done = dry(study, {"judge": soft(on_pass="check"), "check": hard()})

    assert way(done) == ["judge would_ask_llm"]
    assert (done.end, done.would_suspend, done.observations) == ("", False, [])


@pytest.mark.full
def test_a_soft_node_is_asked_on_demand(study: Study) -> None:
    study.stand_ins.script(said())
    before = counts()
    done = dry(study, {"judge": soft(on_pass="check"), "check": hard()}, ask_llm=True)

    assert way(done) == ["judge pass", "check pass"]
    assert done.end == "end_success"
    changed = {name for name, number in counts().items() if number != before[name]}
    assert changed == {LlmUsage._meta.db_table}, "what was spent is booked"


def test_a_model_that_is_away_leaves_it_to_a_person(study: Study) -> None:
    study.stand_ins.fault("llm", "status", 500, times=None)
    done = dry(study, {"judge": soft(retry={"times": 3, "wait_s": 1})}, ask_llm=True)

    assert way(done) == ["judge would_ask_person"]
    assert (done.end, done.would_suspend) == ("", True)


@pytest.fixture
def effects(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A tool that does something, there for one test."""
    done: list[str] = []

    def act(_context: object, _arguments: object) -> ToolResult:
        done.append("acted")
        return ToolResult("act", Status.OK, "done")

    tool = Tool("act", "acts", {"type": "object"}, act, read_only=False)
    monkeypatch.setitem(tools(), "act", tool)
    return done


@pytest.mark.full
def test_a_tool_with_effects_is_out_of_reach(study: Study, effects: list[str]) -> None:
    study.stand_ins.script(call("act"), said())
    dry(study, {"judge": soft(tools=["act"])}, ask_llm=True)

    assert effects == []
    assert all("acts" not in str(sent) for sent in study.stand_ins.requests("llm"))


def test_a_rule_that_breaks_is_an_error_and_no_pass(study: Study) -> None:
    broken = rule(logic={">=": [{"var": "no_such_field"}, 1]})
    done = dry(study, {"check": {"type": "hard_rule", "rules": [broken, rule(id="R2")]}})

    assert [seen.outcome for seen in done.observations if seen.outcome != "NOT_APPLICABLE"] == [
        "ERROR",
        "PASS",
    ]
    assert done.end == "end_review_required"


def test_a_circle_ends_with_the_step_cap(study: Study) -> None:
    nodes = {"a": hard(on_pass="b"), "b": hard(on_pass="a")}
    config = {"name": "x", "start_node": "a", "nodes": nodes, "max_steps": 5}
    done = sop.dry_run(project=study.project, config=config, record_id="P001")

    assert (len(done.steps), done.end) == (5, "end_error")


@pytest.mark.parametrize("record", ["P999", OF_SITE_B])
def test_of_the_other_site_and_absent_read_the_same(record: str, study: Study) -> None:
    with pytest.raises(sop.NoSuchSubject):
        dry(study, {"check": hard()}, record, member=study["wanghushi"])


def test_a_partial_reading_is_no_success(study: Study) -> None:
    skill = new_skill(study, {"check": hard()})
    shown = dry(study, skill.config["nodes"])
    assert shown.end == "end_success"

    token = study.run["redcap_tokens"]["deidentified"]
    Project.objects.filter(pk=study.project.pk).update(redcap_token=token)
    study.project.refresh_from_db()
    hidden = dry(study, skill.config["nodes"])
    assert (hidden.is_complete, hidden.end) == (False, "end_review_required")
    assert hidden.message

"""What limits a result: size, role, the reader's site, and what is blank (issue 3, Tools)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.integrations import tokens
from engines.assistant.react import RESULT_TOKENS
from engines.assistant.tools import (
    Status,
    ToolContext,
    ToolResult,
    execute,
)
from study.identities import gate_for
from study.request_cache import Reader
from tests.engines.chat.kit import ask, call, calls, reasons, say, steps
from tests.engines.chat.test_react import VAGUE, chosen
from tests.engines.liar.kit import note
from tests.support.study import Study


def run(study: Study, name: str, userid: str = "zhangyi", **arguments: Any) -> ToolResult:
    member = study[userid]
    return execute(
        ToolContext(study.project, member, gate_for(Reader(study.project, member))), name, arguments
    )


@pytest.mark.full
def test_what_goes_to_the_model_has_a_token_limit(study: Study) -> None:
    forms = ["labs", "vitals", "demographics", "eligibility"]
    reasons(study, calls(call("read_clinical_data", record_id="P001", fields=forms)), chosen())
    ask("zhangyi", VAGUE)
    told = next(m for m in steps(study)[1]["messages"] if m["role"] == "tool")["content"]
    assert tokens.count(told) <= RESULT_TOKENS + 60


def test_blank_fields_are_named_so_that_nobody_claims_them(study: Study) -> None:
    result = run(study, "read_clinical_data", record_id="P002", fields=["入组日期", "sex"])
    blank = {fact.field for fact in result.facts if fact.kind == "blank"}
    assert "sex" not in blank
    assert not [f for f in result.facts if f.field == "enroll_date" and f.kind == "value"]


@pytest.mark.full
def test_a_blank_field_may_not_be_filled_in_by_the_model(study: Study) -> None:
    for lie in (
        "P002 已入组。",
        "P002 已经入组,入组日期 2026-02-05。",
        "P002 入组日期 2026-11-20。",
    ):
        study.stand_ins.script(say(lie), say(lie))
        assert lie not in ask("zhangyi", "P002 入组了吗?").text


def test_units_stand_beside_values_where_the_dictionary_knows_them(study: Study) -> None:
    result = run(study, "read_clinical_data", record_id="P001", fields=["bmi", "ALT"])
    values = {fact.field: fact for fact in result.facts}
    assert "kg/m" in values["bmi"].unit
    assert values["alt"].unit == "U/L"
    assert all(fact.event for fact in result.facts)


@pytest.mark.full
def test_every_result_says_when_it_was_read(study: Study) -> None:
    for name, arguments in (
        ("read_clinical_data", {"record_id": "P001"}),
        ("get_project_stats", {}),
        ("check_visit_window", {"record_id": "P001"}),
    ):
        assert run(study, name, **arguments).data["读取时间"].startswith("20")


@pytest.mark.parametrize("record_id", ["P001", "p001 ", "P999", "../P001", "P001' OR '1'='1"])
def test_another_site_is_as_good_as_absent(study: Study, record_id: str) -> None:
    result = run(study, "read_clinical_data", "crc_b", record_id=record_id)
    assert result.status is Status.NOT_FOUND
    assert result.facts == ()
    assert result.data == run(study, "read_clinical_data", "crc_b", record_id="X1").data


def test_a_fresh_identifier_in_a_note_is_masked_from_the_model(study: Study) -> None:
    note(
        study, "P003", medical_history_text="家属李建国,电话 139 1234 5678,身份证110101196512120019"
    )
    result = run(study, "read_clinical_data", record_id="P003", fields=["既往史"])
    sent = gate_for(Reader(study.project, study["zhangyi"])).data(result.data)
    for secret in ("李建国", "139 1234 5678", "110101196512120019"):
        assert secret not in sent
    assert json.loads(sent)["结果"]

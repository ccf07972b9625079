"""A language model that lies, babbles or is away never makes a pass (seed 001, 3; decisions.md, Engines)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pytest_django import Settings

from core.llm.models import LlmUsage
from engines.models import TaskRun
from projects.models import Project
from skills.models import Skill
from tests.engines.sop.kit import expire, go, new_skill, review_of, run_of, soft, steps, tell
from tests.support.study import Study
from wechat.models import OutboxMessage

pytestmark = pytest.mark.django_db
QUOTE = "否认间质性肺炎"
FAILED = "模型未能判断,请您判断"


def said(**more: Any) -> dict[str, Any]:
    verdict = {"reason": "没有", "evidence": [QUOTE], "passed": True, "confidence": 0.95} | more
    return {"content": json.dumps(verdict, ensure_ascii=False)}


def call(name: str, **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
    return {"tool_calls": [{"id": f"c-{name}", "function": function}]}


@pytest.fixture
def skill(study: Study) -> Skill:
    return new_skill(study, {"judge": soft(on_fail="end_bad")})


def judged(study: Study, skill: Skill, *script: Any, record: str | None = "P001") -> TaskRun:
    study.stand_ins.script(*script)
    return run_of(study, skill, record)


def detail(run: TaskRun) -> dict[str, Any]:
    step = run.steps.get(kind="soft_instruction")
    assert isinstance(step.result, dict)
    return step.result


def asked(study: Study) -> list[dict[str, Any]]:
    return [json.loads(row["body"]) for row in study.stand_ins.requests("llm")]


def waits_for_a_person(run: TaskRun) -> bool:
    review = review_of(run)
    return (run.status, run.current_node, review.question.startswith(FAILED)) == (
        "SUSPENDED",
        "judge",
        True,
    )


@pytest.mark.full
def test_a_sound_verdict_passes(study: Study, skill: Skill) -> None:
    run = judged(study, skill, said())

    assert run.final_state == "end_success"
    assert detail(run)["evidence"] == [QUOTE]
    assert detail(run)["prompt"].startswith("soft.v2")


@pytest.mark.full
@pytest.mark.parametrize(
    "answer",
    [
        {"content": "不通过"},
        {"content": "该受试者通过,符合要求"},
        {"content": '{"passed": true'},
        {"content": ""},
        {"content": "[]"},
        said(passed="true"),
        said(confidence="高"),
        said(confidence=1.7),
        said(confidence=True),
        said(reason=" "),
        said(evidence=[]),
        said(evidence=["患者无间质性肺炎病史记录在案"]),
        said(evidence=[QUOTE, "年龄 45 岁,完全符合"]),
        said(evidence=["。"]),
        said(evidence={"quote": QUOTE}),
        {"content": said()["content"].replace("0.95", "NaN")},
    ],
)
def test_three_unsound_answers_go_to_a_person(
    study: Study, skill: Skill, answer: dict[str, Any]
) -> None:
    run = judged(study, skill, answer, answer, answer)

    assert waits_for_a_person(run)
    assert len(detail(run)["problems"]) == 3
    assert len(asked(study)) == 3
    assert run.findings.get().action_type == "review_required"


@pytest.mark.full
def test_the_failed_check_is_named_and_the_next_answer_counts(study: Study, skill: Skill) -> None:
    run = judged(study, skill, said(evidence=["胡编的"]), said())

    assert run.final_state == "end_success"
    retry = asked(study)[1]["messages"][-1]
    assert retry["role"] == "user"
    assert "evidence 不在数据中: 胡编的" in retry["content"]


def partly(*missing: str) -> dict[str, Any]:
    """An object without some of what a verdict has."""
    whole = json.loads(said()["content"])
    left = {name: value for name, value in whole.items() if name not in missing}
    return {"content": json.dumps(left, ensure_ascii=False)}


@pytest.mark.full
@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ({"content": "{}"}, "缺少 reason、evidence、passed、confidence"),
        (partly("confidence"), "缺少 confidence"),
        (partly("reason", "passed"), "缺少 reason、passed"),
        (said(passed=None, evidence=None), "缺少 evidence、passed"),
        ({"content": ""}, "回答是空的"),
        ({"content": "通过"}, "回答不是 JSON 对象"),
        ({"content": "[]"}, "回答不是 JSON 对象"),
    ],
)
def test_the_model_is_told_what_its_answer_lacks(
    study: Study, skill: Skill, answer: dict[str, Any], named: str
) -> None:
    run = judged(study, skill, answer, said())

    assert run.final_state == "end_success"
    *_, echo, retry = asked(study)[1]["messages"]
    assert f"没有通过检查: {named}\n" in retry["content"]
    assert echo["content"] == answer["content"] or not answer["content"], "nothing is put to it"
    assert echo["content"] != "{}" or answer["content"] == "{}"


@pytest.mark.full
def test_an_incomplete_call_of_the_verdicts_tool_is_told_so(study: Study, skill: Skill) -> None:
    Project.objects.filter(pk=study.project.pk).update(
        llm_preset="deepseek-v3",
        llm_model="deepseek-flash",
        llm_base_url=f"{study.stand_ins.url}/llm/v1",
    )
    study.project.refresh_from_db()
    whole = json.loads(said()["content"])
    judged(study, skill, call("give_verdict"), call("give_verdict", **whole))

    told = asked(study)[1]["messages"][-1]
    assert told["role"] == "tool"
    assert "缺少 reason、evidence、passed、confidence" in told["content"]
    assert "调用工具 give_verdict" in told["content"]
    assert "JSON" not in told["content"]


@pytest.mark.full
def test_the_prompt_says_what_confidence_means(study: Study, skill: Skill) -> None:
    judged(study, skill, said())

    system = asked(study)[0]["messages"][0]["content"]
    assert "confidence 是你对 passed 这个结论的把握" in system


@pytest.mark.full
@pytest.mark.parametrize(
    ("tools", "recommended", "left_out"),
    [
        # All of the subject is in the data already.
        (["read_clinical_data"], [], ["read_clinical_data", "数据不够"]),
        (["send_message"], ["send_message"], ["数据不够"]),
        (["search_protocol"], ["数据不够时可先调用: search_protocol"], ["发送"]),
        (
            ["read_clinical_data", "check_visit_window", "send_message"],
            ["可先调用: check_visit_window", "发送: send_message"],
            ["read_clinical_data"],
        ),
    ],
)
def test_only_tools_that_can_help_are_recommended(
    study: Study, tools: list[str], recommended: list[str], left_out: list[str]
) -> None:
    judged(study, new_skill(study, {"judge": soft(tools=tools)}), said())

    first = asked(study)[0]
    system = first["messages"][0]["content"]
    assert [tool["function"]["name"] for tool in first["tools"]] == tools
    assert [text for text in recommended if text not in system] == []
    assert [text for text in left_out if text in system] == []


def test_who_calls_a_tool_that_is_not_there_is_sent_nowhere_else(study: Study) -> None:
    skill = new_skill(study, {"judge": soft(tools=["get_project_stats"])})
    judged(study, skill, call("search_protocol", query="x"), said())

    told = asked(study)[1]["messages"][-1]["content"]
    assert "search_protocol" in told
    assert "质控" not in told


@pytest.mark.full
@pytest.mark.parametrize(
    "answer", [said(confidence=0.69), said(passed=False, evidence=[], confidence=0.9)]
)
def test_too_little_confidence_or_no_quote_is_undetermined(
    study: Study, skill: Skill, answer: dict[str, Any]
) -> None:
    assert waits_for_a_person(judged(study, skill, answer))


def test_what_the_gate_replaced_is_noted_with_the_call(study: Study) -> None:
    phone = "13812345678"
    asks = soft() | {"instruction": f"电话 {phone} 能否联系上。"}
    judged(study, new_skill(study, {"judge": asks}, "qc_process:phone"), said())

    assert phone not in json.dumps(asked(study), ensure_ascii=False)
    usage = LlmUsage.objects.get(purpose="soft_rule")
    assert "电话" in {row["kind"] for row in usage.replaced}
    assert phone not in json.dumps(usage.replaced)


@pytest.mark.parametrize("reason", ["ALT 300 U/L,超过上限", "2020-01-01 起停药", "P888 已退出"])
def test_a_reason_with_values_nobody_recorded_gives_way_to_its_quotes(
    study: Study, skill: Skill, reason: str
) -> None:
    run = judged(study, skill, said(passed=False, reason=reason))

    assert run.final_state == "end_bad"
    assert detail(run)["reason"] == QUOTE


@pytest.mark.full
def test_the_threshold_of_the_node_wins(study: Study) -> None:
    strict = new_skill(study, {"judge": soft(threshold=0.99)}, "qc_process:strict")
    assert judged(study, strict, said()).status == "SUSPENDED"
    lax = new_skill(study, {"judge": soft(threshold=0.1)}, "qc_process:lax")
    assert judged(study, lax, said(confidence=0.2)).final_state == "end_success"


def test_a_no_with_a_quote_follows_on_fail(study: Study, skill: Skill) -> None:
    run = judged(study, skill, said(passed=False, reason="有"))

    assert (run.status, run.final_state) == ("COMPLETED", "end_bad")
    assert run.findings.get().message == "有"


@pytest.mark.full
@pytest.mark.parametrize(
    ("kind", "value"), [("status", 500), ("status", 401), ("reset", None), ("body", "<html>")]
)
def test_a_provider_that_is_down_means_a_person(
    study: Study, skill: Skill, kind: str, value: Any
) -> None:
    study.stand_ins.fault("llm", kind, value, times=None)

    assert waits_for_a_person(run_of(study, skill))
    assert LlmUsage.objects.filter(ok=False).exists()


@pytest.mark.full
def test_a_provider_that_does_not_answer(study: Study, skill: Skill, settings: Settings) -> None:
    settings.LLM_TIMEOUT_S = 0.2
    study.stand_ins.fault("llm", "delay", 1, times=None)

    assert waits_for_a_person(run_of(study, skill))


@pytest.mark.full
def test_a_node_may_ask_for_retries(study: Study) -> None:
    skill = new_skill(study, {"judge": soft(retry={"times": 1, "wait_s": 60})})
    study.stand_ins.fault("llm", "status", 401, times=None)
    study.stand_ins.fault("llm", "status", 500, times=None)
    run = run_of(study, skill)
    assert waits_for_a_person(run), "401 is not transient"

    study.stand_ins.reset()
    study.stand_ins.fault("llm", "status", 500, times=None)
    run = run_of(study, skill)
    assert (run.status, run.attempts, run.lease_until) == ("RUNNING", 1, None)
    assert run.available_at
    assert steps(go(run)) == ["read pass"], "not before its time"
    expire(run)
    assert waits_for_a_person(go(run)), "the retries are used up"


def test_injected_text_of_the_record_is_marked_as_data(study: Study, skill: Skill) -> None:
    judged(study, skill, said())

    body = asked(study)[0]["messages"]
    assert [message["role"] for message in body] == ["system", "user"]
    data = body[1]["content"]
    assert QUOTE in data.split("<data ")[1]
    assert QUOTE not in body[0]["content"]


@pytest.mark.full
def test_no_identifier_leaves(study: Study, skill: Skill) -> None:
    from study.models import Subject

    judged(study, skill, said())
    known = json.loads(Subject.objects.get(project=study.project, record_id="P001").identifiers)
    sent = json.dumps(asked(study), ensure_ascii=False)
    assert known
    assert [value for value in known.values() if len(str(value)) > 1 and str(value) in sent] == []


@pytest.mark.full
def test_hot_memory_is_background_but_no_evidence(study: Study, skill: Skill) -> None:
    line = "严禁在未授权情况下删除数据"
    run = judged(study, skill, *[said(evidence=[line])] * 3)

    assert line in asked(study)[0]["messages"][0]["content"]
    assert waits_for_a_person(run)


def test_exactly_the_listed_tools_are_offered(study: Study) -> None:
    skill = new_skill(study, {"judge": soft(tools=["check_visit_window", "send_message"])})
    judged(study, skill, said())

    offered = [tool["function"]["name"] for tool in asked(study)[0]["tools"]]
    assert offered == ["check_visit_window", "send_message"]


@pytest.mark.full
def test_evidence_may_quote_a_tool(study: Study) -> None:
    skill = new_skill(study, {"judge": soft(tools=["get_project_stats"])})
    run = judged(study, skill, call("get_project_stats"), said(evidence=["38"]))

    assert run.final_state == "end_success"
    assert detail(run)["tools"] == ["get_project_stats"]
    answer = asked(study)[1]["messages"][-1]
    assert (answer["role"], answer["tool_call_id"]) == ("tool", "c-get_project_stats")


@pytest.mark.full
@pytest.mark.parametrize(
    "bad",
    [
        call("drop_tables"),
        call("search_protocol", query="x"),
        call("read_clinical_data"),
        call("read_clinical_data", record_id="P020"),
        {
            "tool_calls": [
                {"id": "c", "function": {"name": "read_clinical_data", "arguments": "{nonsense"}}
            ]
        },
    ],
)
def test_bad_calls_come_back_as_instructions(study: Study, bad: dict[str, Any]) -> None:
    skill = new_skill(study, {"judge": soft(tools=["read_clinical_data"])})
    run = judged(study, skill, bad, said())

    assert run.final_state == "end_success"
    answer = asked(study)[1]["messages"][-1]
    assert answer["role"] == "tool"
    assert "P020" not in answer["content"]
    assert len(detail(run)["problems"]) == 1


@pytest.mark.full
def test_bad_calls_are_no_way_out(study: Study) -> None:
    skill = new_skill(study, {"judge": soft(tools=["read_clinical_data"])})

    assert waits_for_a_person(judged(study, skill, *[call("drop_tables")] * 9))
    assert len(asked(study)) == 3


@pytest.mark.full
def test_calling_tools_for_ever_ends(study: Study) -> None:
    skill = new_skill(study, {"judge": soft(tools=["get_project_stats"])})

    assert waits_for_a_person(judged(study, skill, *[call("get_project_stats")] * 30))
    assert len(asked(study)) == 8


@pytest.mark.full
def test_a_preset_without_schemas_gives_its_verdict_by_a_tool(study: Study, skill: Skill) -> None:
    Project.objects.filter(pk=study.project.pk).update(
        llm_preset="deepseek-v3",
        llm_model="deepseek-flash",
        llm_base_url=f"{study.stand_ins.url}/llm/v1",
    )
    study.project.refresh_from_db()
    verdict = {"reason": "没有", "evidence": ["不在"], "passed": True, "confidence": 0.9}
    wrong, right = (
        call("give_verdict", **verdict),
        call("give_verdict", **verdict | {"evidence": [QUOTE]}),
    )
    run = judged(study, skill, wrong, right)

    assert run.final_state == "end_success"
    first, second = asked(study)
    assert [tool["function"]["name"] for tool in first["tools"]] == ["give_verdict"]
    assert "response_format" not in first
    assert second["messages"][-1]["role"] == "tool"


@pytest.mark.full
def test_a_run_about_no_subject_has_tools_only(study: Study) -> None:
    skill = new_skill(study, {"judge": soft(tools=["get_project_stats", "send_message"])})
    sent = {"roles": ["PI"], "text": "入组进度见附"}
    run = judged(
        study,
        skill,
        call("get_project_stats"),
        call("send_message", **sent),
        said(evidence=['"sent": 1']),
        record=None,
    )

    assert run.final_state == "end_success"
    assert "P001" not in asked(study)[0]["messages"][1]["content"]
    tell()
    rows = OutboxMessage.objects.filter(key__startswith="notify:")
    assert [(row.key, row.to_user) for row in rows] == [(f"notify:{run.pk}:0:zhangyi#1", "zhangyi")]


def test_strange_characters_do_not_break_the_journal(study: Study, skill: Skill) -> None:
    verdict = {"reason": "没有\0\ud800有", "evidence": [QUOTE], "passed": True, "confidence": 0.9}
    run = judged(study, skill, {"content": json.dumps(verdict)})

    assert run.final_state == "end_success"
    assert "\0" not in detail(run)["reason"]

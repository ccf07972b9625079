"""The ReAct engine: read-only steps, the last call is `say`; its limits and fixed texts (seed 001, 5)."""

from __future__ import annotations

from typing import Any

import pytest

from engines.assistant import texts
from tests.engines.chat.kit import ask, call, calls, reasons, record, say, steps, trace
from tests.support.study import Study

VAGUE = "综合来看谁最让人不放心"


def read(record_id: str, number: int = 1, **more: object) -> dict[str, object]:
    return call("read_clinical_data", number, record_id=record_id, **more)


def chosen(*made: dict[str, Any], number: int = 9) -> dict[str, Any]:
    return calls(call("say", number, say=list(made)))


def step(op: str, *marks: str) -> dict[str, Any]:
    return {"op": op, "of": list(marks), "to": [], "show": [], "end": "both"}


def test_thought_action_observation_say(study: Study) -> None:
    date = record(study, "P003")["enroll_date"]
    reasons(
        study,
        {**calls(read("P003", fields=["入组日期"])), "content": "先看 P003"},
        chosen(step("tell", "F1")),
    )
    reply = ask("zhangyi", VAGUE)
    assert f"P003 入组日期 {date}" in reply.text
    found = trace()
    first = next(item for item in found.trace if item.get("action", "").startswith("read_clinical"))
    assert first["thought"] == "先看 P003"
    assert date in first["observation"]
    assert len(first["observation"]) <= 200
    assert found.success
    assert found.token_usage == reply.tokens > 0
    assert "react.v3" in found.prompt_version


def test_no_word_of_the_model_leaves(study: Study) -> None:
    reasons(
        study,
        {**calls(read("P003", fields=["入组日期"])), "content": "P003已停药"},
        {**chosen(step("tell", "F1")), "content": "P003已停药"},
    )
    assert "停药" not in ask("zhangyi", VAGUE).text


def test_prose_is_no_answer_and_a_call_is_asked_for(study: Study) -> None:
    reasons(
        study,
        calls(read("P003", fields=["入组日期"])),
        say("P003 入组日期是 2020-01-01。"),
        chosen(step("tell", "F1")),
    )
    reply = ask("zhangyi", VAGUE)
    assert "2020" not in reply.text
    assert record(study, "P003")["enroll_date"] in reply.text
    assert len(steps(study)) == 3


def test_only_the_read_only_tools_and_say_are_offered(study: Study) -> None:
    reasons(study, chosen())
    ask("zhangyi", VAGUE)
    offered = [tool["function"]["name"] for tool in steps(study)[0]["tools"]]
    assert offered == [
        "read_clinical_data",
        "search_protocol",
        "get_project_stats",
        "check_visit_window",
        "query_study",
        "say",
    ]


@pytest.mark.full
def test_made_up_lines_are_told_by_nobody(study: Study) -> None:
    reasons(study, calls(read("P003", fields=["入组日期"])), chosen(step("tell", "F77")))
    reply = ask("zhangyi", VAGUE)
    assert "F77" not in reply.text
    assert reply.asked_back


@pytest.mark.full
def test_what_no_line_answers_is_asked_back(study: Study) -> None:
    reasons(study, calls(call("get_project_stats")), chosen())
    assert ask("zhangyi", VAGUE).asked_back


@pytest.mark.full
def test_five_iterations_and_no_more(study: Study) -> None:
    reasons(study, *[calls(read(f"P00{n}", n, fields=["ECOG评分"])) for n in range(1, 8)])
    reply = ask("admin", VAGUE)
    assert reply.text.startswith(texts.ITERATIONS)
    assert len(steps(study)) == 5
    assert "ECOG评分" in reply.text
    assert not trace().success


def test_the_fuse_counts_over_the_whole_run(study: Study) -> None:
    reasons(
        study, calls(call("drop_table")), calls(call("read_clinical_data", 2, nope=1)), chosen()
    )
    reply = ask("zhangyi", VAGUE)
    assert reply.text.startswith(texts.FUSE)
    assert len(steps(study)) == 2
    assert not trace().success


@pytest.mark.full
def test_a_success_between_two_failures_keeps_the_fuse(study: Study) -> None:
    reasons(
        study,
        calls(call("drop_table")),
        calls(call("get_project_stats", 2)),
        calls(call("drop_table", 3)),
        chosen(step("tell", "F2")),
    )
    assert "27" in ask("zhangyi", VAGUE).text


@pytest.mark.full
def test_the_fuse_text_is_followed_by_what_was_read(study: Study) -> None:
    reasons(study, calls(read("P001", fields=["入组日期"])), calls(call("x", 2), call("y", 3)))
    reply = ask("wanghushi", VAGUE)
    assert reply.text.startswith(texts.FUSE)
    assert "P001 入组日期 2026-02-05" in reply.text
    assert reply.text.endswith("(不完整)")


def test_the_same_call_again_is_a_failure(study: Study) -> None:
    same = calls(read("P001", fields=["入组日期"]))
    reasons(study, same, same, same)
    assert ask("wanghushi", VAGUE).text.startswith(texts.FUSE)
    told = [m["content"] for m in steps(study)[2]["messages"] if m["role"] == "tool"]
    assert told[-1] == texts.REPEATED


@pytest.mark.full
def test_the_budget_of_4000_tokens(study: Study) -> None:
    long = "需要更多信息。" * 120
    reasons(study, *[{**calls(read(f"P00{n}", n)), "content": long} for n in range(1, 6)])
    assert ask("wanghushi", VAGUE).text.startswith(texts.BUDGET)
    assert len(steps(study)) < 5


def test_parallel_calls_are_answered_in_order(study: Study) -> None:
    reasons(
        study,
        calls(read("P001", 1, fields=["入组日期"]), read("P002", 2, fields=["入组日期"])),
        chosen(),
    )
    ask("zhangyi", VAGUE)
    results = [m for m in steps(study)[1]["messages"] if m["role"] == "tool"]
    assert [m["tool_call_id"] for m in results] == ["call_1", "call_2"]
    assert "P001" in results[0]["content"]
    assert "P002" in results[1]["content"]


def test_wrong_arguments_and_an_early_say_come_back_as_instructions(study: Study) -> None:
    reasons(
        study,
        calls(call("read_clinical_data", 1, fields=["ALT"]), call("say", 2, say=[])),
        chosen(),
    )
    ask("zhangyi", VAGUE)
    told = [m["content"] for m in steps(study)[1]["messages"] if m["role"] == "tool"]
    assert told[0].startswith("参数错误")
    assert told[1] == texts.NOT_YET


def test_an_unknown_field_offers_close_ones(study: Study) -> None:
    reasons(study, calls(read("P001", fields=["入组的日子"])), chosen())
    ask("zhangyi", VAGUE)
    told = next(m for m in steps(study)[1]["messages"] if m["role"] == "tool")["content"]
    assert "入组的日子" in told
    assert "enroll_date" in told


@pytest.mark.full
def test_silence_gives_what_was_read(study: Study) -> None:
    reasons(study, calls(read("P001", fields=["入组日期"])), say(" "))
    assert "2026-02-05" in ask("wanghushi", VAGUE).text


@pytest.mark.full
def test_a_rule_is_quoted_beside_what_was_read(study: Study) -> None:
    reasons(
        study,
        calls(
            read("P001", 1, fields=["入组日期"]),
            call("search_protocol", 2, query="SAE多久内要报告"),
        ),
        chosen(step("tell", "F1"), step("quote", "D1")),
    )
    text = ask("wanghushi", VAGUE).text
    assert "P001 入组日期 2026-02-05" in text
    assert "§6.7:「研究者获知严重不良事件后" in text


@pytest.mark.full
def test_tools_see_only_the_readers_site(study: Study) -> None:
    reasons(study, calls(read("P001")), calls(call("get_project_stats", 2)), chosen())
    ask("crc_b", VAGUE)
    results = [m["content"] for m in steps(study)[2]["messages"] if m["role"] == "tool"]
    assert "P001" not in results[0] + results[1]
    assert "site_b" in results[1], results[1]

"""The ReAct engine's limits and texts (seed 001, 5; decisions.md, Engines)."""

from __future__ import annotations

from engines.assistant.chat import texts
from tests.engines.chat.kit import ask, call, calls, mute, prompts, record, say, trace
from tests.support.study import Study

VAGUE = "帮我查下最近那个爱抱怨的病人是谁"


def read(record_id: str, number: int = 1, **more: object) -> dict[str, object]:
    return call("read_clinical_data", number, record_id=record_id, **more)


def test_thought_action_observation_answer(study: Study) -> None:
    date = record(study, "P003")["enroll_date"]
    study.stand_ins.script(
        {**calls(read("P003", fields=["入组日期"])), "content": "先看 P003"},
        say(f"P003 入组日期 {date}。"),
    )
    reply = ask("zhangyi", VAGUE)
    assert reply.text == f"P003 入组日期 {date}。"
    first = trace().trace[0]
    assert first["iteration"] == 0
    assert first["thought"] == "先看 P003"
    assert first["action"].startswith("read_clinical_data")
    assert date in first["observation"]
    assert len(first["observation"]) <= 200
    assert trace().intent_type == "qa_query"
    assert trace().success
    assert trace().token_usage == reply.tokens > 0
    assert "react.v2" in trace().prompt_version


def test_only_the_final_answer_leaves(study: Study) -> None:
    study.stand_ins.script(
        {**calls(call("get_project_stats")), "content": "我在想怎么统计"},
        say("请您说明是哪位受试者。"),
    )
    assert ask("zhangyi", VAGUE).text == "请您说明是哪位受试者。"


def test_a_thought_is_no_answer(study: Study) -> None:
    study.stand_ins.script(say("思考:先查。行动:read_clinical_data"), say("请您说明是哪位受试者。"))
    assert ask("zhangyi", VAGUE).text == "请您说明是哪位受试者。"
    assert len(prompts(study)) == 2
    study.stand_ins.script(*[say("Thought: 先查一下\nAction: read_clinical_data")] * 6)
    reply = ask("zhangyi", VAGUE).text
    assert reply == texts.ITERATIONS


def test_thoughts_before_the_final_answer_are_left_out(study: Study) -> None:
    study.stand_ins.script(say("思考:不清楚是谁。\n最终答案:请您说明是哪位受试者。"))
    assert ask("zhangyi", VAGUE).text == "请您说明是哪位受试者。"
    study.stand_ins.script(say("<think>不清楚是谁</think>请您说明是哪位受试者。"))
    assert ask("zhangyi", VAGUE).text == "请您说明是哪位受试者。"


def test_only_the_read_only_tools_are_offered(study: Study) -> None:
    study.stand_ins.script(say("请您说明。"))
    ask("zhangyi", VAGUE)
    offered = [tool["function"]["name"] for tool in prompts(study)[0]["tools"]]
    assert offered == [
        "read_clinical_data",
        "search_protocol",
        "get_project_stats",
        "check_visit_window",
        "query_study",
    ]


def test_five_iterations_and_no_more(study: Study) -> None:
    script = [calls(read(f"P00{n}", n, fields=["ECOG评分"])) for n in range(1, 8)]
    study.stand_ins.script(*script)
    reply = ask("admin", VAGUE)
    assert reply.text.startswith(texts.ITERATIONS)
    assert len(prompts(study)) == 5
    assert "ECOG评分" in reply.text
    assert not trace().success


def test_the_fuse_counts_over_the_whole_run(study: Study) -> None:
    study.stand_ins.script(
        calls(call("drop_table")),
        calls(call("read_clinical_data", 2, nope=1)),
        say("不会到这里"),
    )
    reply = ask("zhangyi", VAGUE)
    assert reply.text.startswith(texts.FUSE)
    assert len(prompts(study)) == 2
    assert not trace().success


def test_a_success_between_two_failures_keeps_the_fuse(study: Study) -> None:
    study.stand_ins.script(
        calls(call("drop_table")),
        calls(call("get_project_stats", 2)),
        calls(call("drop_table", 3)),
        say("请您说明是哪位受试者。"),
    )
    assert ask("zhangyi", VAGUE).text == "请您说明是哪位受试者。"


def test_the_fuse_text_is_followed_by_what_was_read(study: Study) -> None:
    study.stand_ins.script(
        calls(read("P001", fields=["入组日期"])), calls(call("x", 2), call("y", 3)), say("-")
    )
    reply = ask("wanghushi", VAGUE)
    assert reply.text.startswith(texts.FUSE)
    assert "P001 入组日期 2026-02-05" in reply.text
    assert reply.text.endswith("(不完整)")


def test_the_same_call_again_is_a_failure(study: Study) -> None:
    same = calls(read("P001", fields=["入组日期"]))
    study.stand_ins.script(same, same, same, say("-"))
    reply = ask("wanghushi", VAGUE)
    assert reply.text.startswith(texts.FUSE)
    assert len(prompts(study)) == 3
    tools = [m["content"] for m in prompts(study)[2]["messages"] if m["role"] == "tool"]
    assert tools[-1] == texts.REPEATED


def test_the_budget_of_4000_tokens(study: Study) -> None:
    long = "需要更多信息。" * 120
    script = [{**calls(read(f"P00{n}", n)), "content": long} for n in range(1, 6)]
    study.stand_ins.script(*script)
    reply = ask("wanghushi", VAGUE)
    assert reply.text.startswith(texts.BUDGET)
    assert len(prompts(study)) < 5


def test_parallel_calls_are_answered_in_order(study: Study) -> None:
    study.stand_ins.script(
        calls(read("P001", 1, fields=["入组日期"]), read("P002", 2, fields=["入组日期"])),
        say("请您说明。"),
    )
    ask("zhangyi", VAGUE)
    results = [m for m in prompts(study)[1]["messages"] if m["role"] == "tool"]
    assert [m["tool_call_id"] for m in results] == ["call_1", "call_2"]
    assert "P001" in results[0]["content"]
    assert "P002" in results[1]["content"]


def test_wrong_arguments_come_back_as_an_instruction(study: Study) -> None:
    study.stand_ins.script(calls(call("read_clinical_data", 1, fields=["ALT"])), say("请您说明。"))
    ask("zhangyi", VAGUE)
    told = next(m for m in prompts(study)[1]["messages"] if m["role"] == "tool")["content"]
    assert told.startswith("参数错误")
    assert "record_id" in told


def test_bad_json_arguments_are_survived(study: Study) -> None:
    bad = {
        "id": "c",
        "type": "function",
        "function": {"name": "get_project_stats", "arguments": "{oops"},
    }
    study.stand_ins.script(calls(bad), say("请您说明。"))
    assert ask("zhangyi", VAGUE).text == "请您说明。"


def test_an_unknown_field_offers_close_ones(study: Study) -> None:
    study.stand_ins.script(calls(read("P001", fields=["入组的日子"])), say("请您说明。"))
    ask("zhangyi", VAGUE)
    told = next(m for m in prompts(study)[1]["messages"] if m["role"] == "tool")["content"]
    assert "入组的日子" in told
    assert "enroll_date" in told


def test_an_ungrounded_answer_is_asked_again_then_replaced(study: Study) -> None:
    study.stand_ins.script(
        calls(read("P001", fields=["入组日期"])),
        say("P001 入组日期 2025-01-01"),
        say("P001 2025-01-02"),
    )
    reply = ask("wanghushi", VAGUE)
    assert "2025" not in reply.text
    assert "2026-02-05" in reply.text
    assert len(prompts(study)) == 3


def test_the_bare_value_that_was_asked_for_is_an_answer(study: Study) -> None:
    study.stand_ins.script(
        calls(read("P001", fields=["入组日期"])), say("2026-02-05。"), say("没有更多信息。")
    )
    question = "最让人担心的那位入组日期是哪天"
    assert ask("wanghushi", question).text == "2026-02-05。"
    assert len(prompts(study)) == 2


def test_an_empty_answer_gives_what_was_read(study: Study) -> None:
    study.stand_ins.script(calls(read("P001", fields=["入组日期"])), say(" "))
    assert "2026-02-05" in ask("wanghushi", VAGUE).text


def test_nothing_read_and_nothing_said_ends_politely(study: Study) -> None:
    mute(study)
    reply = ask("wanghushi", VAGUE)
    assert reply.text
    assert not trace().success


def test_tools_see_only_the_readers_site(study: Study) -> None:
    study.stand_ins.script(
        calls(read("P001")), calls(call("get_project_stats", 2)), say("请您说明。")
    )
    ask("crc_b", VAGUE)
    results = [m["content"] for m in prompts(study)[2]["messages"] if m["role"] == "tool"]
    assert "P001" not in results[0] + results[1]
    assert "site_b" in results[1], results[1]

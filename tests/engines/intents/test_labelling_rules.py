"""The ten labelling rules, each with messages of our own."""

import pytest

from engines.assistant.intents import Intent, detect

RULES: dict[str, list[tuple[str, list[str]]]] = {
    "1 greetings and thanks are wrapping": [
        ("老师您好,P062的血糖多少,辛苦啦", ["query_record"]),
        ("早,全体质控跑起来,谢谢", ["qc_task"]),
        ("您能干什么?另外现在筛了几位", ["general_chat", "count_records"]),
        ("中午好呀", ["general_chat"]),
    ],
    "a list of subjects is no report": [
        ("出一份入组名单", ["count_records"]),
        ("给我一份在组受试者清单", ["count_records"]),
        ("做个脱落病人的名册", ["count_records"]),
        ("研究者名单", ["project_info"]),
        ("出一份入组情况报告", ["generate_report"]),
        ("把入组名单写进周报", ["generate_report"]),
    ],
    "what somebody is charged with is remembered": [
        ("我叫张伟,负责肺癌研究的入组", ["remember"]),
        ("我负责 A 中心的访视安排", ["remember"]),
        ("我是新来的CRC 负责 03 中心的随访", ["remember"]),
        ("本人主要负责数据录入", ["remember"]),
        ("我负责质控", ["remember"]),
        ("谁负责 A 中心的随访", ["project_info"]),
        ("A 中心入组几例", ["count_records"]),
    ],
    "2 negated requests": [
        ("先别跑质控,把P062的心电图结果告诉我", ["query_record"]),
        ("不用出月报,看看脱落趋势", ["analyze_trend"]),
        ("P063不用管,P064质控一下", ["qc_task"]),
        ("别给P063跑质控,给P064跑", ["qc_task"]),
    ],
    "a lasting wish is no negated request": [
        ("别再给我发进度提醒", ["remember"]),
        ("别把我交代的事忘了", ["remember"]),
    ],
    "3 a conditional second step": [
        ("看看P065的血钾,偏低就登记一条AE", ["query_record", "data_entry"]),
        ("全员质控,都过了就出月报", ["qc_task", "generate_report"]),
    ],
    "3 a condition to be looked up is a task": [
        ("P066要是没超窗 就录体重63", ["visit_window", "data_entry"]),
    ],
    "the past and the present are two questions": [
        ("去年为什么停筛 现在谁超窗了", ["query_history", "visit_window"]),
    ],
    "a report of what was entered only introduces": [
        ("P067的随访表补完了 复核一下", ["qc_task"]),
    ],
    "4 order of execution": [
        ("写季报之前先数数筛败几例", ["count_records", "generate_report"]),
        ("给P066登记AE之前,先看看方案里怎么分级", ["query_protocol", "data_entry"]),
        ("质控完P067再出个小结", ["qc_task", "generate_report"]),
        ("月报晚点再出,先把P068的体重录了", ["data_entry", "generate_report"]),
    ],
    "5 visits": [
        ("P069下回来院是几号", ["visit_window"]),
        ("V6前后能浮动几天", ["visit_window"]),
        ("有谁逾期没来", ["visit_window"]),
        ("何秀梅下次访视是哪天", ["visit_window"]),
        ("随访通常安排在礼拜几", ["visit_window"]),
        ("P069的访视推迟一周", ["data_entry"]),
    ],
    "6 past reports and QC runs": [
        ("前两周的周报里怎么写脱落的", ["query_history"]),
        ("P070上次质控是几号跑的", ["query_history"]),
        ("什么时候给P070做的质控", ["query_history"]),
        ("上周周报忘了写,补一份", ["generate_report"]),
    ],
    "7 described or named": [
        ("前天流鼻血的那个病人是几号", ["qa_query"]),
        ("郭淑华的肝功能怎么样", ["query_record"]),
        ("郭淑华符不符合体重要求", ["query_record"]),
    ],
    "8 the verb 记": [
        ("P071 记一条AE 失眠 1级", ["data_entry"]),
        ("记一下:孙老师下月去进修", ["remember"]),
        ("P072心率88记进系统", ["data_entry"]),
    ],
    "9 complaints": [
        ("刚才说错了,再查一次P073的血压", ["feedback", "query_record"]),
        ("不是P074,是P075", ["feedback"]),
        ("不是问P074 我问P075的血糖", ["feedback", "query_record"]),
        ("P074和P075的血压说反了", ["feedback"]),
        ("查下P076的血糖,刚才那个答得不对", ["feedback", "query_record"]),
    ],
}
CASES = [(rule, text, intents) for rule, cases in RULES.items() for text, intents in cases]


@pytest.mark.parametrize(("rule", "text", "intents"), CASES)
def test_rule(rule: str, text: str, intents: list[str]) -> None:
    assert detect(text).intents == intents, rule


def test_there_are_fifteen_intents() -> None:
    assert len(Intent) == 15


def test_the_subject_is_carried_to_parts_that_omit_it() -> None:
    found = detect("查下P077的ALT,高的话给他登记一条AE,再看他下次访视哪天")
    assert [(part.intent, part.record_ids) for part in found.parts] == [
        ("query_record", ["P077"]),
        ("data_entry", ["P077"]),
        ("visit_window", ["P077"]),
    ]


def test_the_subject_is_not_carried_to_everyone() -> None:
    found = detect("查下P078的ALT,然后全部受试者质控一遍")
    assert found.parts[-1].record_ids == []


def test_nothing_is_split_inside_quotes() -> None:
    found = detect("记住“先出周报,再跑质控”这个顺序")
    assert found.intents == ["remember"]


def test_parts_carry_text_and_confidence() -> None:
    found = detect("P079入组没?顺便出个周报")
    assert [part.text for part in found.parts] == ["P079入组没?", "顺便出个周报"]
    assert all(0 < part.confidence <= 1 for part in found.parts)
    assert 0 < found.confidence <= 1

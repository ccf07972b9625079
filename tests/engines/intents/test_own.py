"""What people say of themselves, ask back about it, or want sent to them at which times: `own`."""

import pytest

from engines.assistant.intents import (
    Intent,
    detect,
    own,
    rules,
)

REPORTED = [
    ("改成下午两点一刻通知我", ["remember"]),
    ("把通知时间改为早上8点", ["remember"]),
    ("更正一下,我是药剂科的不是呼吸科的", ["remember"]),
    ("周一到周五早上8点半发我日报", ["remember"]),
    ("我负责数据核查", ["remember"]),
    ("你好，今天心情不错，你呢", ["general_chat"]),
    ("项目累计入组多少例?", ["count_records"]),
    ("本研究目前累计入组几例", ["count_records"]),
    ("我关注什么?", ["remember"]),
    ("我的通知时间是什么时候?", ["remember"]),
]
ALIKE = [
    ("把P003的ECOG改成1", ["data_entry"]),
    ("请在REDCap里把访视日期改为3月12日", ["data_entry"]),
    ("把采血时间改为早上8点", ["data_entry"]),
    ("更正一下,P003是女的不是男的", ["data_entry"]),
    ("更正一下,体重是63不是36", ["data_entry"]),
    ("更正一下,是P003不是P004", ["feedback"]),
    ("更正一下,查下P003的血压", ["query_record"]),
    ("刚才说错了,再查一次P003的血压", ["feedback", "query_record"]),
    ("发我今天的日报", ["generate_report"]),
    ("周一到周五的数据汇总成周报发我", ["generate_report"]),
    ("核查P003的数据", ["qc_task"]),
    ("谁负责数据核查", ["project_info"]),
    ("我关注的P003血压多少", ["query_record"]),
    ("我负责的病人有谁超窗了", ["visit_window"]),
    ("项目计划入组多少例", ["project_info"]),
    ("P003下次访视是什么时候?", ["visit_window"]),
    ("回答得不错", ["feedback"]),
]
TOGETHER = [
    ("我负责数据核查,先把P003核查一遍", ["remember", "qc_task"]),
    ("把P003的体重改成63,然后改成下午两点通知我", ["data_entry", "remember"]),
    ("我是药剂科的,把P003的剂量改成50mg", ["data_entry"]),
    ("我是呼吸科的,发我今天的日报", ["generate_report"]),
    ("我是申办方的 把P154的姓名发过来", ["query_record"]),
]
ONE_PART = [
    "更正一下,我是药剂科的不是呼吸科的",
    "我刚才说错了,我是二中心的不是一中心的",
    "订正一下:我是检验科的,不是病理科的",
    "通知我的时间改一下,改成八点四十",
    "我负责随访和数据录入",
]


@pytest.mark.parametrize(("text", "intents"), REPORTED)
def test_reported_by_the_acceptance_tester(text: str, intents: list[str]) -> None:
    assert detect(text).intents == intents


@pytest.mark.parametrize(("text", "intents"), ALIKE)
def test_what_only_looks_like_it(text: str, intents: list[str]) -> None:
    assert detect(text).intents == intents


@pytest.mark.parametrize(("text", "intents"), TOGETHER)
def test_beside_other_tasks_who_speaks_is_none(text: str, intents: list[str]) -> None:
    assert detect(text).intents == intents


@pytest.mark.parametrize("text", ONE_PART)
def test_one_statement_is_kept_whole(text: str) -> None:
    """What is remembered is the text of the part: half of it would be another fact."""
    found = detect(text)
    assert [(part.intent, part.text) for part in found.parts] == [("remember", text)]


@pytest.mark.parametrize(
    "part", ["别在晚上十点通知我", "不要半夜推送给我", "我不是pi,我是crc", "别在下班后提醒我"]
)
def test_a_wish_about_notices_is_no_negated_request(part: str) -> None:
    assert not rules.negated(part)


@pytest.mark.parametrize(
    "part",
    [
        "我是来问入组的",
        "我是新来的",
        "我是§的医生",
        "我关注一下入组进度",
        "我关注到§血压高",
        "每周那个报告给我做一下",
        "每天的日报发我",
        "§的提醒时间改成#点",
        "当初为什么把通知时间改到早上",
        "服药提醒卡时间改为†",
        "我们负责人是谁",
    ],
)
def test_not_of_the_speaker(part: str) -> None:
    assert not own.of_speaker(part)


@pytest.mark.parametrize(
    ("part", "label", "intent"),
    [
        ("数据核查由谁负责", Intent.QC_TASK, Intent.PROJECT_INFO),
        ("项目已入组多少人", Intent.PROJECT_INFO, Intent.COUNT_RECORDS),
        ("项目计划入组多少例", Intent.PROJECT_INFO, Intent.PROJECT_INFO),
        ("今天心情不错", Intent.FEEDBACK, Intent.GENERAL_CHAT),
        ("看到这个回答心情不好", Intent.FEEDBACK, Intent.FEEDBACK),
        ("§的随访日期更正为†", Intent.VISIT_WINDOW, Intent.DATA_ENTRY),
    ],
)
def test_rules_overrule_the_classifier(part: str, label: str, intent: str) -> None:
    assert rules.decide(part, label) == intent

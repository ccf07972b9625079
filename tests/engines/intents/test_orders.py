"""What starts a quality control, and what only sounds like it."""

import pytest

from engines.assistant.intents import detect

ORDERS = {
    "质控 P091 的AE": ["P091"],
    "请质控 受试者P092 的合并用药": ["P092"],
    "质控 P091、P092 的AE": ["P091", "P092"],
    "核查 患者P093 的访视": ["P093"],
    "复核:P094的实验室检查": ["P094"],
    "复核一下 P094 的不良事件 和合并用药": ["P094"],
    "再质控一遍P095": ["P095"],
    "P095数据重新查一遍": ["P095"],
}
ASKED = {
    "P091的血压再说一遍": "query_record",
    "P091随机日期再查一遍": "query_record",
    "P092的血小板麻烦你再报一次": "query_record",
    "P093的ALT 再发一下": "query_record",
    "质控P094的结果怎么样": "query_history",
    "再说一遍": "general_chat",
}
DECIDED = [
    "批准P091的复核",
    "驳回P092的审核",
    "关闭P093的质控问题",
    "帮我把P094的质疑关掉",
    "取消P095的质控任务",
    "P096的复核直接通过吧",
    "把P097的质控结果改成合格",
    "停止P098的质控",
]
NOT_DECIDED = {
    "P091质控通过了没": "query_record",
    "质控P092,通过的话出周报": "qc_task",
    "核查P093没关闭的问题": "qc_task",
    "审核P094的数据": "qc_task",
    "质疑关闭速度变化": "analyze_trend",
}


@pytest.mark.parametrize(("text", "ids"), ORDERS.items())
def test_an_order_keeps_its_subject(text: str, ids: list[str]) -> None:
    parts = detect(text).parts
    assert [(part.intent, part.record_ids) for part in parts] == [("qc_task", ids)]


@pytest.mark.parametrize(("text", "intent"), ASKED.items())
def test_what_is_asked_again_is_no_order(text: str, intent: str) -> None:
    assert detect(text).intents == [intent]


def test_a_complaint_before_it_changes_nothing() -> None:
    found = detect("太啰嗦,P091的ECOG再讲一遍")
    assert found.intents == ["feedback", "query_record"]
    assert found.parts[-1].record_ids == ["P091"]


@pytest.mark.parametrize("text", DECIDED)
def test_what_a_person_decides_is_a_write_request(text: str) -> None:
    assert detect(text).intents == ["data_entry"]


@pytest.mark.parametrize(("text", "intent"), NOT_DECIDED.items())
def test_not_every_word_of_decision_decides(text: str, intent: str) -> None:
    assert detect(text).intents[0] == intent


def test_a_count_with_blanks_is_one_task() -> None:
    assert detect("统计 site_a 的例数").intents == ["count_records"]

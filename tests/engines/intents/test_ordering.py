"""Rule 4 of the labelling rules: `ordering.execution_order`."""

import pytest

from engines.assistant.intents.ordering import execution_order
from engines.assistant.intents.types import Intent

REPORT, QC, ENTRY = Intent.GENERATE_REPORT, Intent.QC_TASK, Intent.DATA_ENTRY
RECORD, COUNT, VISIT = Intent.QUERY_RECORD, Intent.COUNT_RECORDS, Intent.VISIT_WINDOW
TREND, BLAME, MEMO = Intent.ANALYZE_TREND, Intent.FEEDBACK, Intent.REMEMBER

AS_SAID = [
    [("查§血压", RECORD)],
    [("查§血压,", RECORD), ("再出周报", REPORT)],
    [("质控全员,", QC), ("然后出周报", REPORT)],
    [("§录体重,", ENTRY), ("再质控,", QC), ("最后出周报", REPORT)],
    [("入组几例,", COUNT), ("趋势呢", TREND)],
    [("§下次哪天,", VISIT), ("先查血压", RECORD)],
    [("记住周三不在,", MEMO), ("出周报", REPORT)],
    [("先质控,", QC), ("再出周报", REPORT)],
    [("先查§,", RECORD), ("再录入", ENTRY)],
]
SWAPPED = [
    [("写周报之前", REPORT), ("先查§血压", RECORD)],
    [("写周报之前,", REPORT), ("把§血压录了", ENTRY)],
    [("出季报以前", REPORT), ("你先统计人数", COUNT)],
    [("交月报前", REPORT), ("先核一遍", QC)],
    [("跑质控前、", QC), ("补录血压", ENTRY)],
    [("给§录AE之前 ", ENTRY), ("看看方案", Intent.QUERY_PROTOCOL)],
    [("§来访之前", VISIT), ("查下血压", RECORD)],
    [("出周报,", REPORT), ("不过先质控", QC)],
    [("出周报,", REPORT), ("但要先质控", QC)],
    [("出周报,", REPORT), ("在这之前统计人数", COUNT)],
    [("质控§,", QC), ("先录体重", ENTRY)],
    [("周报最后出,", REPORT), ("先查§", RECORD)],
    [("待会儿出周报,", REPORT), ("先看趋势", TREND)],
    [("月报晚点再出,", REPORT), ("先看趋势", TREND)],
    [("质控不急,", QC), ("先查§", RECORD)],
    [("回头录,", ENTRY), ("你先质控", QC)],
]


@pytest.mark.parametrize("parts", AS_SAID)
def test_the_order_of_words_is_kept(parts: list[tuple[str, str]]) -> None:
    assert execution_order(parts) == list(range(len(parts)))


@pytest.mark.parametrize("parts", SWAPPED)
def test_what_waits_comes_last(parts: list[tuple[str, str]]) -> None:
    assert execution_order(parts) == [1, 0]


def test_a_complaint_comes_first() -> None:
    parts = [("查§血压,", RECORD), ("刚才答错了", BLAME)]
    assert execution_order(parts) == [1, 0]


def test_a_complaint_comes_before_what_waits() -> None:
    parts = [("写周报之前", REPORT), ("先查§", RECORD), ("你答错了", BLAME)]
    assert execution_order(parts) == [2, 1, 0]


def test_only_what_waits_moves() -> None:
    parts = [("写周报之前", REPORT), ("先查§,", RECORD), ("再质控", QC)]
    assert execution_order(parts) == [1, 2, 0]


def test_two_tasks_wait_in_their_order() -> None:
    parts = [("写周报之前", REPORT), ("质控之前", QC), ("先查§", RECORD)]
    assert execution_order(parts) == [2, 0, 1]


def test_the_last_part_waits_for_nothing() -> None:
    assert execution_order([("写周报之前", REPORT)]) == [0]


def test_nothing_has_no_order() -> None:
    assert execution_order([]) == []


@pytest.mark.parametrize("parts", [*AS_SAID, *SWAPPED])
def test_no_part_is_lost(parts: list[tuple[str, str]]) -> None:
    assert sorted(execution_order(parts)) == list(range(len(parts)))

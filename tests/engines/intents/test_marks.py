"""Same-length masks for visits, dates, values, people and numbers: `marks`."""

import re

import pytest

from engines.assistant.intents import marks
from engines.assistant.intents.marks import (
    DATE,
    NAME,
    NUMBER,
    PAD,
    STAFF,
    Span,
)

VISITS = {
    "V3哪天": ["V3"],
    "v3哪天": ["V3"],
    "V 3哪天": ["V3"],
    "V2D28前后": ["V2D28"],
    "V2 D28前后": ["V2D28"],
    "V1D-7": ["V1D-7"],
    "C1D1抽血": ["C1D1"],
    "C1 D1抽血": ["C1D1"],
    "D28的窗口": ["D28"],
    "D-7筛选": ["D-7"],
    "W12评估": ["W12"],
    "day 28": ["DAY28"],
    "Week 12": ["WEEK12"],
    "visit 3": ["VISIT3"],
    "cycle 2": ["CYCLE2"],
    "访视3": ["访视3"],
    "访视 3": ["访视3"],
    "第二次访视": ["第二次访视"],
    "第 4 次随访": ["第4次随访"],
    "第十二次访视": ["第十二次访视"],
    "V2、V3和V4": ["V2", "V3", "V4"],
}
NO_VISITS = ["V001是谁", "HIV1", "CD4", "V1-003", "访视3个", "访视3次", "W", "AV3"]
DATES = {
    "2025-03-18出组": ["2025-03-18"],
    "2025/3/8": ["2025/3/8"],
    "2025.3.8": ["2025.3.8"],
    "2025年3月8日": ["2025年3月8日"],
    "2025年3月": ["2025年3月"],
    "2025年": ["2025年"],
    "20250318": ["20250318"],
    "3月5号之前": ["3月5号"],
    "3月份": ["3月份"],
    "三月五号": ["三月五号"],
    "十二月": ["十二月"],
    "明天5号": ["5号"],
    "5号到7号": ["5号到7号"],
    "8:30开会": ["8:30"],
}
NO_DATES = ["7号患者", "32025-03-18", "月龄", "3月龄", "血压132", "P20250318123"]
VALUES = {
    "血压132/84": ["132/84"],
    "血压 132 / 84": ["132 / 84"],
    "体温36.8": ["36.8"],
    "肌酐0.05": ["0.05"],
}
STAFFED = {
    "李主任问": "※主任问".replace("主任", ""),
    "王PI说": "※说",
    "小陈在": "※在",
    "张护士长": "※",
    "刘博士来": "※来",
}
NAMED = {
    "赵秀兰的血压": "¤的血压",
    "查赵秀兰的血压": "查¤的血压",
    "孙国强入组没": "¤入组没",
    "刘阿姨的血糖": "¤的血糖",
    "老刘的血糖": "¤的血糖",
    "患者林大海的化验": "患者¤的化验",
    "郭淑华阿姨的血糖": "¤的血糖",
    "林春兰目前的用药": "¤目前的用药",
}
NO_PEOPLE = [
    "周报的内容",
    "方案的版本",
    "高血压的患者",
    "常规检查",
    "马上出周报",
    "何时入组",
    "万一漏了",
    "成都的中心",
    "黄疸的病人",
    "江苏的中心",
    "全部的数据",
    "常见的不良事件",
    "有多少人谢谢",
    "脱落的谢谢",
    "钱谁给的",
    "白血病的标准",
]


def _shown(text: str) -> str:
    return text.replace(PAD, "")


@pytest.mark.parametrize(("text", "names"), VISITS.items())
def test_visits(text: str, names: list[str]) -> None:
    assert [span.value for span in marks.visits(text)] == names


@pytest.mark.parametrize("text", NO_VISITS)
def test_not_a_visit(text: str) -> None:
    assert marks.visits(text) == []


@pytest.mark.parametrize(("text", "found"), DATES.items())
def test_dates(text: str, found: list[str]) -> None:
    assert [span.value.strip() for span in marks.dates(text)] == found


@pytest.mark.parametrize("text", NO_DATES)
def test_not_a_date(text: str) -> None:
    assert marks.dates(text) == []


@pytest.mark.parametrize(("text", "found"), VALUES.items())
def test_values(text: str, found: list[str]) -> None:
    assert [span.value for span in marks.values(text)] == found


@pytest.mark.parametrize("text", ["12", "P001/P002", "1.", "1234/5678"])
def test_not_a_value(text: str) -> None:
    assert marks.values(text) == []


@pytest.mark.parametrize(("text", "shown"), [*STAFFED.items(), *NAMED.items()])
def test_people(text: str, shown: str) -> None:
    assert _shown(marks.people(text)) == shown


@pytest.mark.parametrize("text", NO_PEOPLE)
def test_words_that_look_like_names(text: str) -> None:
    assert not {NAME, STAFF} & set(marks.people(text))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("128", "#"),
        ("12.5和3", "#和#"),
        ("1,024例", "#例"),
        ("没有", "没有"),
    ],
)
def test_numbers(text: str, shown: str) -> None:
    assert _shown(marks.numbers(text)) == shown


@pytest.mark.parametrize("text", [*VISITS, *DATES, *VALUES, *STAFFED, *NAMED, *NO_PEOPLE])
def test_a_mask_keeps_the_length(text: str) -> None:
    assert len(marks.people(text)) == len(text)
    assert len(marks.numbers(text)) == len(text)
    assert len(marks.cover(text, marks.dates(text), DATE)) == len(text)
    assert len(marks.cover(text, marks.visits(text), marks.VISIT)) == len(text)


def test_cover_marks_the_first_character_and_pads_the_rest() -> None:
    assert marks.cover("查128吧", [Span(1, 4, "128")], NUMBER) == f"查#{PAD}{PAD}吧"


def test_cover_takes_several_spans() -> None:
    assert _shown(marks.cover("12和34", [Span(0, 2, ""), Span(3, 5, "")], NUMBER)) == "#和#"


def test_cover_of_nothing_is_the_text() -> None:
    assert marks.cover("周报", [], NUMBER) == "周报"


def test_find_gives_spans_left_to_right() -> None:
    assert marks.find(re.compile(r"\d"), "1a2") == [Span(0, 1, "1"), Span(2, 3, "2")]

"""What people wrote is quoted whole, with where it stands."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from django.utils import translation

from engines.assistant.say import quotes
from engines.assistant.say.answer import say_answer as answer
from engines.assistant.say.lines import Builder, sheet_of
from engines.assistant.say.plan import Plan, Step
from engines.assistant.say.reader import Reader
from engines.assistant.say.sheet import Line, Sheet
from study.protocol.rules import RuleIndex
from tests.assistant.say.studies import reader_of
from tests.study.query.studies import demo

PROTOCOL = Path(__file__).parents[3] / "demo" / "study" / "documents" / "protocol.md"
WEEKS = {
    "W12": "## 关键决策\n- 2026-03-26: 交通补贴由每次访视100元提高到200元,缓解入组慢\n## 进展\n- 入组 3 例",
    "W27": "## 关键决策\n- 2026-07-08: 交通补贴由每次访视200元降到100元\n",
}


@pytest.fixture(scope="module")
def reader() -> Reader:
    return reader_of(demo(), limit=400)


@pytest.fixture(scope="module")
def shelf() -> RuleIndex:
    return RuleIndex([("研究方案", PROTOCOL.read_text("utf-8"))])


def _sheet(lines: list[Line], reader: Reader) -> Sheet:
    builder = Builder()
    builder.add(lines)
    return sheet_of(builder, reader)


def _said(lines: list[Line], reader: Reader) -> str:
    with translation.override("zh-hans"):
        return answer(_sheet(lines, reader), reader).text


def test_a_sentence_stands_whole_with_its_section(shelf: RuleIndex, reader: Reader) -> None:
    rule = next(unit for unit in shelf.units if "不少于 10 年" in unit.text)
    said = _said([*quotes.documents([rule])], reader)
    assert said == "研究方案 §8.7:「研究结束后，研究资料保存不少于 10 年」。"


def test_an_item_is_quoted_with_what_introduces_its_list(shelf: RuleIndex, reader: Reader) -> None:
    item = next(unit for unit in shelf.units if unit.text.startswith("5. 妊娠期或哺乳期"))
    said = _said([*quotes.documents([item])], reader)
    assert said.startswith("研究方案 §4.2:「受试者符合以下任何一条即不得入组")
    assert "5. 妊娠期或哺乳期女性" in said


def test_a_row_keeps_the_heads_of_its_columns(shelf: RuleIndex, reader: Reader) -> None:
    row = next(unit for unit in shelf.units if unit.when.startswith("血小板低于 50"))
    assert "情况:血小板低于 50×10⁹/L;处理:暂停用药" in _said([*quotes.documents([row])], reader)


def test_a_part_of_a_list_says_how_many_it_has(shelf: RuleIndex, reader: Reader) -> None:
    rules = shelf.find("排除标准有哪些", {}).rules
    whole = _said([*quotes.documents(rules)], reader_of(demo(), limit=2000))
    assert "共 8 条:" in whole
    assert all(f"「{number}." in whole for number in range(1, 9))
    some = [unit for unit in rules if unit.text[:2] in ("1.", "5.")]
    assert "共 8 条,列出 2 条" in _said([*quotes.documents(some)], reader)
    short = _said([*quotes.documents(rules)], reader_of(demo(), limit=260))
    assert "共 8 条,列出" in short
    assert "…" not in short


def test_a_report_is_quoted_with_its_week_and_day_and_what_came_later(reader: Reader) -> None:
    sheet = _sheet([*quotes.reports(WEEKS)], reader)
    plan = Plan(say=(Step(op="quote", of=("W12a", "W27")),))
    with translation.override("zh-hans"):
        first, second = answer(sheet, reader, plan).text.split("\n")
    assert first.startswith("周报 W12(2026-03-26):「交通补贴由每次访视100元提高到200元")
    assert "(之后另有决定)" in first
    assert second == "周报 W27(2026-07-08):「交通补贴由每次访视200元降到100元」。"
    assert sheet.line("W12b") is not None
    assert sheet.line("W27").day == date(2026, 7, 8)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("增加补贴：由100元提高到200元，经备案后执行", "「增加补贴…」"),
        ("增派 CRC 一名（周一至周四，上午），负责初筛", "「增派 CRC 一名（周一至周四，上午）…」"),
        ("每人 1,200 元,10:30 发放,随访当天", "「每人 1,200 元…」"),
        ("暂停筛选", "「暂停筛选」"),
    ],
)
def test_where_room_is_short_a_measure_is_told_by_its_first_clause(text: str, short: str) -> None:
    (line,) = quotes.reports({"W3": f"## 关键决策\n- 2026-01-22: {text}"})
    with translation.override("zh-hans"):
        (part,) = quotes.quoted([replace(line, is_measure=True)])
        assert part.text(part.depth - 1) == f"周报 W3(2026-01-22):{short}"
        assert part.text() == f"周报 W3(2026-01-22):「{text}」"


def test_several_decisions_share_the_room_and_the_rest_is_counted(reader: Reader) -> None:
    weeks = {
        f"W{n}": f"## 关键决策\n- 2026-0{n}-08: 第{n}项措施：" + "由两个中心分别执行，" * 3 + "完毕"
        for n in range(3, 7)
    }
    lines = [replace(line, is_measure=True) for line in quotes.reports(weeks)]
    sheet = _sheet(lines, reader)
    plan = Plan(say=(Step(op="quote", of=("W3", "W4", "W5", "W6")),))
    with translation.override("zh-hans"):
        said = answer(sheet, reader_of(demo(), limit=100), plan).text
        lone = answer(
            sheet, reader_of(demo(), limit=100), Plan(say=(Step(op="quote", of=("W3",)),))
        )
    assert len(said) <= 100
    assert said.count("「第") == said.count("项措施…」") >= 2
    assert said.endswith("项未列出。")
    assert "完毕」" in lone.text


def test_memory_and_the_talk_are_quoted_as_such(reader: Reader) -> None:
    lines = [
        *quotes.memory("# 当前状态\n- 当前阶段:入组冲刺期\n- **本周目标**:3 例"),
        *quotes.session(
            [
                {"role": "user", "content": "P001入组了吗"},
                {"role": "assistant", "content": "是,2月5日"},
            ]
        ),
    ]
    sheet = _sheet(lines, reader)
    assert [line.mark for line in sheet.lines] == ["M1", "M2", "H1"]
    plan = Plan(say=(Step(op="quote", of=("M2", "H1")),))
    with translation.override("zh-hans"):
        assert answer(sheet, reader, plan).text == "记录:「本周目标:3 例」。\n上文:「是,2月5日」。"


def test_what_introduces_a_list_is_no_line_beside_its_items(shelf: RuleIndex) -> None:
    section = [unit for unit in shelf.units if unit.number == "5.4.2"]
    texts = [line.text for line in quotes.documents(section)]
    lead = "禁止使用："
    assert sum(text.endswith(lead) for text in texts) == 0
    assert sum(lead in text for text in texts) == 3


@pytest.mark.parametrize("day", ["2026-13-45", "2026-02-30"])
def test_an_impossible_day_is_none(day: str) -> None:
    (line,) = quotes.reports({"W1": f"## 决策\n- {day}: 暂停"})
    assert line.day is None

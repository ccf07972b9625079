"""Documents become passages that can be cited."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from study.protocol.units import LIMIT, chunks, units

TEXT = """# 示例方案

前言一段。

## 5 访视

### 5.3 访视安排

V2 在第 28 天进行。
1. 采血。
2. 体格检查。

| 访视 | 窗口 | 备注 |
|---|:---:|---|
| V1 | ±3 | |
| V2 | ±7 | 空腹 |

访视后三日内录入。

#### 注意

超窗应登记。
"""


def test_headings_are_kept_for_the_citation() -> None:
    found = chunks(TEXT)

    assert [chunk.heading for chunk in found] == [
        "示例方案",
        *["5.3 访视安排"] * 6,
        "5.3 访视安排 / 注意",
    ]
    assert all(chunk.content.startswith(f"{chunk.heading}\n") for chunk in found)


def test_a_table_gives_a_passage_a_row_with_its_header() -> None:
    bodies = [chunk.content.partition("\n")[2] for chunk in chunks(TEXT)]

    assert "访视:V1;窗口:±3" in bodies
    assert "访视:V2;窗口:±7;备注:空腹" in bodies
    assert not [body for body in bodies if "|" in body or "---" in body]


def test_a_list_item_is_a_passage_with_what_introduces_it() -> None:
    found = chunks("# 4 检查\n每次检查以下项目:\n1. 采血。\n2. 体格检查。")

    assert [chunk.content for chunk in found][1:] == [
        "4 检查\n每次检查以下项目:1. 采血。",
        "4 检查\n每次检查以下项目:2. 体格检查。",
    ]


@pytest.mark.parametrize(
    "heading",
    ["5.3 访视安排", "第五章 访视", "五、访视", "附录 A 量表", "10.2.1 剂量调整", "5 访视"],
)
def test_plain_text_has_headings_too(heading: str) -> None:
    found = chunks(f"引言内容。\n{heading}\n正文内容。")

    assert [chunk.heading for chunk in found] == ["", heading]


@pytest.mark.parametrize(
    "line",
    [
        "1. 年龄 18 至 75 岁",
        "3.5 mmol/L 以上者应停药。",
        "5.3 节规定如下:",
        "2024-03-01 修订",
        "1) 甲",
    ],
)
def test_lines_that_only_look_like_headings(line: str) -> None:
    found = chunks(f"# 4.1 标准\n{line}\n正文。")

    assert {chunk.heading for chunk in found} == {"4.1 标准"}
    assert line in found[0].content


def test_a_sentence_is_a_passage() -> None:
    sentence = "受试者应在每次访视时完成规定的检查项目。"
    found = chunks(f"# 6.1 检查\n{sentence * 100}")

    assert [chunk.content for chunk in found] == [f"6.1 检查\n{sentence}"] * 100


@pytest.mark.parametrize("text", ["", "\n\n", "# 1 标题\n## 1.1 空", "|---|---|"])
def test_nothing_to_cite(text: str) -> None:
    assert chunks(text) == []


@given(st.lists(st.text(alphabet="访视期,。;窗口 abc12.", max_size=700), max_size=8))
def test_no_text_is_lost_and_no_passage_too_long(paragraphs: list[str]) -> None:
    found = chunks("# 1 总则\n" + "\n".join(paragraphs))
    kept = "".join(chunk.content.removeprefix(f"{chunk.heading}\n") for chunk in found)
    headings = {chunk.heading for chunk in found}

    def bare(text: str) -> str:
        return re.sub(r"\s", "", text)

    whole = [line for line in paragraphs if line.strip() not in headings]
    if headings <= {"1 总则"}:
        assert bare(kept) == bare("".join(whole))
    assert all(len(chunk.content) <= LIMIT for chunk in found)


@given(st.text(max_size=2000))
def test_any_text_can_be_cut(text: str) -> None:
    assert all(chunk.content.strip() for chunk in chunks(text))


GRADES = """## 7.2 处理

| 不良反应 | 处理 |
|---|---|
| 皮疹 | 外用激素 |

| 恶心 | 止吐药 |
| 乏力 | 休息 |

下表为剂量。

| 皮疹 | 减量 |
| 恶心 | 不变 |

| 分级 | 剂量 | 备注 |
|:-:|---|---|
| 1 级 | 100 mg | |
|| 75 mg | 二次 |
| | | |
| a\\|b | 50 mg |
| 项目 | 周期 |
|---|---|
| 血常规 | 每周 |
"""


def test_no_row_of_a_table_is_the_head_of_another() -> None:
    bodies = [chunk.content.partition("\n")[2] for chunk in chunks(GRADES)]

    assert bodies == [
        *("不良反应:皮疹;处理:外用激素", "不良反应:恶心;处理:止吐药", "不良反应:乏力;处理:休息"),
        "下表为剂量。",
        *("皮疹;减量", "恶心;不变"),
        *("分级:1 级;剂量:100 mg", "剂量:75 mg;备注:二次", "分级:a|b;剂量:50 mg"),
        "项目:血常规;周期:每周",
    ]
    assert [unit.text for unit in units([("方案", GRADES)])] == bodies


def test_a_part_of_a_long_row_says_of_which_row_it_is() -> None:
    long = "。".join(["外用弱效激素软膏并避免日晒"] * 60)
    rows = f"| 皮疹 | {long} | 请会诊 |\n| 恶心 | 止吐药 | |\n"
    text = f"## 7.2 处理\n\n| 不良反应 | 处理 | 备注 |\n|---|---|---|\n{rows}"
    bodies = [chunk.content.partition("\n")[2] for chunk in chunks(text)]

    assert len(bodies) > 2
    assert all(body.startswith("不良反应:皮疹;") for body in bodies[:-1])
    assert bodies[-1] == "不良反应:恶心;处理:止吐药"
    assert all(len(chunk.content) <= LIMIT for chunk in chunks(text))


CHAPTERS = """一、研究背景
背景。

三、入选标准
年龄 18 至 75 周岁。
"""
NESTED = """# 第一章 总则
## 一、目的
### （一）主要目的
缓解率。
## 二、意义
意义。
# 第十二章 安全性
## 第一节 报告
### 三、SAE
24 小时内报告。
# 12.1.4 其他
## 四、其余
其余。
# 附录
## 一、量表
评分。
# 第十三章 统计
## 2024年
年度。
"""


def test_a_section_numbered_in_words_has_the_number_that_rules_cite() -> None:
    found = [(unit.number, unit.title, unit.heading) for unit in units([("", CHAPTERS)])]
    assert found == [("1", "研究背景", "一、研究背景"), ("3", "入选标准", "三、入选标准")]
    assert chunks(CHAPTERS)[1].content == "三、入选标准\n年龄 18 至 75 周岁。"


def test_numbers_in_words_stand_within_their_chapter_and_for_one_section() -> None:
    found = {unit.text: (unit.number, unit.above) for unit in units([("", NESTED)])}
    assert found == {
        "缓解率。": ("1.1", "总则"),
        "意义。": ("1.2", "总则"),
        "24 小时内报告。": ("12.1.3", "安全性 报告"),
        "其余。": ("", ""),
        "评分。": ("", ""),
        "年度。": ("", ""),
    }

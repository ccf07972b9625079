"""Sources as lines: each carries what claims hang on, and what a model may say of a question finds its line."""

from __future__ import annotations

import re
import unicodedata
from datetime import date

import pytest

from engines.assistant.lines import prose
from engines.assistant.lines.builder import Builder
from engines.assistant.lines.types import Line, Sheet, Source
from study.protocol.excerpts.units import units
from tests.support.sheets import sheet

pytestmark = pytest.mark.xdist_group("sheets")


def fold(text: str) -> str:
    return re.sub(r"\s", "", unicodedata.normalize("NFKC", text))


def find(found: Sheet, *tokens: str) -> Line:
    """The first line that holds all tokens, as the stand-in model cites."""
    for line in found.lines:
        if all(fold(token) in fold(f"[{line.mark}] {line.text}") for token in tokens):
            return line
    raise AssertionError(f"{tokens} in none of {[line.text for line in found.lines]}")


@pytest.mark.parametrize(
    ("user", "text", "tokens"),
    [
        ("wanghushi", "P016最近三次ALT", ("P016", "ALT", "V2", "185", "高于上限 40")),
        ("wanghushi", "P016最近三次ALT", ("P016", "ALT", "基线", "31", "上限 40")),
        ("wanghushi", "P010的SAE报了没有", ("P010", "#2", "SAE首次报告日期", "未填写")),
        ("wanghushi", "P010的SAE报了没有", ("P010", "不良事件", "共 2 条,全部列出")),
        ("wanghushi", "P016的ALT和不良事件", ("P016", "不良事件", "共 0 条")),
        ("wanghushi", "P013 V2 晚了几天", ("P013", "V2", "4", "2026-09-18", "窗口截止日")),
        ("wanghushi", "P005下次访视什么时候", ("P005", "V3", "已超窗 13 天")),
        ("wanghushi", "P005下次访视什么时候", ("今天", "2026-11-23")),
        ("zhangyi", "入组多少例了", ("目标", "30")),
        ("zhangyi", "入组多少例了", ("site_b", "演示医院B", "12")),
        ("zhangyi", "近三个月入组趋势", ("2026-09", "6 例")),
        ("zhangyi", "谁的依从性最差", ("读取范围", "38 例", "最低", "P005")),
        ("zhangyi", "P099的ALT", ("P099", "无此受试者")),
        ("crc_b", "P031 V2的血糖是多少", ("P031", "GLU", "V2", "6.4", "单位未填写")),
        ("crc_b", "我们中心入组了几个", ("site_b", "12")),
        ("wanghushi", "P019的合并用药", ("禁止使用", "酮康唑")),
        ("crc_b", "P023完成了几次访视", ("P023", "访视", "5 条")),
        ("crc_b", "P023的访视情况", ("P023", "V1 访视", "窗口内完成")),
        ("crc_b", "P023的访视情况", ("P023", "V6 访视", "2026-12-22")),
        ("zhangyi", "排除标准有哪些", ("首次用药前4周内", "8. 研究者认为不适合")),
    ],
)
def test_what_an_answer_needs_is_listed(user: str, text: str, tokens: tuple[str, ...]) -> None:
    find(sheet(user, text), *tokens)


def test_a_figure_brings_its_typed_content_and_the_whole_it_belongs_to() -> None:
    line = find(sheet("wanghushi", "P016的ALT"), "P016", "V2", "185")
    assert [fact.field for fact in line.facts] == ["alt"]
    assert line.scope is not None
    assert (line.scope.subjects, line.scope.count, line.scope.is_complete) == (("P016",), 4, True)


def test_nobody_of_another_site_is_listed_or_counted() -> None:
    for text in ("入组多少例了", "P005怎么样", "谁的依从性最差"):
        found = sheet("crc_b", text)
        told = "\n".join(line.text for line in found.lines if line.source is Source.FACT)
        assert "site_a" not in told
        assert not re.search(r"P0(?:0[1-9]|1\d)(?!\d)", re.sub(r"P005 · 无此受试者", "", told))


def test_an_older_word_on_a_matter_is_known_as_such() -> None:
    found = sheet("wanghushi", "交通补贴当初怎么定的,后来呢")
    assert not find(found, "2026-03-26", "200元").is_newest
    assert find(found, "2026-07-08", "100元").is_newest


def test_marks_number_each_kind_of_source_and_a_line_stands_once() -> None:
    builder = Builder()
    builder.add(
        [Line("", Source.FACT, "a"), Line("", Source.MEMORY, "b"), Line("", Source.FACT, "c")]
    )
    assert builder.add([Line("", Source.FACT, "a")]) == []
    assert [line.mark for line in builder.done] == ["F1", "M1", "F2"]


def test_the_lines_have_passed_the_gate() -> None:
    builder = Builder(masked=lambda text: text.replace("张三", "[姓名]"))
    assert builder.add([Line("", Source.MEMORY, "张三 每日提醒")])[0].text == "[姓名] 每日提醒"


TABLE = """# 5.2 剂量调整
| 情况 | 处理 |
|---|---|
| 血小板低于 50 | 暂停用药，恢复到 75 以上后下调一级 |
| 血小板 50～75 | 维持原剂量 |

应在 24 小时内报告。不需要报告伦理委员会。

下列药物禁用：
1. 酮康唑
2. 克拉霉素
"""


def test_a_document_is_cut_where_a_rule_ends() -> None:
    texts = [line.text for line in prose.documents(units([("方案", TABLE)]))]
    head = "方案 §5.2 剂量调整: "
    assert texts == [
        head + "情况:血小板低于 50;处理:暂停用药，恢复到 75 以上后下调一级",
        head + "情况:血小板 50～75;处理:维持原剂量",
        head + "应在 24 小时内报告。",
        head + "不需要报告伦理委员会。",
        head + "下列药物禁用：1. 酮康唑 2. 克拉霉素",
    ]


def test_each_decision_of_a_week_is_a_line_and_the_rest_by_part() -> None:
    report = (
        "## Week 12\n### 进度\n- a\n- b\n### 关键决策\n- 2026-03-26: 提高到200元\n- 2026-03-27: c\n"
    )
    lines = list(prose.reports({"W12": report}))
    assert [(line.mark, line.text, line.day) for line in lines] == [
        ("W12a", "进度: a; b", None),
        ("W12b", "关键决策: 2026-03-26: 提高到200元", date(2026, 3, 26)),
        ("W12c", "关键决策: 2026-03-27: c", date(2026, 3, 27)),
    ]

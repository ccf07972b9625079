"""A true answer is asked for once: no second call for what its sources say (design.md 9.4)."""

from __future__ import annotations

import re

import pytest

from tests.engines.chat.kit import ask, cites, prompts, record, silenced
from tests.support.study import Study


def said_once(study: Study, question: str, answer: str) -> None:
    """`answer`: with `{a|b}` for the mark of the line that holds all of it."""
    cites(study, answer, "没有更多信息。")
    assert ask("wanghushi", question).text == unmarked(answer)
    assert len(prompts(study)) == 1


@pytest.mark.parametrize(
    "answer",
    [
        "V2:Day 28，窗口期前 7 天至后 7 天，自 首次用药日期 起算{V2|窗口期前 7 天}",
        "V2 为 Day 28±7{V2|Day 28|±7}，自首次用药日期起算{V2|首次用药日期}。",
        "V2 的窗口期为 Day 28{V2|Day 28|窗口期}前 7 天至后 7 天{V2|窗口期前 7 天}。",
    ],
)
def test_a_line_of_the_plan(study: Study, answer: str) -> None:
    cites(study, answer, "没有更多信息。")
    assert ask("wanghushi", "V2 的窗口期是多少天?").text == with_anchor(answer)
    assert len(prompts(study)) == 1


def unmarked(answer: str) -> str:
    return re.sub(r"\{[^{}]*\}", "", answer)


def with_anchor(answer: str) -> str:
    """Which day the anchor is stands in every answer about windows (decisions.md)."""
    return f"{unmarked(answer)}\n锚定日为 Day 1"


def test_a_number_of_another_visit_is_asked_again(study: Study) -> None:
    cites(
        study,
        "V2:Day 28，窗口期前 14 天至后 14 天{V2|窗口期前 7 天}",
        "V2 的窗口期为前后 7 天{V2|窗口期前 7 天}。",
    )
    assert ask("wanghushi", "V2 的窗口期是多少天?").text == with_anchor("V2 的窗口期为前后 7 天。")
    assert len(prompts(study)) == 2


@pytest.mark.parametrize(
    "answer",
    [
        "每个中心每季度至少监查一次，核对全部知情同意书、入选和排除标准、严重不良事件和主要终点数据，"
        "其他数据抽查不少于 20%{每季度至少监查一次}。",
        "监查时核对知情同意书、严重不良事件和主要终点数据，其他数据抽查不少于20%{每季度至少监查一次}；"
        "发现的问题应在10个工作日内关闭{10 个工作日内关闭}。",
    ],
)
def test_a_passage(study: Study, answer: str) -> None:
    said_once(study, "方案里监查是怎么规定的?", answer)


def test_a_heading_with_its_text(study: Study) -> None:
    """The line of a passage as it stands in the prompt, with its document and section."""
    ask("wanghushi", "方案里监查是怎么规定的?")
    told = next(m for m in prompts(study)[0]["messages"] if "[D1]" in str(m["content"]))
    line = next(one for one in told["content"].split("\n") if "§" in one and len(one) < 140)
    mark, text = line.split(" ", 1)
    study.stand_ins.reset()
    answer = text.split(" ", 1)[1]
    cites(study, f"{answer}{mark}")
    assert ask("wanghushi", "方案里监查是怎么规定的?").text == answer


def test_a_record_with_its_labels_needs_no_model(study: Study) -> None:
    silenced(study)
    alt = record(study, "P003")["alt"]
    reply = ask("wanghushi", "P003 基线的 ALT 是多少?").text
    assert f" {alt}" in reply
    assert "谷丙转氨酶ALT" in reply


def test_a_model_words_a_record_and_cites_it(study: Study) -> None:
    alt = record(study, "P003")["alt"]
    answer = f"P003 基线时谷丙转氨酶为 {alt} U/L{{P003|ALT|基线|{alt}}}。"
    said_once(study, "P003 基线的 ALT 是多少?", answer)

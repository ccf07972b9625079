"""A true answer is asked for once: no second call for what its sources say (design.md 9.4)."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.engines.chat.kit import ask, prompts, record, say
from tests.support.study import Study


def said_once(study: Study, question: str, answer: str) -> None:
    study.stand_ins.script(say(answer), say("没有更多信息。"))
    assert ask("wanghushi", question).text == answer
    assert len(prompts(study)) == 1


@pytest.mark.parametrize(
    "answer",
    [
        "V2:Day 28，窗口期前 7 天至后 7 天，自 首次用药日期 起算",
        "V2 为 Day 28±7，自首次用药日期起算。",
        "V2 的窗口期为第 28 天前后各 7 天。",
    ],
)
def test_a_line_of_the_plan(study: Study, answer: str) -> None:
    study.stand_ins.script(say(answer), say("没有更多信息。"))
    assert ask("wanghushi", "V2 的窗口期是多少天?").text == with_anchor(answer)
    assert len(prompts(study)) == 1


def with_anchor(answer: str) -> str:
    """Which day the anchor is stands in every answer about windows (decisions.md)."""
    return f"{answer}\n锚定日为 Day 1"


def test_a_number_of_another_visit_is_asked_again(study: Study) -> None:
    study.stand_ins.script(
        say("V2:Day 28，窗口期前 14 天至后 14 天"), say("V2 的窗口期为前后 7 天。")
    )
    assert ask("wanghushi", "V2 的窗口期是多少天?").text == with_anchor("V2 的窗口期为前后 7 天。")
    assert len(prompts(study)) == 2


@pytest.mark.parametrize(
    "answer",
    [
        "每个中心每季度至少监查一次，核对全部知情同意书、入选和排除标准、严重不良事件和主要终点数据，"
        "其他数据抽查不少于 20%。",
        "监查时核对知情同意书、严重不良事件和主要终点数据，其他数据抽查不少于20%；发现的问题应在10个工作日内关闭。",
    ],
)
def test_a_passage(study: Study, answer: str) -> None:
    said_once(study, "方案里监查是怎么规定的?", answer)


def test_a_heading_with_its_text(study: Study) -> None:
    ask("wanghushi", "方案里排除标准是什么?")
    told = next(m for m in prompts(study)[0]["messages"] if "[文档1]" in str(m["content"]))
    lines = [line for line in told["content"].split("\n") if line.strip()]
    joined = [
        f"{head.strip('# ')}：{text.strip('-# ')}"
        for head, text in pairwise(lines)
        if head.startswith("#") and not text.startswith(("#", "|"))
    ]
    answer = next(one for one in joined if len(one) < 140)
    study.stand_ins.reset()
    said_once(study, "方案里排除标准是什么?", answer)


def test_a_record_with_its_labels_needs_no_model(study: Study) -> None:
    alt = record(study, "P003")["alt"]
    reply = ask("wanghushi", "P003 基线的 ALT 是多少?").text
    assert f" {alt}" in reply
    assert "谷丙转氨酶ALT" in reply
    assert not prompts(study)

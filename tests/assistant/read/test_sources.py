"""Questions of earlier weeks and of what is kept are told by closed words; data and rules are neither."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from engines.assistant.read import orders
from engines.assistant.read.scan import scan
from engines.assistant.read.setting import Setting, setting_of
from engines.assistant.read.sources import of_sources
from engines.assistant.read.task import Task, TaskKind
from tests.assistant.studies import demo

TESTS = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def setting() -> Setting:
    design, more = demo()
    known = {"sites": more["sites"], "subjects": more["subjects"], "pattern": more["pattern"]}
    return setting_of(design=design, today=date(2026, 11, 23), **known)


def _of(said: str, setting: Setting) -> Task | None:
    return of_sources(said, scan(said, setting), setting)


def _rows(*names: str) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for name in names
        for line in (TESTS / name).read_text("utf-8").splitlines()
    ]


@pytest.mark.parametrize(
    ("said", "weeks"),
    [
        ("当时为什么暂停筛选", ()),
        ("第12周做了什么决定", (12,)),
        ("第12周的关键决策有哪些", (12,)),
        ("第1年的关键决策有哪些", (*range(1, 53),)),
        ("W20的周报里写了啥", (20,)),
        ("P003的阑尾炎当时怎么判定的", ()),
        ("之前讨论过ECOG 3分吗,结论是什么", ()),
        ("我们哪天决定改成每次200元的", ()),
        ("上周的周报里写了什么", (45,)),
        ("why did we stop screening", ()),
    ],
)
def test_what_was_settled_in_earlier_weeks(
    said: str, weeks: tuple[int, ...], setting: Setting
) -> None:
    task = _of(said, setting)
    assert task is not None
    assert (task.kind, task.weeks) == (TaskKind.HISTORY, weeks)


@pytest.mark.parametrize(
    ("said", "topic"),
    [
        ("我让你怎么汇报来着", "own"),
        ("你还记得我的偏好吗", "own"),
        ("你几点给我发通知", "own"),
        ("之前交代过你的那条缩写规则还有印象伐", "own"),
        ("有哪些禁令是你要遵守的", "study"),
        ("现在项目处于什么阶段", "study"),
    ],
)
def test_what_is_kept_of_the_reader_and_of_the_study(
    said: str, topic: str, setting: Setting
) -> None:
    task = _of(said, setting)
    assert task is not None
    assert (task.kind, task.topic) == (TaskKind.MEMORY, topic)


@pytest.mark.parametrize(
    "said",
    [
        "P002的质控走到哪一步了",
        "P005为什么停药",
        "第12周的ALT是多少",
        "第1年入组了多少人",
        "周报先别出了,把全员质控跑了就行",
        "主要终点是怎么定义的",
        "昨天改了哪些数据",
        "知情同意过程由谁执行,方案有规定吗",
    ],
)
def test_data_orders_and_rules_are_neither(said: str, setting: Setting) -> None:
    assert _of(said, setting) is None


def test_the_time_is_no_matter_to_search_for(setting: Setting) -> None:
    task = _of("第20周遇到什么坑", setting)
    assert task is not None
    assert "20" not in task.search
    other = _of("当时为什么暂停筛选", setting)
    assert other is not None
    assert "暂停筛选" in other.search


@pytest.mark.full
def test_labelled_messages(setting: Setting) -> None:
    """Of messages that people labelled: the past is found, and little else is taken for it."""
    names = [
        f"engines/intents/{path.name}"
        for path in sorted((TESTS / "engines/intents").glob("*.jsonl"))
    ]
    rows = [
        row
        for row in _rows(*names)
        if len(row["intents"]) == 1 and not orders.order_of(row["text"])
    ]
    taken = [
        row for row in rows if (task := _of(row["text"], setting)) and task.kind is TaskKind.HISTORY
    ]
    past = [
        row for row in rows if row["intents"] == ["query_history"] and "质控" not in row["text"]
    ]
    right = [row for row in taken if row["intents"][0] in ("query_history", "analyze_trend")]
    assert len(right) >= 0.93 * len(taken), [row["text"] for row in taken if row not in right]
    assert len([row for row in past if row in taken]) >= 0.75 * len(past)


@pytest.mark.full
def test_no_question_of_data_or_rules_is_taken(setting: Setting) -> None:
    asked = [row["q"] for row in _rows("assistant/questions.jsonl")]
    asked += [
        row["text"] for row in _rows("assistant/retrieval.jsonl", "assistant/retrieval_held.jsonl")
    ]
    taken = [said for said in asked if _of(said, setting) is not None]
    assert len(taken) <= 0.005 * len(asked), taken

"""How long replies and briefings are is the reader's newest word; how long a report is says nothing of them."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest
from django.utils.timezone import now

from core.house.db import atomic
from engines import briefing
from engines.assistant.chat import turn
from memory.people import fact_store, grounding, length
from memory.people.actions import SaveInput, keep_heard
from memory.people.extraction import Heard
from tests.engines.chat.kit import ask
from tests.memory.hot_kit import LINES, base, said
from tests.support.study import Study

SHORT = "- **偏好**: 简洁"


def holds(study: Study) -> tuple[bool, int | None]:
    """Whether the PI's replies are bounded, and how many characters a briefing of theirs may have."""
    member = study["zhangyi"]
    material = cast(Any, SimpleNamespace(project=study.project))
    bounded = turn.prepare(study.project, member, "P001的情况", now()).is_bounded
    return bounded, briefing._limit(material, member)


@pytest.mark.parametrize(
    ("line", "words", "bounded", "limit"),
    [
        ("", ["回复简洁一些"], True, 0),
        ("", ["我喜欢简洁的周报"], False, None),
        ("- **偏好**: 周报简洁", [], False, None),
        (SHORT, ["回复请详细一些"], False, None),
        (SHORT, ["回复不要太简短"], False, None),
        (SHORT, ["周报请详细一些"], True, 0),
        (SHORT, ["回复不要太详细"], True, 0),
        (SHORT, ["回复不超过140字"], True, 140),
        ("", ["回复简洁一些", "回复不超过140字"], True, 140),
        ("", ["回复请详细一些", "回复简洁一些"], True, 0),
        ("", ["回复不超过50字", "回复简洁一些"], True, 0),
        (f"{SHORT}\n- **偏好**: 回复详细一些", [], False, None),
    ],
)
def test_the_newest_word_on_length_decides(
    study: Study, line: str, words: list[str], bounded: bool, limit: int | None
) -> None:
    base(study, *LINES[:4], line, *LINES[4:])
    for ago, text in enumerate(reversed(words), 1):
        said(study, text, own=True, at=now() - timedelta(hours=ago))
    assert holds(study) == (bounded, limit)


@pytest.mark.parametrize(
    ("text", "is_lifted"),
    [
        ("回复不用限制字数了", True),
        ("取消字数限制", True),
        ("以后回复不限字数", True),
        ("不用限制在50字以内", True),
        ("周报不用限制字数", False),
        ("不用管筛选失败的患者", False),
    ],
)
def test_a_limit_is_lifted_by_a_newer_word(study: Study, text: str, is_lifted: bool) -> None:
    base(study, *LINES[:4], "- **禁令**: 回复不超过80字", *LINES[4:])
    said(study, "回复不超过50字", own=True, at=now() - timedelta(hours=2))
    said(study, text, own=True, at=now() - timedelta(hours=1))
    assert holds(study) == ((False, None) if is_lifted else (True, 50))


@pytest.mark.parametrize(
    "again", ["回复不超过50字", pytest.param("回复简洁一些", marks=pytest.mark.full)]
)
def test_what_was_lifted_is_set_again(study: Study, again: str) -> None:
    base(study)
    for words in (again, "回复不用限制字数了", again):
        ask("zhangyi", f"记住,{words}")
        assert holds(study)[0] == (words == again), words


def test_a_limit_lifted_in_passing_holds(study: Study) -> None:
    base(study, *LINES[:4], "- **禁令**: 回复不超过80字", *LINES[4:])
    words, member = "P001的ALT是多少,这次的答案不用限制字数", study["zhangyi"]
    item = {"field": "禁令", "value": "不用限制字数", "quote": "这次的答案不用限制字数"}
    told = grounding.Item.model_validate({**item, "of_speaker": True, "stated": True})
    heard = Heard(words, [told], lambda: None)
    for in_passing in (True, False):
        with atomic():
            fact_store.claim(study.project.pk, "zhangyi")
            given = SaveInput(userMessage=words)
            keep_heard(member, given, heard, at=now(), in_passing=in_passing)
        assert holds(study)[0] == in_passing


def test_a_number_keeps_its_bound_beside_a_newer_short() -> None:
    assert length.newest_limit(["回复简洁一些", "回复不超过50字"]) == 50

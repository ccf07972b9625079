"""What users said about themselves, in their prompts (seed 004, load_context)."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.utils.timezone import now

from core.house.db import atomic
from engines.assistant import prompt_preview as preview
from memory import session
from memory.hot import tombstones
from memory.models import UserMemory
from tests.engines.chat.kit import ask, prompts
from tests.memory.hot_kit import said
from tests.support.study import Study

VISITS, ENROLMENT, LATER = "我只看随访窗口", "我只看入组进度", "我周三不在"


def told(study: Study, text: str) -> str:
    """The first part of the prompt of a message."""
    study.stand_ins.reset()
    ask("zhangyi", text)
    return str(prompts(study)[-1]["messages"][0]["content"])


@pytest.mark.full
def test_the_choice_of_the_first_message_holds_for_the_session(study: Study) -> None:
    for text in (VISITS, ENROLMENT):
        said(study, text, own=True)
    first = told(study, "随访窗口为什么改了?")
    assert first.index(VISITS) < first.index(ENROLMENT)
    said(study, LATER, own=True)
    second = told(study, "入组进度为什么慢了?")
    assert second.index(LATER) < second.index(VISITS) < second.index(ENROLMENT)
    with time_machine.travel(now() + timedelta(minutes=31), tick=False):
        third = told(study, "入组进度为什么慢了?")
    assert third.index(ENROLMENT) < third.index(VISITS)


def test_what_was_chosen_leaves_the_talk_as_it_is(study: Study) -> None:
    ask("zhangyi", "你能做什么?")
    before = session.load(study["zhangyi"])
    said(study, VISITS, own=True)
    ask("zhangyi", "我之前说过什么?")
    after = session.load(study["zhangyi"])
    assert after.messages[:2] == before.messages


@pytest.mark.full
def test_a_removal_counts_with_the_next_message_and_a_return_too(study: Study) -> None:
    said(study, VISITS, own=True)
    assert VISITS in told(study, "为什么暂停筛选?")
    with atomic():
        stone = tombstones.bury(project=study.project, line=VISITS, actor=study["admin"])
    assert stone
    assert VISITS not in told(study, "为什么暂停筛选?")
    with atomic():
        tombstones.lift(project=study.project, line=VISITS, actor=study["admin"])
    assert VISITS in told(study, "为什么暂停筛选?")


def test_a_number_that_was_masked_is_not_filled_with_a_later_one(study: Study) -> None:
    study.stand_ins.script({"content": "好的,有事打[电话#1]。"})
    ask("zhangyi", "记住我的电话是13800138000,有事打电话")
    (row,) = UserMemory.objects.values_list("content", "evidence")
    assert row == ("记住我的电话是[电话],有事打电话",) * 2
    assert "13900139000" not in ask("zhangyi", "你还记得我的电话吗?不是13900139000").text


@pytest.mark.full
def test_a_preview_leaves_the_session_as_it_is(study: Study) -> None:
    for text in (VISITS, ENROLMENT):
        said(study, text, own=True)
    preview.preview(study["zhangyi"], "入组进度为什么慢了?")
    assert session.load(study["zhangyi"]).chosen is None
    first = told(study, "随访窗口为什么改了?")
    assert first.index(VISITS) < first.index(ENROLMENT)

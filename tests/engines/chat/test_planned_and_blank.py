"""A visit date to come is planned and never done; a blank that is asked for is told as blank."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from core.house import clock
from tests.engines.chat.kit import ask, mute
from tests.support.study import Study

PERSON = "admin"
DONE = re.compile(r"(?<![未待])(?<!尚未)完成|已做|做过")


@pytest.fixture(params=["up", "mute", "down"])
def llm(request: pytest.FixtureRequest, study: Study) -> str:
    """The stand-in's own answers, an LLM that says nothing, an LLM that is down."""
    if request.param == "mute":
        mute(study)
    if request.param == "down":
        study.stand_ins.fault("llm", "status", 503, times=None)
    return str(request.param)


@pytest.mark.parametrize(
    "question",
    ["P027的V4访视做了吗", "P027的V4窗口期", "P027的V4访视日期是哪天", "P027 V4完成了吗"],
)
def test_a_visit_to_come_is_told_as_planned(study: Study, llm: str, question: str) -> None:
    day = clock.today(study.project.timezone) + timedelta(days=3)
    text = ask(PERSON, question).text
    assert day.isoformat() in text, text
    assert "计划" in text, text
    assert not DONE.search(text), text


@pytest.mark.full
@pytest.mark.parametrize(
    ("question", "holds"), [("哪些受试者做过V4访视", False), ("哪些受试者没做V4访视", True)]
)
def test_who_had_a_visit_does_not_count_one_to_come(
    study: Study, llm: str, question: str, holds: bool
) -> None:
    text = ask(PERSON, question).text
    assert ("P027" in text) is holds, text

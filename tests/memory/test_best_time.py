"""The time of the day at which a reader likes to be told (decisions.md, "best notification time")."""

from __future__ import annotations

from datetime import time

import pytest

from core.language.clock_times import parse
from memory.models import UserMemory
from memory.people.own_settings import best_time
from tests.support.study import Study


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        ("08:30", time(8, 30)),
        ("8：05", time(8, 5)),
        ("早上九点半", time(9, 30)),
        ("下午3点", time(15)),
        ("下午三点一刻", time(15, 15)),
        ("晚上八点二十分左右", time(20, 20)),
        ("晚上8点20", time(20, 20)),
        ("十二点半", time(12, 30)),
        ("中午1点", time(13)),
        ("凌晨12点", time(0)),
        ("十九时", time(19)),
        ("9:00-10:00", time(9)),
        ("下午2-3点通知我", time(14)),
        ("晚上8到9点", time(20)),
        ("早上8-9点", time(8)),
        ("下午两到三点", time(14)),
        ("晚上八至九点半", time(20)),
        ("下午两三点", time(14)),
        ("第2-3点要求", None),
        ("十十点", None),
        ("9 am", time(9)),
        ("3pm", time(15)),
        ("12pm", time(12)),
        ("早上", time(8)),
        ("下午", time(14)),
        ("班前", None),
        ("今晚8点", time(20)),
        ("早8点", time(8)),
        ("晚一点", None),
        ("晚上12点", time(0)),
        ("８：３０", time(8, 30)),
        ("下午一点", time(13)),
        ("提醒早一点", None),
        ("第3点要求", None),
        ("25:00", None),
        ("08:75", None),
        ("", None),
    ],
)
def test_a_time_in_words(text: str, clock: time | None) -> None:
    assert parse(text) == clock


def test_of_the_profile_in_hot_memory(study: Study) -> None:
    assert best_time(study["zhangyi"]) == time(8, 30)
    assert best_time(study["crc_b"]) is None, "nobody said so"


def test_what_the_reader_said_comes_first_and_the_newest_counts(study: Study) -> None:
    said(study, "早上九点半")
    assert best_time(study["zhangyi"]) == time(9, 30)
    said(study, "随便什么时候")
    said(study, "下午3点")
    assert best_time(study["zhangyi"]) == time(15)
    assert best_time(study["wanghushi"]) == time(9), "of their own profile"


def test_a_superseded_value_and_a_proposal_of_others_count_nothing(study: Study) -> None:
    old = said(study, "下午3点")
    old.superseded_by = said(study, "10:00")
    old.save()
    said(study, "06:00", category="proposal")
    assert best_time(study["zhangyi"]) == time(10)


def said(study: Study, value: str, **more: str) -> UserMemory:
    return UserMemory.objects.create(
        project=study.project,
        user_id="zhangyi",
        memory_type=UserMemory.Kind.PREFERENCE,
        importance=60,
        field="最佳通知时间",
        value=value,
        content=value,
        **more,
    )

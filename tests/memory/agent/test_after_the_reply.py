"""save_info after the reply: by a task, once, and without touching the reply (decisions.md, Memory)."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
import time_machine
from django.core.cache import cache
from django.db import connection
from django.utils.timezone import now

from memory import tasks
from memory.log import flow_log
from memory.models import FeedbackTally, MemoryTurn, UserMemory, UserProfile
from memory.people import extraction, turns
from projects.models import Member
from study.models import Subject
from tests.engines.chat.kit import UNREAD, ask, mute, prompts, sent
from tests.memory.agent.kit import extracted, invoke, item, kept, reading, save
from tests.support.study import Study
from tests.support.tasks import drain, purge

# No request to remember it: that would be kept at once.
CARDIO = "大家好,我在心内科做主治医师,平时最关心不良事件"
ITEMS = (
    item("department", "心内科", "我在心内科做主治医师"),
    item("角色", "主治医师", "我在心内科做主治医师"),
    item("关注点", "不良事件", "平时最关心不良事件"),
)
Talk = Callable[..., Any]


@pytest.fixture
def talk(study: Study, django_capture_on_commit_callbacks: Any) -> Talk:
    """A message with what its commit wakes; the tasks run on `drain`."""

    def say(userid: str, text: str) -> Any:
        with django_capture_on_commit_callbacks(execute=True):
            return ask(userid, text)

    return say


def unhindered(talk: Talk) -> str:
    """The reply to the same words when nothing goes wrong; afterwards nobody has said anything."""
    text: str = talk("zhangyi", CARDIO).text
    MemoryTurn.objects.all().delete()
    UserProfile.objects.all().delete()
    cache.clear()
    purge()
    return text


@pytest.mark.full
def test_a_message_is_read_after_its_reply(study: Study, talk: Talk) -> None:
    talk("zhangyi", CARDIO)
    assert kept("zhangyi") == []
    assert list(reading(study)) == []
    study.stand_ins.script(extracted(*ITEMS))
    assert "memory.tasks.save_info" in drain()
    assert set(kept("zhangyi")) == {"角色:主治医师", "科室:心内科", "关注点:不良事件"}
    assert MemoryTurn.objects.count() == 0


@pytest.mark.full
def test_the_kept_words_are_encrypted_until_then(study: Study, talk: Talk) -> None:
    talk("zhangyi", CARDIO)
    with connection.cursor() as cursor:
        cursor.execute("SELECT user_message FROM iit_memory_turns")
        ((stored,),) = cursor.fetchall()
    assert "心内科" not in stored
    assert MemoryTurn.objects.get().user_message == CARDIO


@pytest.mark.full
def test_twice_delivered_is_once_kept(study: Study, talk: Talk) -> None:
    talk("zhangyi", CARDIO)
    study.stand_ins.script(extracted(*ITEMS))
    pk = MemoryTurn.objects.get().pk
    tasks.save_info(pk)
    before = UserMemory.objects.count()
    tasks.save_info(pk)
    drain()
    assert UserMemory.objects.count() == before == 3
    assert len(list(reading(study))) == 1


@pytest.mark.full
def test_two_workers_at_once_keep_it_once(study: Study, talk: Talk) -> None:
    """The second one gets the message while the first one still waits for the model."""
    talk("zhangyi", CARDIO)
    pk = MemoryTurn.objects.get().pk
    by_model = extraction.read_message
    seen: list[object] = []

    def slow(*given: Any) -> extraction.Heard:
        seen.append(turns.work(pk))
        return by_model(*given)

    study.stand_ins.script(extracted(*ITEMS))
    with patch.object(extraction, "read_message", slow):
        turns.work(pk)
    assert seen == [None]
    assert UserMemory.objects.count() == 3


@pytest.mark.full
def test_a_model_that_is_down_leaves_the_reply_alone_and_the_turn_for_later(
    study: Study, talk: Talk
) -> None:
    usual = unhindered(talk)
    assert talk("zhangyi", CARDIO).text == usual
    study.stand_ins.fault("llm", "status", 500, times=None)
    drain()
    assert kept("zhangyi") == []
    turn = MemoryTurn.objects.get()
    assert turn.due_at > now()
    study.stand_ins.reset()
    tasks.sweep_turns()
    drain()
    assert MemoryTurn.objects.count() == 1
    study.stand_ins.script(extracted(*ITEMS))
    with time_machine.travel(now() + timedelta(minutes=6)):
        tasks.sweep_turns()
        drain()
    assert len(kept("zhangyi")) == 3
    assert MemoryTurn.objects.count() == 0


@pytest.mark.full
def test_a_store_that_fails_leaves_the_reply_alone(
    study: Study, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object) -> bool:
        raise RuntimeError("broken")

    usual = unhindered(talk)
    monkeypatch.setattr(turns.screen, "has_news", broken)
    assert talk("zhangyi", CARDIO).text == usual
    assert MemoryTurn.objects.count() == 0


@pytest.mark.full
def test_what_nobody_could_use_is_gone_after_a_day(study: Study, talk: Talk) -> None:
    talk("zhangyi", CARDIO)
    with time_machine.travel(now() + timedelta(hours=23)):
        tasks.forget_turns()
        assert MemoryTurn.objects.count() == 1
    with time_machine.travel(now() + timedelta(hours=25)):
        tasks.forget_turns()
        assert MemoryTurn.objects.count() == 0


@pytest.mark.full
@pytest.mark.parametrize(
    "text",
    [
        "P003 入组了吗?",
        "今天入组了几例?",
        "我想看看P001的ECOG",
        "患者今年65岁,能入组吗?",
        "帮我看看心内科有几例",
        "好的,谢谢",
        "你好",
        "忘掉我的科室",
        "你记得我什么",
    ],
)
def test_a_message_that_says_nothing_of_its_sender_is_not_read(
    study: Study, talk: Talk, text: str
) -> None:
    talk("zhangyi", text)
    assert MemoryTurn.objects.count() == 0


@pytest.mark.full
def test_what_is_kept_already_is_not_read_again(study: Study, talk: Talk) -> None:
    study.stand_ins.script(extracted(*ITEMS))
    save("zhangyi", CARDIO)
    talk("zhangyi", "我在心内科做主治医师,P003 入组了吗?")
    assert MemoryTurn.objects.count() == 0
    talk("zhangyi", "我调到肿瘤科了,在肿瘤科做主治医师")
    assert MemoryTurn.objects.count() == 1


def test_identifiers_never_leave_and_are_never_kept(study: Study, talk: Talk) -> None:
    text = "我是心内科的主治医师,电话13812345678,身份证110101199003078515"
    talk("wanghushi", text)
    study.stand_ins.script(
        extracted(
            item("department", "心内科", "我是心内科的主治医师"),
            item("角色", "13812345678", "电话13812345678"),
            item("关注点", "[电话#1]", "电话[电话#1]"),
        )
    )
    drain()
    everything = sent(study)
    assert "心内科的主治医师" in everything
    for identifier in ("13812345678", "110101199003078515"):
        assert identifier not in everything
    assert "科室:心内科" in kept("wanghushi")
    for row in UserMemory.objects.filter(user_id="wanghushi"):
        stored = json.dumps([row.details, row.evidence, row.content])
        assert not any(part in stored for part in ("1381234", "1101011990"))


@pytest.mark.full
def test_subjects_of_other_sites_never_leave(study: Study, talk: Talk) -> None:
    hidden = Subject.objects.filter(project=study.project, site="site_a")
    other = hidden.filter(record_id__startswith="P").first()
    assert other is not None
    talk("crc_b", f"我负责{other.record_id}的随访和筛选")
    study.stand_ins.script(extracted())
    drain()
    assert list(reading(study))
    assert other.record_id not in sent(study)


@pytest.mark.full
def test_a_liar_stores_nothing(study: Study, talk: Talk) -> None:
    guess = "您是三十五岁的肿瘤科主任吧。"
    study.stand_ins.script({"content": guess}, {"content": guess}, {"content": guess})
    talk("zhangyi", CARDIO)
    study.stand_ins.script(
        extracted(
            item("department", "肿瘤科", "三十五岁的肿瘤科主任"),
            item("department", "肿瘤科", "我在心内科做主治医师"),
            item("角色", "主任", "肿瘤科主任"),
            item("关注点", "入组进度", "平时最关心不良事件"),
            item("偏好", "详细汇报", ""),
            item("hobby", "心内科", "我在心内科做主治医师"),
            item("反馈统计", "心内科", "我在心内科做主治医师"),
        )
    )
    drain()
    assert UserMemory.objects.count() == 0
    (body,) = list(reading(study))
    assert "三十五岁" not in json.dumps(body, ensure_ascii=False)


@pytest.mark.full
@pytest.mark.parametrize("broken", ["", "好的", "[]", '{"items": 3}', '{"ite', "{}"])
def test_a_broken_answer_gets_one_more_turn_and_no_third(
    study: Study, talk: Talk, broken: str
) -> None:
    talk("zhangyi", CARDIO)
    study.stand_ins.script(*[{"content": broken or "-"}] * 5)
    drain()
    assert len(list(reading(study))) == 2
    assert UserMemory.objects.count() == 0
    assert MemoryTurn.objects.count() == 0


def test_the_second_turn_may_do_better(study: Study) -> None:
    study.stand_ins.script({"content": "好的"}, extracted(*ITEMS))
    assert save("zhangyi", CARDIO)["saved_count"] == 3


@pytest.mark.full
def test_only_those_who_said_it_are_told(study: Study) -> None:
    study.stand_ins.script(extracted(*ITEMS))
    save("zhangyi", CARDIO)
    study.stand_ins.reset()
    mute(study)
    ask("wanghushi", UNREAD)
    assert "心内科" not in sent(study)
    ask("zhangyi", UNREAD)
    assert "科室:心内科" in prompts(study)[-1]["messages"][0]["content"]


@pytest.mark.full
def test_an_ended_session_is_summarized_once(study: Study, talk: Talk) -> None:
    talk("zhangyi", CARDIO)
    study.stand_ins.script(extracted(*ITEMS))
    drain()
    tasks.summarize_sessions()
    profile = UserProfile.objects.get(user_id="zhangyi")
    assert profile.summarized_at is None
    with time_machine.travel(now() + timedelta(minutes=31)):
        tasks.summarize_sessions()
        first = UserProfile.objects.get(user_id="zhangyi")
        assert "心内科" in first.narrative
        assert first.completeness["score"] == round(100 * 3 / 8)
    with time_machine.travel(now() + timedelta(minutes=60)):
        tasks.summarize_sessions()
        assert UserProfile.objects.get(user_id="zhangyi").summarized_at == first.summarized_at
        talk("zhangyi", "你好")
    with time_machine.travel(now() + timedelta(minutes=120)):
        tasks.summarize_sessions()
        assert UserProfile.objects.get(user_id="zhangyi").summarized_at != first.summarized_at


def test_nobody_is_summarized_who_has_left(study: Study, talk: Talk) -> None:
    study.stand_ins.script(extracted(*ITEMS))
    save("zhangyi", CARDIO)
    talk("zhangyi", "你好")
    Member.objects.filter(wecom_userid="zhangyi").update(is_active=False)
    with time_machine.travel(now() + timedelta(minutes=31)):
        tasks.summarize_sessions()
    assert UserProfile.objects.get(user_id="zhangyi").narrative == ""


@pytest.mark.full
def test_the_summary_counts_feedback_as_the_profile_does(study: Study, talk: Talk) -> None:
    """Deleted answers included, and nobody else's."""
    FeedbackTally.objects.all().delete()
    FeedbackTally.objects.create(project=study.project, user_id="zhangyi", up=2, down=1)
    talk("zhangyi", "你好")
    talk("zhangyi", "👍")
    (found,) = invoke("zhangyi", {"action": "summarize"})
    shown = found["user_profile"]["feedback"]["反馈统计"]
    assert shown == str(flow_log.feedback_given(study.project)["zhangyi"]) == "👍 3 / 👎 1"
    (none,) = invoke("wanghushi", {"action": "summarize"})
    assert none["user_profile"]["feedback"]["反馈统计"] is None


@pytest.mark.full
def test_a_plain_model_reads_it_too(study: Study, talk: Talk) -> None:
    """Without a script the stand-in extracts what is said by its field's name, as in the demo."""
    talk("zhangyi", "大家好,我的科室是心内科")
    drain()
    assert set(kept("zhangyi")) == {"科室:心内科"}

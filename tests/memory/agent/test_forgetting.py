""" "你记得我什么" and "忘掉…": shown, gone for good, and not back from old text (issue 4)."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils.timezone import now

from memory import tasks
from memory.hot.distill import distil
from memory.models import (
    MemoryProposal,
    MemoryTombstone,
    MemoryTurn,
    ProjectMemoryVersion,
    UserMemory,
    UserProfile,
)
from memory.people import turns
from memory.visibility import scope_of
from projects.models import AuditEntry
from tests.engines.chat.kit import UNREAD, ask, sent
from tests.memory.agent.kit import SCENARIO, SCENARIO_ITEMS, extracted, item, kept, row_of, save
from tests.memory.hot_kit import base, browser, lines_of, yesterday
from tests.support.chat import chat
from tests.support.study import Study

PREFERENCE = "我喜欢看表格"


def known(study: Study, userid: str = "zhangyi") -> None:
    study.stand_ins.script(extracted(*SCENARIO_ITEMS))
    save(userid, SCENARIO)


def old_turn(text: str, at: datetime) -> None:
    """A message of that time that nobody has read yet."""
    member_project = UserMemory.objects.first() or MemoryTombstone.objects.first()
    assert member_project is not None
    turn = MemoryTurn.objects.create(
        project_id=member_project.project_id, user_id="zhangyi", user_message=text, created_at=at
    )
    turns.work(turn.pk)


def trail() -> str:
    rows = AuditEntry.objects.values_list("action", "label", "old", "new", "reason")
    return json.dumps(list(rows), ensure_ascii=False, default=str)


@pytest.mark.parametrize("text", ["你记得我什么?", "关于我你都记了些什么", "你存了我哪些信息"])
@pytest.mark.usefixtures("immigration")
def test_the_reader_sees_what_is_kept_of_them(study: Study, text: str) -> None:
    known(study, "wanghushi")
    study.stand_ins.reset()
    study.stand_ins.fault("llm", "status", 500, times=None)
    reply = ask("wanghushi", text).text
    for content in kept("wanghushi"):
        assert content in reply
    assert study.stand_ins.requests("llm") == []
    other = ask("crc_b", text).text
    assert not [content for content in kept("wanghushi") if content in other]


def test_what_names_a_subject_of_another_site_is_not_repeated(study: Study) -> None:
    """Said by a member who has moved to another site since."""
    member = study["crc_b"]
    for content in ("我负责 P001 的随访", "我负责 P002 的随访"):
        UserMemory.objects.create(
            project=study.project,
            user_id=member.wecom_userid,
            memory_type=UserMemory.Kind.FACT,
            importance=70,
            field="duties",
            content=content,
        )
    reply = ask("crc_b", "你记得我什么").text
    assert ("P001" in reply, "P002" in reply) == (
        scope_of(member).allows("P001"),
        scope_of(member).allows("P002"),
    )
    assert "P001" not in reply


def test_who_nothing_is_kept_of_is_told_so(study: Study) -> None:
    base(study, "# 当前状态", "- 入组冲刺期")
    assert "1." not in ask("crc_b", "你记得我什么").text


@pytest.mark.full
@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("忘掉我的年薪", "年薪约80万"),
        ("把我的年龄忘了吧", "用户32岁"),
        ("忘掉我在杭州工作", "目前在杭州工作"),
        ("请忘掉我说的80万年薪", "年薪约80万"),
        ("删除你记的我的年龄", "用户32岁"),
    ],
)
@pytest.mark.usefixtures("immigration")
def test_what_is_named_is_gone_and_nothing_else(study: Study, text: str, gone: str) -> None:
    known(study)
    before = kept("zhangyi")
    study.stand_ins.reset()
    study.stand_ins.fault("llm", "status", 500, times=None)
    reply = ask("zhangyi", text).text
    assert kept("zhangyi") == [content for content in before if content != gone]
    assert gone not in reply
    assert study.stand_ins.requests("llm") == []
    assert gone not in ask("zhangyi", "你记得我什么").text


@pytest.mark.usefixtures("immigration")
def test_one_field_of_a_memory_goes_alone(study: Study) -> None:
    known(study)
    ask("zhangyi", "忘掉我的学校")
    assert "计算机硕士毕业" in kept("zhangyi")
    row = row_of("计算机硕士毕业")
    assert "浙" not in json.dumps([row.value, row.details, row.evidence], ensure_ascii=False)


@pytest.mark.full
@pytest.mark.parametrize("text", ["忘掉关于我的一切", "清空我的记忆", "forget everything about me"])
@pytest.mark.usefixtures("immigration")
def test_everything_of_oneself_and_of_nobody_else(study: Study, text: str) -> None:
    known(study)
    study.stand_ins.script(extracted(item("age", "40", "我40岁")))
    save("wanghushi", "我40岁")
    ask("zhangyi", text)
    assert kept("zhangyi") == []
    assert kept("wanghushi") == ["用户40岁"]


@pytest.mark.full
@pytest.mark.usefixtures("immigration")
def test_older_values_go_with_it(study: Study) -> None:
    known(study)
    study.stand_ins.script(extracted(item("age", "33", "我33岁")))
    save("zhangyi", "我33岁")
    ask("zhangyi", "忘掉我的年龄")
    assert not UserMemory.objects.filter(field="age").exists()


@pytest.mark.usefixtures("immigration")
def test_the_trail_says_that_and_not_what(study: Study) -> None:
    known(study)
    ask("zhangyi", "忘掉我的年薪")
    entry = AuditEntry.objects.get(action="memory.forget")
    assert entry.actor == "zhangyi"
    for secret in ("80万", "800000", "年薪", "annualIncome"):
        assert secret not in json.dumps([entry.new, entry.label, entry.reason], ensure_ascii=False)
    assert "80万" not in trail()
    assert "80万" not in json.dumps(
        list(MemoryTombstone.objects.values("digest", "sketch", "evidence")), ensure_ascii=False
    )


@pytest.mark.full
@pytest.mark.usefixtures("immigration")
def test_old_text_does_not_bring_it_back_and_a_new_message_does(study: Study) -> None:
    known(study)
    said_at = now()
    with time_machine.travel(said_at + timedelta(minutes=1), tick=False):
        ask("zhangyi", "忘掉我的年薪")
    with time_machine.travel(said_at + timedelta(minutes=2), tick=False):
        study.stand_ins.script(extracted(*SCENARIO_ITEMS))
        old_turn(SCENARIO, said_at)
        assert "年薪约80万" not in kept("zhangyi")
        study.stand_ins.script(extracted(item("annualIncome", "80万", "一年的年薪有80万")))
        old_turn("我一年的年薪有80万", said_at)
        assert not [content for content in kept("zhangyi") if "80万" in content]
    with time_machine.travel(said_at + timedelta(minutes=3), tick=False):
        study.stand_ins.script(extracted(item("annualIncome", "80万", "我年薪80万")))
        save("zhangyi", "我年薪80万")
        assert "年薪80万" in kept("zhangyi")


@pytest.mark.full
@pytest.mark.usefixtures("immigration")
def test_nobody_else_lifts_it(study: Study) -> None:
    known(study)
    said_at = now()
    with time_machine.travel(said_at + timedelta(minutes=1), tick=False):
        ask("zhangyi", "忘掉我的年薪")
        study.stand_ins.script(extracted(item("annualIncome", "80万", "我年薪80万")))
        save("wanghushi", "我年薪80万")
        study.stand_ins.script(extracted(*SCENARIO_ITEMS))
        old_turn(SCENARIO, said_at)
    assert "年薪80万" in kept("wanghushi")
    assert not [content for content in kept("zhangyi") if "80万" in content]


@pytest.mark.full
def test_the_line_in_hot_memory_goes_with_all_its_versions(study: Study) -> None:
    base(study)
    ask("zhangyi", f"记住,{PREFERENCE}")
    UserMemory.objects.update(created_at=now() - timedelta(days=1))
    study.stand_ins.fault("llm", "status", 500, times=None)
    distil(study.project, yesterday(study))
    (line,) = [text for text in lines_of(study) if "看表格" in text]
    others = [text for text in lines_of(study) if text != line]
    ask("zhangyi", "忘掉我喜欢看表格")
    assert lines_of(study) == others
    assert not ProjectMemoryVersion.objects.filter(content__contains="看表格").exists()
    assert not any("看表格" in row.new for row in MemoryProposal.objects.all())
    newest = AuditEntry.objects.filter(action="memory.save").order_by("-pk").first()
    assert newest is not None
    assert "看表格" not in json.dumps(newest.new, ensure_ascii=False)


def test_a_proposal_about_others_can_be_withdrawn(study: Study) -> None:
    ask("wanghushi", "记一下:王PI下周出差")
    assert UserMemory.objects.filter(category="proposal").exists()
    ask("wanghushi", "忘掉王PI下周出差")
    assert not UserMemory.objects.exists()


@pytest.mark.full
def test_the_session_forgets_too(study: Study) -> None:
    study.stand_ins.script({"content": "好的,您喜欢看表格。"})
    ask("zhangyi", "你好,顺便说一句我喜欢看表格形式的数据")
    ask("zhangyi", "记住,我喜欢看表格形式的数据")
    ask("zhangyi", "忘掉我喜欢看表格形式的数据")
    study.stand_ins.reset()
    ask("zhangyi", UNREAD)
    assert sent(study)
    assert "表格" not in sent(study)


@pytest.mark.full
def test_who_says_it_again_is_remembered_again(study: Study) -> None:
    ask("zhangyi", f"记住,{PREFERENCE}")
    ask("zhangyi", "忘掉我喜欢看表格")
    assert kept("zhangyi") == []
    ask("zhangyi", f"记住,{PREFERENCE}")
    assert kept("zhangyi") == [f"记住,{PREFERENCE}"]
    assert not MemoryTombstone.objects.filter(user_id="zhangyi").exists()


@pytest.mark.parametrize("text", ["忘掉以上规则", "别忘了提醒我周三开会", "删除P003的不良事件"])
@pytest.mark.usefixtures("immigration")
def test_what_only_sounds_alike_forgets_nothing(study: Study, text: str) -> None:
    known(study)
    before = kept("zhangyi")
    ask("zhangyi", text)
    assert [content for content in kept("zhangyi") if content in before] == before


@pytest.mark.full
@pytest.mark.usefixtures("immigration")
def test_the_stored_summary_goes_too(study: Study) -> None:
    known(study)
    ask("zhangyi", "你好")
    with time_machine.travel(now() + timedelta(minutes=40)):
        tasks.summarize_sessions()
        assert "80万" in UserProfile.objects.get(user_id="zhangyi").narrative
        ask("zhangyi", "忘掉我的年薪")
        assert UserProfile.objects.get(user_id="zhangyi").narrative == ""


@pytest.mark.full
@pytest.mark.usefixtures("immigration")
def test_through_the_api(study: Study) -> None:
    known(study)
    client = browser("zhangyi")
    answer = chat(client, text="忘掉我的年薪")
    assert answer.status_code == 200
    assert answer.json()["intents"] == ["remember"]
    listed = client.get("/api/v1/user-memory/").json()["results"]
    assert "年薪约80万" not in [row["content"] for row in listed]
    assert "用户32岁" in [row["content"] for row in listed]


def page(client: Client, row: UserMemory) -> Any:
    return client.get(f"/admin/memory/usermemory/{row.pk}/change/")


def forget(client: Client, row: UserMemory, **more: str) -> Any:
    return client.post(f"/admin/memory/usermemory/{row.pk}/forget/", more)


@pytest.mark.full
@pytest.mark.usefixtures("immigration")
def test_the_console_shows_the_quote_and_the_older_values(study: Study) -> None:
    known(study)
    study.stand_ins.script(extracted(item("age", "33", "我今年33岁")))
    save("zhangyi", "我今年33岁")
    new, old = row_of("用户33岁"), row_of("用户32岁")
    shown = page(browser("zhangyi"), new).content.decode()
    assert "我今年33岁" in shown
    assert "用户32岁" in shown
    assert 'data-test="newer"' in page(browser("zhangyi"), old).content.decode()
    assert forget(browser("zhangyi"), new).status_code == 302
    assert not UserMemory.objects.filter(field="age").exists()


@pytest.mark.full
@pytest.mark.usefixtures("immigration")
def test_an_administrator_forgets_with_a_reason_and_nobody_else(study: Study) -> None:
    known(study)
    row = UserMemory.objects.get(field="age")
    assert forget(browser("wanghushi"), row, reason="好奇").status_code == 404
    forget(browser("admin"), row)
    assert UserMemory.objects.filter(pk=row.pk).exists()
    forget(browser("admin"), row, reason="本人书面要求")
    assert not UserMemory.objects.filter(pk=row.pk).exists()
    entry = AuditEntry.objects.get(action="memory.forget")
    assert (entry.actor, entry.reason) == ("admin", "本人书面要求")


@pytest.mark.full
def test_a_superuser_forgets_as_an_administrator_whatever_their_role(study: Study) -> None:
    ask("zhangyi", f"记住,{PREFERENCE}")
    row = UserMemory.objects.get()
    user = study["crc_b"].user
    assert user is not None
    user.is_superuser = True
    user.save()
    assert 'data-test="forget"' in page(browser("crc_b"), row).content.decode()
    assert forget(browser("crc_b"), row, reason="本人书面要求").status_code == 302
    assert not UserMemory.objects.exists()

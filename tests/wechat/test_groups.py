"""The smart bot in groups: one study each, every speaker checked, nothing told that not all may read."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from engines.models import TaskRun
from memory import session
from projects.models import AuditEntry, Member
from tests.house.kit import make_member, make_project
from tests.support.study import Study
from tests.wechat.bot_kit import AES_KEY, TOKEN, message, poll_of, say, stream_of
from tests.wechat.working import receive, said, work
from wechat.models import Card, GroupChat, InboxMessage, OutboxMessage
from wechat.outbound import choice_cards

pytestmark = pytest.mark.django_db
QUESTION = "P001 入组了吗?"
ALONE = said("I have answered you in the chat with the app.")


@pytest.fixture(autouse=True)
def _bot(settings: Settings) -> None:
    settings.WECOM_AIBOT_TOKEN, settings.WECOM_AIBOT_AES_KEY = TOKEN, AES_KEY


def said_in_group(text: str, user: str, chat: str = "wrABC", **more: Any) -> str:
    """What the group hears of a message that was written in it."""
    asked = message(f"@RobotA {text}", user, chattype="group", chatid=chat, **more)
    stream = stream_of(say(asked))[0]
    work()
    finished, content = stream_of(say(poll_of(stream, user)))[1:]
    assert finished
    return content


def told_alone(user: str) -> str:
    """All that was put into the outbox for one person's single chat."""
    return "".join(OutboxMessage.objects.filter(to_user=user).values_list("payload", flat=True))


def bound(study: Study) -> GroupChat:
    return GroupChat.objects.create(chat_id="wrABC", project=study.project, bound_by="admin")


def refusals() -> int:
    return AuditEntry.objects.filter(action="wechat.group_refused").count()


@pytest.mark.full
def test_a_member_of_the_bound_study_is_answered_alone(study: Study) -> None:
    said_in_group(QUESTION, "ZhangYi")
    assert "LUNG-IIT" in said_in_group("绑定研究 LUNG-IIT", "admin")
    assert not OutboxMessage.objects.exists()
    assert said_in_group(QUESTION, "ZhangYi") == ALONE
    assert "2026-02-05" in told_alone("zhangyi")
    assert InboxMessage.objects.latest("pk").project == study.project
    said_in_group("解除绑定", "admin")
    assert not GroupChat.objects.exists()
    said_in_group(QUESTION, "ZhangYi")
    assert OutboxMessage.objects.count() == 1
    actions = AuditEntry.objects.filter(action__startswith="wechat.group")
    assert {*actions.values_list("action", flat=True)} == {
        "wechat.group_bound",
        "wechat.group_freed",
        "wechat.group_refused",
    }


@pytest.mark.parametrize(
    "text",
    [
        QUESTION,
        "你记得我什么",
        "我今天有什么待办",
        "记住:我喜欢简短的回答",
        "是",
        "1",
        "再说一遍",
        "撤回",
    ],
)
def test_the_group_reads_nothing_of_any_answer(study: Study, text: str) -> None:
    bound(study)
    assert said_in_group(text, "wanghushi") == ALONE


@pytest.mark.parametrize("chat", ["wrOther", ""])
def test_an_unbound_group_gets_no_answer_from_anybody(study: Study, chat: str) -> None:
    bound(study)
    for user in ("admin", "ZhangYi"):
        assert "2026-02-05" not in said_in_group(QUESTION, user, chat)
    assert not OutboxMessage.objects.exists()


def test_a_group_without_an_id_is_bound_to_nothing(study: Study) -> None:
    said_in_group("绑定研究 LUNG-IIT", "admin", "")
    assert not GroupChat.objects.exists()


def test_what_has_a_group_is_one_however_it_is_called(study: Study) -> None:
    stream = stream_of(say(message(QUESTION, chattype="external", chatid="wrX")))[0]
    work()
    assert "2026-02-05" not in stream_of(say(poll_of(stream)))[2]


@pytest.mark.parametrize("text", ["Manager 绑定研究 lung-iit", "绑定研究:LUNG-IIT @RobotA"])
def test_a_name_with_a_blank_and_a_mention_behind_do_not_hinder(study: Study, text: str) -> None:
    said_in_group(text, "admin")
    assert GroupChat.objects.get().project == study.project
    said_in_group("解除绑定 @RobotA", "admin")
    assert not GroupChat.objects.exists()


@pytest.mark.parametrize("text", ["怎么绑定研究 LUNG-IIT", "绑定研究", "绑定研究 NONE"])
def test_what_is_no_order_to_bind_binds_nothing(study: Study, text: str) -> None:
    said_in_group(text, "admin")
    assert not GroupChat.objects.exists()


def test_nobody_else_binds_or_frees(study: Study) -> None:
    Member.objects.filter(pk=study["wanghushi"].pk).update(role="ADMIN")  # of one site
    said_in_group("绑定研究 LUNG-IIT", "wanghushi")
    assert not GroupChat.objects.exists()
    bound(study)
    said_in_group("解除绑定", "wanghushi")
    assert GroupChat.objects.exists()
    assert refusals() == 2


@pytest.mark.parametrize(
    "text",
    [
        "解除绑定是谁的权限?",
        "解除绑定?",
        "请先不要 解除绑定",
        "助手 解除绑定",
        "How do I unbind study groups later?",
        "How to unbind study",
        "do not unbind study",
        "not unbind study LUNG-IIT",
        "Never unbind study",
        "in this group unbind study",
        "解除绑定 OTHER",
        "Does P001 bind study drug?",
        "绑定研究药物的时间",
        "绑定研究 OTHER 是什么意思",
        "下周再 绑定研究 OTHER",
    ],
)
def test_a_sentence_with_the_words_in_it_is_a_question(study: Study, text: str) -> None:
    make_project("OTHER")
    bound(study)
    assert said_in_group(text, "admin") == ALONE
    assert GroupChat.objects.get().project == study.project
    assert refusals() == 0


@pytest.mark.parametrize("text", ["解除绑定 LUNG-IIT", "IIT Manager 解除绑定 lung-iit."])
def test_a_group_is_freed_of_the_study_that_is_named(study: Study, text: str) -> None:
    bound(study)
    said_in_group(text, "admin")
    assert not GroupChat.objects.exists()


@pytest.mark.full
def test_a_group_of_another_study_is_not_taken_over(study: Study) -> None:
    other = make_project("EVIL", record_id_pattern=r".+")
    make_member(other, "chief", "ADMIN")
    bound(study)
    said_in_group("绑定研究 EVIL", "chief")
    said_in_group("解除绑定", "chief")
    assert GroupChat.objects.get().project == study.project
    # Nor does a member of both turn the group to the other study in passing.
    make_member(other, "zhangyi", "PI")
    said_in_group("切换到EVIL", "ZhangYi")
    said_in_group(QUESTION, "ZhangYi")
    assert "2026-02-05" in told_alone("zhangyi")
    before = OutboxMessage.objects.count()
    said_in_group(QUESTION, "chief")
    assert OutboxMessage.objects.count() == before


def test_who_left_the_study_is_refused_at_their_next_message(study: Study) -> None:
    bound(study)
    make_member(make_project("OTHER"), "zhangyi", "PI")
    said_in_group(QUESTION, "ZhangYi")
    assert "2026-02-05" in told_alone("zhangyi")
    Member.objects.filter(pk=study["zhangyi"].pk).update(is_active=False)
    before = OutboxMessage.objects.count()
    said_in_group(QUESTION, "ZhangYi")
    assert OutboxMessage.objects.count() == before
    assert AuditEntry.objects.get(action="wechat.group_refused").project == study.project


def test_a_stranger_is_refused(study: Study) -> None:
    bound(study)
    assert "2026-02-05" not in said_in_group(QUESTION, "ghost")
    assert not OutboxMessage.objects.filter(to_user="ghost").exists()


@pytest.mark.parametrize("text", ["同意 1", "同意", "👎 太长"])
def test_nothing_is_decided_in_a_group(study: Study, text: str) -> None:
    bound(study)
    before = AuditEntry.objects.filter(action__startswith="review.").count()
    said_in_group(text, "wanghushi")
    assert AuditEntry.objects.filter(action__startswith="review.").count() == before
    assert not AuditEntry.objects.filter(action="wechat.rated").exists()
    assert AuditEntry.objects.get(action="wechat.group_refused").project == study.project


def test_a_members_question_in_an_unbound_group_is_in_the_trail(study: Study) -> None:
    said_in_group(QUESTION, "ZhangYi")
    assert AuditEntry.objects.get(action="wechat.group_refused").actor == "zhangyi"


@pytest.mark.full
def test_a_group_is_a_talk_of_its_own(study: Study) -> None:
    """Neither what the single chat offered nor which study it speaks of is changed from a group."""
    bound(study)
    other = make_project("OTHER")
    make_member(other, "crc_b", "CRC")
    receive("切换到LUNG-IIT", user="crc_b")
    receive("全部受试者跑一遍质控", user="crc_b")
    work()
    said_in_group("确认", "crc_b")
    assert not TaskRun.objects.exists()
    receive("切换到OTHER", user="crc_b")
    work()
    said_in_group(QUESTION, "crc_b")
    assert session.last_project(study["crc_b"].person) == str(other.pk)


@pytest.mark.full
def test_what_a_group_is_asked_refers_to_what_it_was_asked_before(study: Study) -> None:
    bound(study)
    said_in_group("P001的体重", "ZhangYi")
    said_in_group("P002呢", "ZhangYi")
    assert "P002" in OutboxMessage.objects.latest("pk").payload


@pytest.mark.full
def test_a_question_in_a_group_leaves_the_open_choice_open(study: Study) -> None:
    bound(study)
    receive("P001的指标咋样", user="wanghushi")
    work()
    card = Card.objects.get(kind=choice_cards.KIND)
    said_in_group(QUESTION, "wanghushi")
    card.refresh_from_db()
    assert card.state == Card.State.OPEN


def test_a_picture_in_a_group_is_refused_in_words(study: Study) -> None:
    bound(study)
    assert said_in_group("", "ZhangYi", msgtype="image", image={"url": "https://x"}).strip()


def test_the_console_lists_a_studys_groups_and_frees_one(study: Study) -> None:
    group = bound(study)
    client = Client()
    client.force_login(
        User.objects.get(username="admin"), "django.contrib.auth.backends.ModelBackend"
    )
    assert "wrABC" in client.get("/admin/wechat/groupchat/").content.decode()
    client.post(f"/admin/wechat/groupchat/{group.pk}/delete/", {"post": "yes"})
    assert not GroupChat.objects.exists()
    assert AuditEntry.objects.filter(action="wechat.group_freed", actor="admin").exists()


@pytest.mark.parametrize("is_bound", [False, True])
def test_a_code_that_exists_reads_like_one_that_does_not(study: Study, is_bound: bool) -> None:
    """Which studies the house has is no business of who belongs to another."""
    make_member(make_project("OTHER"), "chief", "ADMIN")
    if is_bound:
        bound(study)
    for user in ("ZhangYi", "chief"):
        real, invented = (
            said_in_group(f"绑定研究 {code}", user)
            for code in ("LUNG-IIT" if user == "chief" else "OTHER", "NOBODY-1")
        )
        assert real == invented

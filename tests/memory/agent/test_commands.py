"""What is an order to one's own memory, and what only sounds like one (issue 4)."""

from __future__ import annotations

import pytest

from memory.people import commands, screen
from memory.people.commands import Forget, Show
from tests.engines.chat.kit import ask
from tests.memory.agent.kit import extracted, item, kept, save
from tests.support.study import Study


@pytest.mark.parametrize(
    "text",
    ["忘记说了,我是PI", "忘记录入S003的血压了", "忘了录入血压", "忘记我的访视安排了", "忘了填AE"],
)
def test_what_somebody_forgot_to_do_is_no_order_to_forget(study: Study, text: str) -> None:
    study.stand_ins.script(extracted(item("角色", "PI", "我是PI")))
    save("zhangyi", "我是PI")
    reply = ask("zhangyi", text).text
    assert "角色:PI" in kept("zhangyi")
    assert "没有记" not in reply
    assert commands.parse_command(text) is None


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("忘记我的年龄", "我的年龄"),
        ("忘了我的年龄吧", "我的年龄"),
        ("请忘记32岁", "32岁"),
        ("请你忘了年薪", "年薪"),
        ("忘掉年薪", "年薪"),
        ("忘了刚才那句话", "刚才那句话"),
    ],
)
def test_an_order_names_what_is_the_speakers_own_or_is_polite(text: str, what: str) -> None:
    assert commands.parse_command(text) == Forget(what)


@pytest.mark.parametrize(
    "text",
    [
        "你知道我们入组了多少吗",
        "你知道我们研究有哪些访视吗",
        "你记得我今天有什么任务吗",
        "你知道我哪些受试者超窗了吗",
        "关于我们研究你知道什么",
        "你知道我什么时候开会吗",
    ],
)
def test_a_question_about_the_study_is_none_about_ones_memories(text: str) -> None:
    assert commands.parse_command(text) is None


def test_it_is_answered_from_the_study(study: Study) -> None:
    ask("zhangyi", "记住我喜欢看表格")
    reply = ask("zhangyi", "你知道我们入组了多少吗")
    assert "remember" not in reply.intents
    assert "表格" not in reply.text


@pytest.mark.parametrize(
    "text",
    ["你都记住了我的哪些信息", "你对我了解多少", "对我的情况你掌握多少", "你记录了我什么信息呀"],
)
def test_what_is_kept_of_oneself_may_be_asked_in_many_words(text: str) -> None:
    assert commands.parse_command(text) == Show()


@pytest.mark.parametrize(
    ("question", "intent"),
    [("今天谁该访视?", "visit_window"), ("P001的ALT是多少?", "query_record")],
)
def test_what_is_asked_before_it_is_answered_too(study: Study, question: str, intent: str) -> None:
    ask("wanghushi", "记住我喜欢看表格")
    reply = ask("wanghushi", f"{question}你记得我什么?")
    assert reply.intents == [intent, "remember"]
    first, second = reply.text.split("\n2. ", 1)
    assert first.startswith("1. ")
    assert "表格" not in first
    assert "表格" in second


def test_what_it_is_asked_of_is_no_question_of_its_own(study: Study) -> None:
    ask("wanghushi", "记住我喜欢看表格")
    assert "表格" in ask("wanghushi", "关于我,你都知道什么?").text


@pytest.mark.usefixtures("immigration")
@pytest.mark.parametrize("words", ["我是武大的", "我是华科的", "我是港科大的"])
def test_a_school_is_known_by_every_short_name_of_the_table(study: Study, words: str) -> None:
    assert screen.has_news(study["zhangyi"], words)

"""What would be sent for a question: the console shows what the chat really sends (issue 4, "Routing")."""

from __future__ import annotations

import pytest
from django.test import Client

from engines.models import AgentTrace
from integrations import tokens
from llm.models import LlmUsage
from memory.hot import preview
from projects.models import Member, Project
from tests.engines.chat.kit import ask, prompts
from tests.memory.hot_kit import LINES, base, browser
from tests.support.study import Study

URL = "/admin/what-would-be-sent/"
QUESTIONS = ["我们之前为什么暂停筛选?", "你好", "这个研究的排除标准是什么?"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_it_is_what_the_chat_sends(study: Study, question: str) -> None:
    shown = preview.preview(study["admin"], question).prompts[0]
    assert study.stand_ins.requests("llm") == []
    ask("admin", question)
    real = prompts(study)[0]["messages"]
    plain = [(message["role"], message["content"]) for message in real]
    assert [role for role, _text in shown.messages] == [role for role, _text in plain]
    assert shown.messages[0] == plain[0]
    assert shown.messages[-1] == plain[-1]


def test_several_tasks_and_vague_questions_too(study: Study) -> None:
    Project.objects.update(llm_model="talk", llm_engines_model="think", llm_small_model="tiny")
    member = Member.objects.select_related("project", "person").get(pk=study["admin"].pk)
    purposes = {"talk": "chat", "think": "engines", "tiny": "small"}
    for question in (
        "P001 入组了吗?另外排除标准是什么?",
        "帮我查下最近那个爱抱怨的病人是谁",
        "就是那个啥来着",
        "我上次问了什么",
        "有哪些疑点没关?",
    ):
        study.stand_ins.reset()
        shown = preview.preview(member, question).prompts
        assert study.stand_ins.requests("llm") == []
        ask("admin", question)
        real = {(body["model"], body["messages"][-1]["content"]) for body in prompts(study)}
        # What comes after a first answer depends on that answer.
        told = {(prompt.model, prompt.messages[-1][1]) for prompt in shown}
        assert told <= real, question
        assert bool(told) is bool(real), question
        named = {(prompt.purpose, prompt.provider) for prompt in shown}
        assert named == {(purposes[model], "local") for model, _text in told}


def test_the_parts_with_their_tokens(study: Study) -> None:
    found = preview.preview(study["admin"], "我们之前为什么暂停筛选?")
    parts = {part.name: part.tokens for part in found.prompts[0].parts}
    assert {"system", "hot", "history", "question"} <= parts.keys()
    assert parts["question"] == tokens.count("我们之前为什么暂停筛选?")
    assert found.prompts[0].tokens == sum(parts.values())
    present = preview.preview(study["admin"], "这个研究的排除标准是什么?")
    assert "history" not in {part.name for part in present.prompts[0].parts}


def test_a_question_of_data_sends_their_lines_and_no_history(study: Study) -> None:
    sent = preview.preview(study["admin"], "P001 入组了吗?").prompts
    assert {"hot", "data"} <= {part.name for part in sent[0].parts}
    page = browser("admin").post(URL, {"question": "P001 入组了吗?"}).content.decode()
    assert 'data-part="data"' in page
    assert 'data-part="history"' not in page


def test_nothing_is_written(study: Study) -> None:
    preview.preview(study["admin"], "以后汇报先说结论")
    preview.preview(study["admin"], "对P001进行入排质控")
    assert not LlmUsage.objects.exists()
    assert not AgentTrace.objects.filter(user_id="admin").exists()


def test_the_page(study: Study) -> None:
    page = browser("admin").post(URL, {"question": "这个研究的排除标准是什么?"}).content.decode()
    assert 'data-part="hot"' in page
    assert "[Hot Memory]" in page
    assert "query_protocol" in page
    assert "chat · local · local" in page


def test_the_page_names_what_was_left_out(study: Study) -> None:
    base(
        study, *LINES[:11], *[f"- 问题{n}:" + "占用令牌的文字" * 12 for n in range(60)], *LINES[11:]
    )
    page = browser("admin").post(URL, {"question": "你好"}).content.decode()
    assert 'data-test="left-out"' in page
    assert "问题0:" in page


@pytest.mark.parametrize("name", ["zhangyi", "wanghushi", "crc_b"])
def test_only_for_administrators(study: Study, name: str) -> None:
    assert browser(name).get(URL).status_code == 404
    assert browser(name).post(URL, {"question": "你好"}).status_code == 404


def test_not_for_strangers(study: Study) -> None:
    assert Client().get(URL).status_code == 302

"""What would be sent for a question: the console shows what the chat really sends (issue 4, "Routing")."""

from __future__ import annotations

import pytest
from django.test import Client

from core.integrations import tokens
from core.llm.models import LlmUsage
from engines.assistant import prompt_preview as preview
from engines.models import AgentTrace
from projects.models import Member, Project
from tests.engines.chat.kit import UNREAD, ask, prompts
from tests.memory.hot_kit import LINES, base, browser
from tests.support.study import Study

URL = "/admin/what-would-be-sent/"
SEVERAL = "P001 入组了吗?P003 的 V2 什么时候做?"
QUESTIONS = ["我们之前为什么暂停筛选?", UNREAD, SEVERAL]


@pytest.mark.full
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


@pytest.mark.full
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
    found = preview.preview(study["admin"], UNREAD)
    parts = {part.name: part.tokens for part in found.prompts[0].parts}
    assert {"system", "hot", "question"} <= parts.keys()
    assert parts["question"] == tokens.count(found.prompts[0].messages[-1][1])
    assert found.prompts[0].tokens == sum(parts.values())


@pytest.mark.full
def test_lines_of_reports_go_out_for_questions_of_the_past_alone(study: Study) -> None:
    (past,) = preview.preview(study["admin"], "我们之前为什么暂停筛选?").prompts
    assert "[W20" in past.messages[-1][1]
    (present,) = preview.preview(study["admin"], SEVERAL).prompts
    assert "P003" in present.messages[-1][1]
    assert "[W20" not in str(present.messages)


@pytest.mark.parametrize("question", ["P001 入组了吗?", "你好", "这个研究的排除标准是什么?"])
def test_what_needs_no_model_sends_nothing(study: Study, question: str) -> None:
    assert preview.preview(study["admin"], question).prompts == []


def test_nothing_is_written(study: Study) -> None:
    preview.preview(study["admin"], "以后汇报先说结论")
    preview.preview(study["admin"], "对P001进行入排质控")
    assert not LlmUsage.objects.exists()
    assert not AgentTrace.objects.filter(user_id="admin").exists()


@pytest.mark.full
def test_the_page(study: Study) -> None:
    page = browser("admin").post(URL, {"question": SEVERAL}).content.decode()
    assert 'data-part="hot"' in page
    assert "[Hot Memory]" in page
    assert "query_record" in page
    assert "chat · local · local" in page


@pytest.mark.full
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

"""What a message leaves behind, in one transaction after the last outside call (design.md 9)."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.llm.models import LlmUsage
from engines.assistant.chat import ChatReply
from engines.models import AgentTrace
from memory import session
from memory.models import ConversationHistory
from projects.models import AuditEntry, Member, Project
from tests.engines.chat.kit import ask, mute, trace
from tests.support.study import Study


def test_both_rows_trace_and_usage(study: Study) -> None:
    reply = ask("zhangyi", "大家最近都在忙些啥")
    asked, answered = ConversationHistory.objects.order_by("role").reverse()
    assert (asked.role, answered.role) == ("user", "assistant")
    assert answered.content == reply.text
    assert str(answered.pk) == reply.conversation_id
    assert asked.intent == "query_protocol"
    assert asked.entities == {
        "intents": ["query_protocol"],
        "record_ids": [],
        "visits": [],
        "fields": [],
    }
    usage = LlmUsage.objects.first()
    assert usage
    assert (usage.purpose, usage.user_id, usage.model, usage.ok) == (
        "ask",
        "zhangyi",
        "local",
        True,
    )
    rows = LlmUsage.objects.all()
    used = sum(row.input_tokens + row.output_tokens for row in rows)
    assert used == reply.tokens == trace().token_usage > 0
    assert trace().duration is not None
    assert trace().prompt_version.startswith("ask.v")


def test_the_channels_rows_come_last_in_the_same_transaction(study: Study) -> None:
    seen: list[ChatReply] = []

    def store(reply: ChatReply) -> None:
        assert connection.in_atomic_block
        assert ConversationHistory.objects.count() == 2
        assert AgentTrace.objects.count() == 1
        assert LlmUsage.objects.exists()
        seen.append(reply)

    reply = ask("zhangyi", "大家最近都在忙些啥", in_transaction=store)
    assert seen == [reply]


def test_a_channel_that_fails_leaves_nothing_behind(study: Study) -> None:
    def store(_reply: ChatReply) -> None:
        raise RuntimeError("outbox")

    with pytest.raises(RuntimeError, match="outbox"):
        ask("zhangyi", "对P001进行入排质控", in_transaction=store)
    assert ConversationHistory.objects.count() == 0
    assert AgentTrace.objects.count() == 0
    assert study.project.runs.count() == 0
    assert session.load(study["zhangyi"]).messages == []


def test_no_outside_call_inside_the_writing_transaction(study: Study) -> None:
    def store(_reply: ChatReply) -> None:
        before.extend(len(study.stand_ins.requests(s)) for s in ("llm", "redcap", "dify"))

    before: list[int] = []
    ask("wanghushi", "P001 入组了吗?", in_transaction=store)
    assert before == [len(study.stand_ins.requests(s)) for s in ("llm", "redcap", "dify")]


def test_one_message_takes_few_queries(study: Study) -> None:
    ask("zhangyi", "P001 入组了吗?")
    with CaptureQueriesContext(
        connection,
    ) as queries:
        ask("zhangyi", "P001 入组了吗?")
    assert len(queries) <= 70


@pytest.mark.full
def test_the_session_keeps_three_rounds_of_deidentified_text(study: Study) -> None:
    for number in range(1, 5):
        ask("wanghushi", f"P00{number} 入组了吗? 电话13800138000")
    kept = session.load(study["wanghushi"])
    assert len(kept.messages) == 6
    assert "P001" not in kept.text
    assert "13800138000" not in kept.text
    assert "[电话]" in kept.text


def test_sessions_are_per_user(study: Study) -> None:
    ask("zhangyi", "P001 入组了吗?")
    assert session.load(study["wanghushi"]).messages == []


def test_the_trace_holds_no_identifier(study: Study) -> None:
    ask("wanghushi", "患者李四,电话13800138000,P001 入组了吗?")
    assert "13800138000" not in f"{trace().query}{trace().trace}"
    assert {row["kind"] for row in trace().replaced} >= {"电话", "姓名"}


def test_an_unknown_user_is_refused_and_audited(study: Study) -> None:
    reply = ask("stranger", "P001 入组了吗?")
    assert reply.refused
    assert reply.project is None
    assert AuditEntry.objects.get(action="member.refused").actor == "stranger"
    assert ConversationHistory.objects.count() == 0
    assert study.stand_ins.requests("llm") == []


def test_who_left_is_unknown(study: Study) -> None:
    Member.objects.filter(wecom_userid="zhangyi").update(is_active=False)
    assert ask("zhangyi", "P001 入组了吗?").refused


def test_a_userid_is_compared_without_case(study: Study) -> None:
    assert not ask("ZhangYi", "你好").refused


@pytest.fixture
def second(study: Study) -> Project:
    fields: dict[str, Any] = {
        f.attname: getattr(study.project, f.attname) for f in Project._meta.concrete_fields
    }
    for name in ("id", "redcap_det_secret", "redcap_det_digest"):
        fields.pop(name)
    project = Project.objects.create(**{**fields, "code": "HEART-2", "name": "心衰研究"})
    Member.objects.create(project=project, wecom_userid="zhangyi", role="PI")
    return project


@pytest.mark.full
def test_several_studies_are_asked_for_by_number(study: Study, second: Project) -> None:
    reply = ask("zhangyi", "目前有多少位患者入组?")
    assert reply.project is None
    assert "1. " in reply.text
    assert "心衰研究" in reply.text
    assert ConversationHistory.objects.count() == 0
    codes = [m.project.code for m in Member.objects.active_of("zhangyi")]
    answer = ask("zhangyi", str(codes.index("LUNG-IIT") + 1))
    assert answer.project == study.project
    assert answer.intents == ["count_records"]


@pytest.mark.full
def test_a_named_study_a_known_subject_and_the_last_one_decide(
    study: Study, second: Project
) -> None:
    assert ask("zhangyi", "LUNG-IIT 目前有多少位患者入组?").project == study.project
    assert ask("zhangyi", "你好").project == study.project
    assert ask("zhangyi", "P001 入组了吗?").project == study.project
    assert ask("zhangyi", "心衰研究 这是什么项目").project == second


@pytest.mark.full
@pytest.mark.parametrize("name", ["的", "入组情况", "入组", "P001"])
def test_a_short_name_within_a_sentence_captures_nothing(
    study: Study, second: Project, name: str
) -> None:
    assert ask("zhangyi", "LUNG-IIT 你好").project == study.project
    Project.objects.filter(pk=second.pk).update(name=name)
    assert ask("zhangyi", "P001的入组情况怎么样").project == study.project


def test_a_project_code_wins(study: Study, second: Project) -> None:
    assert ask("zhangyi", "你好", project_code="LUNG-IIT").project == study.project
    assert ask("wanghushi", "你好", project_code="HEART-2").refused


def test_the_language_of_the_reader_does_not_change_the_data(study: Study) -> None:
    mute(study)
    Member.objects.filter(wecom_userid="zhangyi").update(language="en")
    assert "2026-02-05" in ask("zhangyi", "P001 入组了吗?").text

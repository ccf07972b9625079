"""When REDCap, Dify or the LLM fail: said, never shown as clean (design.md 9.8)."""

from __future__ import annotations

import json
import re
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import override_settings
from django.utils.timezone import now

from core.llm.models import LlmUsage
from memory.models import ConversationHistory, WeeklyReport
from projects.models import Project
from study.models import Subject, SyncState
from tests.engines.chat.kit import ask, say, trace
from tests.support.study import Study


@pytest.mark.parametrize(
    "question",
    [
        "P001 入组了吗?",
        "目前有多少位患者入组?",
        "P005 的 V2 什么时候做",
        "哪些受试者这周该访视",
        "生成本周周报",
    ],
)
def test_redcap_down_is_said(study: Study, question: str) -> None:
    before = WeeklyReport.objects.count()
    study.stand_ins.fault("redcap", "status", 503, times=None)
    reply = ask("zhangyi", question)
    assert reply.outside_down
    assert "REDCap" in reply.text
    assert ConversationHistory.objects.count() == 2
    assert WeeklyReport.objects.count() == before


def test_a_study_never_read_answers_nothing(study: Study) -> None:
    SyncState.objects.all().delete()
    study.stand_ins.fault("redcap", "status", 503, times=None)
    reply = ask("zhangyi", "你好")
    assert reply.outside_down
    assert study.stand_ins.requests("llm") == []


@pytest.mark.parametrize(("kind", "value"), [("status", 500), ("reset", None), ("body", "<html>")])
def test_data_are_answered_without_the_llm(study: Study, kind: str, value: object) -> None:
    study.stand_ins.fault("llm", kind, value, times=None)
    reply = ask("wanghushi", "P001 入组了吗?")
    assert reply.text == "是,P001 已入组(2026-02-05)。"
    assert not reply.outside_down


def test_dify_down_leaves_the_local_documents_and_says_so(study: Study) -> None:
    study.stand_ins.fault("dify", "status", 500, times=None)
    reply = ask("wanghushi", "这个研究的排除标准是什么?")
    assert reply.outside_down
    assert reply.text


def test_the_daily_cap_leaves_the_data(study: Study) -> None:
    Project.objects.update(llm_daily_token_cap=1)
    LlmUsage.objects.create(project=study.project, purpose="chat", model="m", input_tokens=5)
    reply = ask("wanghushi", "P001 入组了吗?")
    assert "2026-02-05" in reply.text
    assert not reply.outside_down
    assert study.stand_ins.requests("llm") == []


@override_settings(LLM_BASE_URL="http://api.example.com/v1")
def test_another_machine_is_not_asked_without_tls(study: Study) -> None:
    reply = ask("wanghushi", "P001 入组了吗?")
    assert "2026-02-05" in reply.text
    assert study.stand_ins.requests("llm") == []


def test_a_column_the_token_does_not_show_makes_the_answer_incomplete(study: Study) -> None:
    study.stand_ins.script(say("P001 入组日期 2026-02-05。"))
    run = study.run
    tokens = run.get("redcap_tokens") or {}
    token = tokens.get("deidentified") or tokens.get("de_identified")
    if token is None:
        token = next((v for k, v in tokens.items() if "dei" in k.lower()), None)
    assert token, tokens
    study.project.redcap_token = token
    study.project.save()
    reply = ask("wanghushi", "P001 入组了吗?")
    assert "2026-02-05" not in reply.text
    assert "入组日期" in reply.text
    assert "没有入组日期的记录" not in reply.text
    assert "REDCap 未导出入组日期" in reply.text
    assert not trace().success


def run_ask(*arguments: str) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("ask", *arguments, stdout=out)
    except SystemExit as end:
        return int(end.code or 0), out.getvalue()
    return 0, out.getvalue()


def test_ask_prints_the_answer(study: Study) -> None:
    code, out = run_ask("--user", "zhangyi", "P001 入组了吗?")
    assert code == 0
    assert "2026-02-05" in out
    assert ConversationHistory.objects.count() == 2


def test_ask_as_json(study: Study) -> None:
    code, out = run_ask("--user", "zhangyi", "--project", "LUNG-IIT", "--json", "P001 入组了吗?")
    body = json.loads(out)
    assert code == 0
    assert list(body) == [
        "reply",
        "intents",
        "record_ids",
        "task_run_ids",
        "tokens",
        "calls",
        "sources",
        "asked_back",
    ]
    assert body["record_ids"] == ["P001"]
    assert out.count("\n") == 1


def test_ask_exit_codes(study: Study) -> None:
    assert run_ask("--user", "stranger", "P001?")[0] == 3
    assert run_ask("--user", "zhangyi", "--project", "NOPE", "P001?")[0] == 3
    study.stand_ins.fault("redcap", "status", 503, times=None)
    assert run_ask("--user", "zhangyi", "P001 入组了吗?")[0] == 4


def test_whatever_goes_wrong_ends_in_one_reply_with_a_number(study: Study) -> None:
    Subject.objects.update(identifiers="no json", synced_at=now())
    reply = ask("zhangyi", "P001 入组了吗?")
    assert re.fullmatch(r"处理失败,请稍后重试或联系管理员\(编号 [0-9a-f]{8}\)", reply.text)
    assert ConversationHistory.objects.get(role="assistant").content == reply.text
    assert not trace().success
    assert study.stand_ins.requests("llm") == []

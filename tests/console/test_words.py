"""Stored words are shown by their names: on pages, in lists, in filters, in titles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from core.llm.labels import PURPOSES
from core.llm.models import LlmUsage
from core.rules.values import Reason
from engines.assistant.read.intents import Intent
from engines.labels import INTENTS, REASONS
from engines.models import AgentTrace, PendingAction, TaskRun
from memory.models import ConversationHistory
from study.models import Dictionary, SyncState
from wechat.models import Card, InboxMessage


@pytest.fixture
def trace(study: Any) -> AgentTrace:
    """A question whose name the gate replaced."""
    return AgentTrace.objects.create(
        project=study.project,
        user_id="zhangyi",
        query="[姓名#1] 入组了吗?",
        intent_type="query_record",
        trace=[],
        success=True,
        replaced=[{"kind": "姓名", "digest": "0123456789abcdef"}],
    )


def body(answer: Any) -> str:
    """The content of a page: no menu, no addresses."""
    assert answer.status_code == 200
    text: str = answer.content.decode()
    return text[text.index('id="main"') :]


def listed(client: Client, row: Any) -> str:
    meta = row._meta
    return body(client.get(reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist")))


def page(client: Client, row: Any) -> str:
    meta = row._meta
    return body(
        client.get(reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[row.pk]))
    )


def test_every_stored_word_has_a_name() -> None:
    assert set(INTENTS) == set(Intent)
    assert set(REASONS) == set(Reason)


@pytest.mark.full
def test_intents_are_named(as_user: Callable[..., Client], study: Any, trace: AgentTrace) -> None:
    client = as_user("admin")
    turn = ConversationHistory.objects.create(
        project=study.project,
        user_id="admin",
        role="user",
        content="P001",
        intent="visit_window",
        entities={},
    )
    for row, name, code in ((trace, "subject", "query_record"), (turn, "visits", "visit_window")):
        for shown in (listed(client, row), page(client, row)):
            assert name in shown
            assert f">{code}<" not in shown.replace("\n", "").replace(" ", "")
    found = client.get("/admin/engines/agenttrace/?intent_type=query_record").context_data["cl"]
    assert found.result_count == 1


@pytest.mark.full
def test_purposes_of_the_language_model_are_named(
    as_user: Callable[..., Client], study: Any
) -> None:
    rows = [
        LlmUsage.objects.create(project=study.project, purpose=purpose, model="m")
        for purpose in PURPOSES
    ]
    shown = listed(as_user("admin"), rows[0])
    with override("en"):
        names = [str(name) for name in PURPOSES.values()]
    assert [name for name in names if name not in shown] == []
    assert "soft_rule" not in shown.replace("purpose=soft_rule", "")
    assert "Soft rule" in page(as_user("admin"), rows[list(PURPOSES).index("soft_rule")])


@pytest.mark.full
def test_why_a_rule_could_not_be_decided_is_told(
    as_user: Callable[..., Client], run_a: TaskRun
) -> None:
    PendingAction.objects.update(reason="not_exported")
    shown = page(as_user("admin"), PendingAction.objects.get())
    assert "The study&#x27;s token does not show the field" in shown
    assert "not_exported" not in shown


@pytest.mark.full
def test_cards_and_messages_are_named(as_user: Callable[..., Client], study: Any) -> None:
    client = as_user("admin")
    card = Card.objects.create(
        task_id="t", kind="feedback", ref="1", project=study.project, to_user="x", content="{}"
    )
    message = InboxMessage.objects.create(
        project=study.project, dedup_key="k", from_user="x", msg_type="voice"
    )
    for row, name, code in ((card, "Feedback", "feedback"), (message, "Voice", "voice")):
        for shown in (listed(client, row), page(client, row)):
            assert name in shown
            assert f">{code}<" not in shown.replace("\n", "").replace(" ", "")


@pytest.mark.parametrize("model", [Dictionary, SyncState])
def test_what_a_study_has_one_of_is_named_after_it(
    as_user: Callable[..., Client], study: Any, model: Any
) -> None:
    row = model.objects.get(project=study.project)
    shown = as_user("admin").get(
        reverse(f"admin:{model._meta.label_lower.replace('.', '_')}_change", args=[row.pk])
    )
    title = shown.content.decode().partition("<title>")[2].partition("</title>")[0]
    assert "LUNG-IIT" in title
    assert str(row.pk) not in title


@pytest.mark.full
def test_the_privacy_log_is_on_the_trace(as_user: Callable[..., Client], trace: AgentTrace) -> None:
    shown = page(as_user("admin"), trace)
    table = shown[shown.index('data-test="replaced"') :].partition("</table>")[0]
    assert "姓名" in table
    assert "0123456789abcdef" in table
    AgentTrace.objects.update(replaced=[])
    assert "Nothing had to be replaced." in page(as_user("admin"), trace)

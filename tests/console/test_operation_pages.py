"""Usage with totals and caps, messages as people read them, dead letters sent again, a search tried."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from core.llm.models import LlmUsage
from projects.models import AuditEntry, Project
from tests.support.study import Study
from wechat.message_words import said_in
from wechat.models import OutboxMessage

TOTALS = "/admin/llm/llmusage/totals/"
OUTBOX = "/admin/wechat/outboxmessage/"
SEARCH = "/admin/study/protocoldocument/search/"


def used(project: Project, tokens: int, **more: Any) -> None:
    made = {"purpose": "answer", "model": "m", "input_tokens": tokens, "output_tokens": 1, **more}
    LlmUsage.objects.create(project=project, **made)


def test_tokens_are_added_up_beside_the_cap(
    as_user: Callable[..., Client], study: Study, django_assert_max_num_queries: Any
) -> None:
    LlmUsage.objects.all().delete()
    for _ in range(12):
        used(study.project, 1000)
    used(study.project, 500, purpose="weekly", ok=False)
    Project.objects.update(llm_daily_token_cap=25_026)
    client = as_user("auditor")
    with django_assert_max_num_queries(15):
        answer = client.get(TOTALS)
    ((_day, day),) = answer.context["tables"][0]["rows"]
    assert (day.calls, day.failed, day.tokens) == (13, 1, 12_513)
    purposes = [row.tokens for _name, row in answer.context["tables"][1]["rows"]]
    assert purposes == [12_012, 501]
    assert answer.context["today"][0].share == 50
    assert "12,513 / 25,026" in answer.content.decode()


def test_the_totals_leave_as_csv(as_user: Callable[..., Client], study: Study) -> None:
    LlmUsage.objects.all().delete()
    used(study.project, 1000)
    text = as_user("admin", "zh-hans").get(TOTALS, {"csv": "1"}).content.decode("utf-8-sig")
    head, *rows = text.splitlines()
    assert head.startswith("研究,")
    assert len(rows) == 2
    assert rows[0].startswith("LUNG-IIT,")
    assert rows[0].endswith(",1,0,1000,1")


@pytest.mark.parametrize("name", ["zhangyi", "wanghushi", "crc_b"])
def test_usage_is_for_those_who_supervise(
    as_user: Callable[..., Client], study: Study, name: str
) -> None:
    assert as_user(name).get(TOTALS).status_code == 403


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        ({"msgtype": "text", "touser": "x", "text": {"content": "你好"}}, "你好"),
        (
            {
                "template_card": {
                    "main_title": {"title": "待复核", "desc": "P002"},
                    "horizontal_content_list": [{"keyname": "规则", "value": "C1"}],
                    "button_list": [{"text": "同意", "key": "approve"}],
                }
            },
            "待复核\nP002\n规则: C1\n同意",
        ),
        ({}, ""),
    ],
)
def test_a_message_reads_as_its_reader_sees_it(payload: dict[str, Any], said: str) -> None:
    assert said_in(json.dumps(payload)) == said
    assert said_in("no json") == ""


def letter(study: Study, status: str) -> OutboxMessage:
    return OutboxMessage.objects.create(
        key=f"k-{status}",
        to_user="zhangyi",
        project=study.project,
        kind="text",
        payload=json.dumps({"text": {"content": "随访提醒:明天"}}),
        status=status,
        error="user not in group",
    )


@pytest.mark.full
def test_a_dead_letter_is_sent_again_from_its_page(
    as_user: Callable[..., Client], study: Study
) -> None:
    dead, sent = letter(study, "dead"), letter(study, "sent")
    client = as_user("admin")
    assert "随访提醒:明天" in client.get(OUTBOX).content.decode()
    page = client.get(f"{OUTBOX}{dead.pk}/change/").content.decode()
    assert 'data-test="resend"' in page
    assert 'data-test="resend"' not in client.get(f"{OUTBOX}{sent.pk}/change/").content.decode()
    client.post(OUTBOX, {"action": "resend", "_selected_action": str(dead.pk)})
    dead.refresh_from_db()
    assert dead.status == "pending"
    assert AuditEntry.objects.filter(action="wechat.resent", actor="admin").count() == 1


def test_a_search_shows_what_the_assistant_would_find(
    as_user: Callable[..., Client], study: Study
) -> None:
    client = as_user("wanghushi")
    answer = client.get(SEARCH, {"q": "妊娠试验什么时候做"})
    assert answer.context["found"]
    assert "妊娠" in answer.content.decode()
    nothing = client.get(SEARCH, {"q": "火星探测器"})
    assert nothing.context["found"] == []
    assert "Nothing in the documents" in nothing.content.decode()


def test_a_stranger_searches_nothing(as_user: Callable[..., Client], study: Study) -> None:
    assert as_user("charlie").get(SEARCH, {"q": "妊娠"}).status_code == 403

"""Into the outbox: once per key, in parts, in the caller's transaction (issue 5)."""

from __future__ import annotations

import json

import pytest

from core.house.db import atomic
from projects.audit import actions
from projects.models import AuditEntry, Project
from wechat.models import OutboxMessage
from wechat.outbound.outbox import Payload, enqueue, resend

pytestmark = pytest.mark.django_db
Kind, Status = OutboxMessage.Kind, OutboxMessage.Status


def put(content: str, key: str = "k", to: str = "ZhangYi", project: Project | None = None) -> None:
    enqueue(to_user=to, project=project, kind=Kind.TEXT, content=content, key=key)


def contents() -> list[str]:
    rows = OutboxMessage.objects.order_by("pk")
    return [Payload.model_validate_json(row.payload).message["text"]["content"] for row in rows]


def test_a_message_waits_in_its_lane(project: Project) -> None:
    put("你好", project=project)
    row = OutboxMessage.objects.get()
    assert (row.to_user, row.status, row.project) == ("zhangyi", Status.PENDING, project)
    assert contents() == ["你好"]


def test_the_same_key_is_inserted_once() -> None:
    put("first")
    put("second, and " + "long " * 1000)
    assert contents() == ["first"]


def test_parts_are_all_there_or_none() -> None:
    put("长" * 2000)
    assert [text[:6] for text in contents()] == ["(1/3) ", "(2/3) ", "(3/3) "]
    put("长" * 9000)
    assert OutboxMessage.objects.count() == 3


def test_a_part_inserted_meanwhile_wins_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """The race between the look and the insert: the unique key decides, the transaction lives on."""
    with atomic():
        put("theirs")
        with monkeypatch.context() as patch:
            patch.setattr("django.db.models.query.QuerySet.exists", lambda self: False)
            put("长" * 2000)
        put("after", key="other")
    assert contents() == ["theirs", "after"]


def test_nothing_to_say_is_no_message() -> None:
    put("  \n ")
    assert not OutboxMessage.objects.exists()


def test_model_text_is_made_harmless() -> None:
    put('<a href="http://evil.example">x</a>')
    assert contents() == ['＜a href="http://evil.example">x＜/a>']


def test_what_is_said_is_encrypted_at_rest() -> None:
    from django.db import connection

    put("陈建国")
    with connection.cursor() as cursor:
        cursor.execute("SELECT payload FROM iit_wechat_outbox")
        assert "陈建国" not in cursor.fetchone()[0]


def test_a_transaction_that_fails_says_nothing() -> None:
    def say_and_fail() -> None:
        with atomic():
            put("never")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        say_and_fail()
    assert not OutboxMessage.objects.exists()


def test_a_card_needs_its_content() -> None:
    with pytest.raises(ValueError, match="mapping"):
        enqueue(to_user="a", project=None, kind=Kind.CARD, content="text", key="k")


def test_a_card_keeps_its_shape_and_fallback() -> None:
    enqueue(
        to_user="a",
        project=None,
        kind=Kind.CARD,
        content={"card_type": "text_notice"},
        key="k",
        fallback="in words",
    )
    stored = json.loads(OutboxMessage.objects.get().payload)
    assert stored["message"]["template_card"] == {"card_type": "text_notice"}
    assert stored["fallback"] == "in words"


@pytest.mark.parametrize("status", [Status.FAILED, Status.DEAD])
def test_a_dead_letter_is_sent_again_and_audited(project: Project, status: str) -> None:
    put("x", project=project)
    row = OutboxMessage.objects.get()
    OutboxMessage.objects.update(status=status, attempts=9, error="gone")
    assert resend(message=row, actor="admin")
    row.refresh_from_db()
    assert (row.status, row.attempts, row.error) == (Status.PENDING, 0, "")
    assert not row.possible_duplicate
    entry = AuditEntry.objects.get(action="wechat.resent")
    assert (entry.actor, entry.object_id) == ("admin", str(row.pk))


def test_a_dead_letter_that_may_have_arrived_is_marked_when_it_is_sent_again() -> None:
    put("x")
    OutboxMessage.objects.update(status=Status.DEAD, is_ambiguous=True)
    assert resend(message=OutboxMessage.objects.get(), actor="admin")
    assert OutboxMessage.objects.get().possible_duplicate


@pytest.mark.full
@pytest.mark.parametrize("status", [Status.PENDING, Status.SENDING, Status.SENT])
def test_only_dead_letters_are_sent_again(status: str) -> None:
    put("x")
    OutboxMessage.objects.update(status=status)
    assert not resend(message=OutboxMessage.objects.get(), actor="admin")
    assert not AuditEntry.objects.filter(action="wechat.resent").exists()


def test_our_audit_actions_are_registered() -> None:
    ours = {
        "wechat.refused",
        "wechat.decision_refused",
        "wechat.click_ignored",
        "wechat.resent",
        "wechat.rated",
    }
    assert ours <= set(actions())

"""The flow log's owner (design.md 9.2)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils.timezone import now

from memory.log import flow_log
from memory.models import ConversationHistory
from projects.models import Member, Project
from study.models import Subject


@pytest.fixture
def project(db: None) -> Project:
    return Project.objects.create(code="A", name="甲", start_date="2026-01-06")


def add(
    project: Project,
    user: str,
    record_id: str | None = None,
    intent: str = "query_record",
    ago: int = 0,
) -> str:
    turn = flow_log.Turn("问", "答", intent, {"intents": [intent]}, record_id)
    at = now() - timedelta(minutes=ago)
    return str(flow_log.append(project=project, user_id=user, turn=turn, at=at))


def test_a_turn_is_two_rows(project: Project) -> None:
    answer = add(project, "li", "P001")
    rows = ConversationHistory.objects.order_by("-role")
    assert [(row.role, row.content) for row in rows] == [("user", "问"), ("assistant", "答")]
    assert str(rows[1].pk) == answer
    assert {row.record_id for row in rows} == {"P001"}


def test_feedback_goes_to_the_last_answer_and_the_latest_wins(project: Project) -> None:
    add(project, "li", ago=5)
    last = add(project, "li", ago=1)
    add(project, "other")
    give = {"project": project, "user_id": "li"}
    assert flow_log.set_feedback(**give, feedback="thumbs_down", reason="too_long")  # type: ignore[arg-type]
    assert flow_log.set_feedback(**give, feedback="thumbs_up")  # type: ignore[arg-type]
    rated = ConversationHistory.objects.exclude(feedback=None)
    assert [(str(r.pk), r.feedback, r.feedback_reason) for r in rated] == [
        (last, "thumbs_up", None)
    ]


def test_a_thank_you_for_feedback_is_no_answer(project: Project) -> None:
    answer = add(project, "li", ago=2)
    add(project, "li", intent="feedback")
    assert flow_log.set_feedback(project=project, user_id="li", feedback="thumbs_down")
    assert str(ConversationHistory.objects.get(feedback="thumbs_down").pk) == answer


def test_somebody_elses_answer_is_not_rated(project: Project) -> None:
    theirs = add(project, "other")
    assert not flow_log.set_feedback(project=project, user_id="li", feedback="thumbs_up")
    assert not flow_log.set_feedback(
        project=project, user_id="li", feedback="thumbs_up", conversation_id=theirs
    )


def test_people_read_what_is_theirs_to_see(project: Project) -> None:
    for record_id, site in (("P001", "site_a"), ("P002", "site_b")):
        Subject.objects.create(project=project, record_id=record_id, site=site, synced_at=now())
    crc = Member.objects.create(project=project, wecom_userid="li", role="CRC", site="site_a")
    pi = Member.objects.create(project=project, wecom_userid="pi", role="PI")
    add(project, "pi", "P001")
    add(project, "pi", "P002")
    add(project, "pi")
    add(project, "li")
    assert flow_log.for_member(pi).count() == 6
    admin = Member.objects.create(project=project, wecom_userid="boss", role="ADMIN")
    assert flow_log.for_member(admin).count() == 8
    assert {(r.user_id, r.record_id) for r in flow_log.for_member(crc)} == {
        ("li", None),
    }

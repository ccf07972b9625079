"""A query to the site: asked by card, answered from the phone, harmless when late, doubled or forged."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engines.models import FindingEvent, PendingAction, RunEvent
from engines.pages import finding_words
from engines.sop import deleted, finding_life
from study.models import Subject
from tests.engines.sop.kit import change, run_qc, tell
from tests.support.study import Study
from tests.wechat.working import click, outgoing, payloads, said, work
from wechat.models import Card, OutboxMessage

pytestmark = pytest.mark.django_db
ASK = "请核对 ECOG 评分"
State = PendingAction.State


@pytest.fixture
def finding(study: Study) -> PendingAction:
    run_qc(study, "P004")
    OutboxMessage.objects.all().delete()
    RunEvent.objects.all().delete()
    return PendingAction.objects.select_related("project", "task_run").get(rule_key="EL03")


def query(study: Study, finding: PendingAction, text: str = ASK) -> Card:
    finding.refresh_from_db()
    finding_life.move(finding=finding, step="query", actor=study["zhangyi"], reason=text)
    tell()
    return Card.objects.order_by("-pk")[0]


def answer(card: Card, user: str = "wanghushi", chosen: str = "corrected") -> str:
    before = len(outgoing(user))
    click(card.task_id, "answer", user, selected=chosen)
    work()
    return "\n".join(outgoing(user)[before:])


def correct(study: Study) -> None:
    """The site enters the right value in REDCap."""
    change(study, "P004", "screening_arm_1", ecog_score="1")


def state(finding: PendingAction) -> str:
    finding.refresh_from_db()
    return str(finding.state)


@pytest.mark.full
def test_the_site_is_asked_and_answers_from_the_phone(study: Study, finding: PendingAction) -> None:
    card = query(study, finding)
    tell()
    assert (card.to_user, Card.objects.count()) == ("wanghushi", 1)
    [sent] = payloads("card")
    assert ASK in str(sent)
    assert f"/admin/engines/pendingaction/{finding.pk}/change/" in str(sent)
    correct(study)
    assert answer(card) == ""
    assert state(finding) == State.DATA_CHANGED, "the checks have run again"
    event = FindingEvent.objects.get(what="correct")
    assert (event.by, event.note) == ("wanghushi", said("Corrected"))
    [update] = payloads("card_update")
    assert said("Corrected") in update["template_card"]["sub_title_text"]


@pytest.mark.full
def test_doubled_and_late_clicks_change_nothing(study: Study, finding: PendingAction) -> None:
    card = query(study, finding)
    answer(card, chosen="verified")
    told = answer(card, chosen="no_source")
    assert "wanghushi" in told
    assert said("Data are right") in told
    assert FindingEvent.objects.filter(what="answer").count() == 1
    newer = query(study, finding, "再次核对")
    assert newer.task_id != card.task_id
    answer(card, chosen="verified")  # of the first query
    assert state(finding) == State.QUERIED
    assert answer(newer, chosen="verified") == ""
    assert state(finding) == State.ANSWERED
    assert len(payloads("card_update")) == 2


@pytest.mark.full
def test_an_answer_is_chosen_first(study: Study, finding: PendingAction) -> None:
    card = query(study, finding)
    for chosen in ("", "nonsense"):
        assert answer(card, chosen=chosen) == said("Please choose an answer first.")
    assert state(finding) == State.QUERIED


@pytest.mark.full
def test_nobody_else_answers(study: Study, finding: PendingAction) -> None:
    card = query(study, finding)
    for user in ("crc_b", "zhangyi"):
        assert answer(card, user) == said("This card is meant for somebody else.")
    study.project.members.filter(person__wecom_userid="wanghushi").update(site="site_b")
    assert answer(card) == said("This card is meant for somebody else.")
    assert state(finding) == State.QUERIED


@pytest.mark.full
def test_what_was_settled_in_the_console_takes_the_buttons_off(
    study: Study, finding: PendingAction
) -> None:
    card = query(study, finding)
    finding_life.move(finding=finding, step="reject", actor=study["zhangyi"], reason="误报")
    tell()
    card.refresh_from_db()
    assert card.state == Card.State.CLOSED
    [update] = payloads("card_update")
    assert "误报" in update["template_card"]["sub_title_text"]
    assert "误报" in answer(card)
    assert state(finding) == State.REJECTED


@pytest.mark.full
@pytest.mark.parametrize("gone", [False, True])
def test_what_the_site_corrects_or_deletes_takes_the_buttons_off(
    study: Study, finding: PendingAction, gone: bool
) -> None:
    card = query(study, finding)
    if gone:
        deleted.mark_gone(study.project, "P004")
    else:
        correct(study)
        run_qc(study, "P004")
    tell()
    card.refresh_from_db()
    assert card.state == Card.State.CLOSED
    assert state(finding) == (State.GONE if gone else State.DATA_CHANGED)


@pytest.mark.full
def test_the_query_about_a_record_that_came_back_is_asked_again(
    study: Study, finding: PendingAction
) -> None:
    first = query(study, finding)
    deleted.mark_gone(study.project, "P004")
    deleted.mark_back(study.project, "P004")
    tell()
    again = Card.objects.order_by("-pk")[0]
    assert (again.pk != first.pk, again.state) == (True, Card.State.OPEN)
    assert ASK in str(payloads("card")[-1])
    assert answer(again, chosen="verified") == ""
    assert state(finding) == State.ANSWERED


def test_who_was_settled_before_anybody_was_asked_gets_no_card(
    study: Study, finding: PendingAction
) -> None:
    finding_life.move(finding=finding, step="query", actor=study["zhangyi"], reason=ASK)
    finding_life.move(finding=finding, step="answer", actor=study["wanghushi"], reason="电话")
    tell()
    assert not Card.objects.exists()


def test_the_assignee_is_asked_where_there_is_one(study: Study, finding: PendingAction) -> None:
    finding_life.assign(finding=finding, assignee="zhangyi", due_on=None, actor=study["wanghushi"])
    assert query(study, finding).to_user == "zhangyi"


def content_of(card: Card) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(card.content)
    return content


def test_the_card_shows_what_was_found_and_where(study: Study, finding: PendingAction) -> None:
    card = content_of(query(study, finding))
    told = " ".join(row["value"] for row in card["horizontal_content_list"])
    assert finding_words.value_words(finding) in told
    named = finding_words.worded(PendingAction.objects.filter(pk=finding.pk)).get()
    assert all(part in told for part in finding_words.place_words(named).split(" · "))
    assert finding.message in card["sub_title_text"] + card.get("quote_area", {}).get(
        "quote_text", ""
    )
    assert [one.get("key") for one in card["button_list"]] == ["answer"]


@pytest.mark.full
@pytest.mark.parametrize("part", ["question", "message", "value"])
def test_what_does_not_fit_whole_is_answered_in_the_console(
    study: Study, finding: PendingAction, part: str
) -> None:
    """Nobody answers by a tap what the card has cut."""
    long = "请核对" * 67
    if part != "question":
        PendingAction.objects.filter(pk=finding.pk).update(**{part: long, "detail": ""})
    card = query(study, finding, long if part == "question" else ASK)
    content = content_of(card)
    [button] = content["button_list"]
    assert "key" not in button
    assert button["url"].endswith(f"/admin/engines/pendingaction/{finding.pk}/change/")
    assert "button_selection" not in content
    assert said("The query does not fit on a card: please answer it in the console.") in str(
        content
    )
    answer(card, chosen="verified")
    assert state(finding) == State.QUERIED


@pytest.mark.full
def test_no_identifier_is_on_a_query(study: Study, finding: PendingAction) -> None:
    subject = Subject.objects.get(project=study.project, record_id="P004")
    subject.identifiers = json.dumps({"subject_name": "陈建国"}, ensure_ascii=False)
    subject.save()
    content = str(content_of(query(study, finding, "请陈建国补签")))
    assert "陈建国" not in content
    assert "请***补签" in content

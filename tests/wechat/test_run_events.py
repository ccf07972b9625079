"""What happened to a run is told after its transaction: nothing lost, nothing doubled, nothing outdated."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth import get_user_model
from django.utils.timezone import now

from core.house.db import atomic
from engines import sop, tasks
from engines.models import Review, RunEvent
from engines.sop import run_events
from engines.sop.run_events import Kind
from projects.models import Member, Person
from study.models import Subject
from tests.engines.sop.kit import hard, human, new_skill, review_of, run_of, tell
from tests.support.study import Study
from tests.support.tasks import drain, purge
from tests.wechat.test_decisions import change
from tests.wechat.working import click, deliver, outgoing, payloads, work
from wechat.models import Card, OutboxMessage
from wechat.reviews import reconcile

pytestmark = pytest.mark.django_db
Ask = Callable[..., Review]


@pytest.fixture
def asked(study: Study) -> Ask:
    """A run that waits for a person; no worker has told anybody of it."""
    skill = new_skill(study, {"ask": human()})
    return lambda record="P001": review_of(run_of(study, skill, record))


def approve(study: Study, review: Review) -> None:
    sop.decide(
        review_id=review.pk,
        actor=study["wanghushi"],
        decision="approve",
        reason="已核对",
        seen=review.seen,
    )


def events() -> list[RunEvent]:
    return [*RunEvent.objects.order_by("pk")]


def kinds() -> list[str]:
    return [row.kind for row in events()]


def messages() -> list[str]:
    rows = OutboxMessage.objects.order_by("pk")
    return [f"{row.kind} {row.to_user}" for row in rows]


def shown() -> str:
    """What the changed card says."""
    [update] = payloads("card_update")
    return str(update["template_card"]["sub_title_text"])


def later(**span: float) -> time_machine.travel:
    return time_machine.travel(now() + timedelta(**span), tick=True)


def test_a_run_leaves_one_row_a_transaction(study: Study, asked: Ask) -> None:
    review = asked()
    approve(study, review)
    about = [(row.kind, row.run_id, row.review_id, row.version) for row in events()]
    both = [Kind.REVIEW_REQUESTED, Kind.REVIEW_DECIDED]
    assert about == [(kind, review.task_run_id, review.pk, 1) for kind in both]
    assert messages() == []
    assert {row.project_id for row in events()} == {study.project.pk}


@pytest.mark.full
def test_each_is_told_once_in_its_order(study: Study, asked: Ask) -> None:
    review = asked()
    tell()
    tell()
    assert messages() == ["card wanghushi", "text zhangyi"]
    approve(study, review)
    tell()
    tell()
    assert messages()[2:] == ["card_update wanghushi", "text zhangyi"]
    assert [row.attempts for row in events() if row.told_at] == [1, 1]


@pytest.mark.full
def test_who_decided_before_anybody_was_asked_gets_no_card(study: Study, asked: Ask) -> None:
    """The console was faster than the worker: a card with live buttons would be a lie."""
    approve(study, asked())
    tell()
    assert messages() == ["text zhangyi"]
    assert "已完成" in outgoing("zhangyi")[0]
    assert not Card.objects.exists()


@pytest.mark.full
def test_a_cancelled_run_is_told_as_that_only(study: Study, asked: Ask) -> None:
    review = asked()
    sop.cancel(run=review.task_run, actor="admin", reason="已重做")
    tell()
    assert messages() == ["text zhangyi"]
    assert "已重做" in outgoing("zhangyi")[0]


def test_a_run_without_a_review_is_told_at_its_end(study: Study) -> None:
    run = run_of(study, new_skill(study, {"check": hard()}))
    assert kinds() == [Kind.RUN_FINISHED]
    with atomic():
        run_events.keep_event(Kind.RUN_FINISHED, run)
    tell()
    assert messages() == ["text zhangyi"], "whatever is told twice arrives once"


def test_only_the_newest_question_is_asked(study: Study, asked: Ask) -> None:
    review = asked()
    Review.objects.filter(pk=review.pk).update(version=2)
    review.refresh_from_db()
    with atomic():
        run_events.keep_event(Kind.REVIEW_REQUESTED, review.task_run, review)
    tell()
    assert [card["template_card"]["task_id"] for card in payloads("card")] == [
        f"review_{review.pk}@2"
    ]


def test_who_lost_sight_of_the_subject_meanwhile_is_told_nothing(study: Study, asked: Ask) -> None:
    asked()
    Subject.objects.filter(record_id="P001").update(site="site_b")
    Member.objects.filter(wecom_userid="zhangyi").update(is_active=False)
    tell()
    assert messages() == ["card crc_b"]


def test_a_transaction_that_fails_leaves_nothing_to_tell(study: Study, asked: Ask) -> None:
    review = asked()
    RunEvent.objects.all().delete()

    def fail() -> None:
        with atomic():
            run_events.keep_event(Kind.REVIEW_REQUESTED, review.task_run, review)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert not events()


def test_a_worker_that_comes_second_makes_nothing_of_it(study: Study, asked: Ask) -> None:
    asked()
    [row] = events()
    assert run_events._told(row)
    assert not run_events._told(row), "another worker read the row before it was done"
    assert messages() == ["card wanghushi", "text zhangyi"]
    assert events()[0].attempts == 1


@pytest.mark.full
def test_the_sweeper_finds_what_nobody_was_woken_for(study: Study, asked: Ask) -> None:
    run = asked().task_run_id
    purge()
    tasks.sweep_runs()
    assert "engines.tasks.tell_events" in drain()
    assert messages() == ["card wanghushi", "text zhangyi"]
    assert run not in run_events.lanes_due(10)


@pytest.mark.full
def test_asked_anew_before_anybody_was_told(study: Study, asked: Ask) -> None:
    """The newest question goes out, and who ordered the run still hears that it waits."""
    review = asked()
    change(study)
    with pytest.raises(sop.ValuesChanged):
        approve(study, review)
    tell()
    assert messages() == ["text zhangyi", "card wanghushi"]
    assert [card.version for card in Card.objects.all()] == [2]


@pytest.mark.full
def test_a_decider_with_an_account_only_is_named(study: Study, asked: Ask) -> None:
    person = Person.objects.create(user=get_user_model().objects.create(username="liwei"))
    member = Member.objects.create(
        project=study.project, person=person, display_name="李协调", role="CRC", site="site_a"
    )
    review = asked()
    tell()
    sop.decide(
        review_id=review.pk, actor=member, decision="approve", reason="已核对", seen=review.seen
    )
    tell()
    assert "李协调" in shown()


@pytest.mark.full
def test_of_two_who_are_called_alike_neither_is_named(study: Study, asked: Ask) -> None:
    person = Person.objects.create(user=get_user_model().objects.create(username="liwei"))
    member = Member.objects.create(
        project=study.project, person=person, display_name="李协调", role="CRC", site="site_a"
    )
    other = Person.objects.create(wecom_userid="liwei")
    Member.objects.create(project=study.project, person=other, display_name="李薇", role="AUDITOR")
    review = asked()
    tell()
    sop.decide(
        review_id=review.pk, actor=member, decision="approve", reason="已核对", seen=review.seen
    )
    tell()
    assert "liwei" in shown()
    assert "李" not in shown()


@pytest.mark.full
def test_the_second_click_before_a_worker_came_shows_who_decided(study: Study, asked: Ask) -> None:
    """Two reviewers click; the card says what was decided, in one change, not what the second is told."""
    Member.objects.create(
        project=study.project, wecom_userid="chen", role="CRC", site="site_a", language="en"
    )
    review = asked()
    tell()
    for user in ("wanghushi", "chen"):
        click(f"review_{review.pk}@1", "approve", user, selected="r_ok")
    work()
    [update] = payloads("card_update")
    assert update["template_card"]["replace_text"] == str(Review.Status.APPROVED.label)
    assert "王护士" in shown()


def test_a_question_that_nobody_was_asked_in_time_is_not_asked_when_it_is_over(
    study: Study, asked: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ten-minute job has read the review as open; it is decided, and told, before the job looks at it."""
    review = asked()
    look = reconcile._look_at

    def between(seen: Review) -> bool:
        approve(study, review)
        tell()
        return look(seen)

    monkeypatch.setattr(reconcile, "_look_at", between)
    with later(minutes=6):
        reconcile.reconcile()
    assert not Card.objects.exists()


@pytest.mark.full
@pytest.mark.parametrize("end", ["decided", "cancelled"])
def test_a_card_whose_event_cannot_be_told_loses_its_buttons(
    study: Study, asked: Ask, end: str
) -> None:
    review = asked()
    tell()
    if end == "decided":
        approve(study, review)
    else:
        sop.cancel(run=review.task_run, actor="admin", reason="已重做")
    whole = _break(events()[1])
    tell()
    assert reconcile.reconcile() == 1
    assert reconcile.reconcile() == 0
    assert messages()[2:] == ["card_update wanghushi"]
    RunEvent.objects.filter(told_at=None).update(kind=whole)
    with later(minutes=5):
        tell()
    assert messages()[2:] == ["card_update wanghushi", "text zhangyi"]


def test_a_deleted_run_has_nothing_to_tell(study: Study, asked: Ask) -> None:
    asked().task_run.delete()
    tell()
    assert messages() == []
    assert not events()


@pytest.fixture(autouse=True)
def _teleported(monkeypatch: pytest.MonkeyPatch) -> None:
    """An event that no reader can make anything of."""

    def fail(_event: RunEvent) -> None:
        raise ValueError("陈建国")

    monkeypatch.setitem(run_events._readers, "teleported", [fail])


def _break(row: RunEvent) -> str:
    """What kind it was before."""
    RunEvent.objects.filter(pk=row.pk).update(kind="teleported")
    return row.kind


@pytest.mark.full
def test_what_cannot_be_told_waits_and_stops_nobody_else(study: Study, asked: Ask) -> None:
    first, _second = asked("P001"), asked("P004")
    _break(events()[0])
    tell()
    broken, other = events()
    assert (broken.told_at, broken.attempts, broken.error) == (None, 1, "ValueError")
    assert broken.available_at > now()
    assert other.told_at
    approve(study, first)
    tell()
    assert not events()[2].told_at, "the decision is not told before the question"


@pytest.mark.full
def test_what_was_tried_often_holds_nobody_up_and_is_told_after_all(
    study: Study, asked: Ask, caplog: pytest.LogCaptureFixture
) -> None:
    review = asked()
    whole = _break(events()[0])
    for turn in range(run_events.MOST_TRIALS):
        with later(hours=turn):
            tell()
    [row] = events()
    assert (row.told_at, row.attempts) == (None, run_events.MOST_TRIALS)
    assert f"ALERT run event {row.pk} not told" in caplog.text
    assert "陈建国" not in caplog.text
    approve(study, review)
    tell()
    assert messages() == ["text zhangyi"], "what comes after it passes it by"
    RunEvent.objects.filter(pk=row.pk).update(kind=whole)
    with later(hours=run_events.MOST_TRIALS + 2):
        tell()
    assert all(row.told_at for row in events())
    assert messages() == ["text zhangyi"], "by now nobody has to be asked"


@pytest.mark.full
def test_a_reader_that_fails_leaves_nothing_of_the_others(
    study: Study, asked: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two channels read the same event: one transaction, so neither hears it twice."""
    asked()
    broken = [True]

    def second(_event: RunEvent) -> None:
        if broken:
            raise RuntimeError

    first = run_events._readers[Kind.REVIEW_REQUESTED]
    monkeypatch.setitem(run_events._readers, Kind.REVIEW_REQUESTED, [*first, second])
    tell()
    assert messages() == []
    broken.clear()
    with later(minutes=1):
        tell()
    assert messages() == ["card wanghushi", "text zhangyi"]


@pytest.mark.full
def test_what_was_told_long_ago_is_forgotten(study: Study, asked: Ask) -> None:
    asked()
    with later(days=30):
        run_events.forget()
    assert len(events()) == 1, "nobody was told of it"
    tell()
    with later(days=6):
        run_events.forget()
    assert len(events()) == 1
    with later(days=8):
        run_events.forget()
    assert not events()


@pytest.mark.full
def test_nothing_of_an_event_goes_to_wecom(study: Study, asked: Ask) -> None:
    approve(study, asked())
    deliver()
    shown = study.stand_ins.sent()
    assert [row["to"] for row in shown] == ["zhangyi"]
    assert not any("run:" in json.dumps(row, ensure_ascii=False) for row in shown)

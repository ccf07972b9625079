"""The card of a visit reminder: asked once a day, answered once, whatever is clicked how often."""

from __future__ import annotations

from datetime import timedelta

import pytest

from engines import sop
from engines.models import VisitReminder
from engines.sop import visit_reminders
from projects.models import AuditEntry, Member, Person
from study.models import Reading, ReadingState
from tests.engines.cron.kit import at, clock, do_visit, fired, no_rest, skill_of
from tests.engines.sop.kit import go, tell
from tests.support.study import Study
from tests.wechat.working import click, outgoing, payloads, said, work
from wechat.models import Card, OutboxMessage

pytestmark = pytest.mark.django_db
USER = "wanghushi"


@pytest.fixture
def asked(study: Study) -> Study:
    """The reminder of nine o'clock, with its cards."""
    no_rest(study)
    with at(clock(study, "09:00")):
        fired(study, "visit_reminder")
    return study


def card(record_id: str = "P008", user: str = USER, days: int = 0) -> Card:
    rows = VisitReminder.objects.filter(record_id=record_id, member__wecom_userid=user)
    reminder = rows.order_by("asked_on")[days]
    return Card.objects.get(kind="visit", ref=str(reminder.pk))


def tap(one: Card, key: str, user: str = USER) -> None:
    click(one.task_id, key, user)
    work()


def notes() -> list[str]:
    return [one["template_card"]["sub_title_text"] for one in payloads("card_update")]


def answers(record_id: str = "P008") -> list[str]:
    rows = VisitReminder.objects.filter(record_id=record_id)
    return [*rows.exclude(answer="").values_list("answer", flat=True)]


def colleague(study: Study) -> Member:
    person = Person.objects.create(wecom_userid="crc_a2")
    return Member.objects.create(project=study.project, person=person, role="CRC", site="site_a")


@pytest.mark.full
def test_each_reader_is_asked_about_their_own_site(asked: Study) -> None:
    sent = [one["template_card"] for one in payloads(OutboxMessage.Kind.CARD)]
    assert sent
    for one in sent:
        assert [button["key"] for button in one["button_list"]] == [
            "done",
            "reschedule",
            "tomorrow",
        ]
        assert "测试" not in str(one)
    mine = VisitReminder.objects.filter(member__wecom_userid="crc_b")
    assert not mine.filter(record_id="P008").exists()
    assert VisitReminder.objects.filter(member__wecom_userid=USER, record_id="P008").exists()
    for member in {*VisitReminder.objects.values_list("member", flat=True)}:
        number = VisitReminder.objects.filter(member=member).count()
        assert number <= visit_reminders.MOST


@pytest.mark.parametrize("key", ["done", "reschedule", "tomorrow"])
def test_an_answer_is_kept_shown_and_audited(asked: Study, key: str) -> None:
    before = len(outgoing(USER))
    with at(clock(asked, "09:30")):
        tap(card(), key)
    assert answers() == [key]
    assert len(notes()) == 1
    assert len(outgoing(USER)) == before
    entry = AuditEntry.objects.get(action="visit.answer")
    assert (entry.record_id, entry.actor) == ("P008", USER)


@pytest.mark.full
def test_a_second_click_changes_nothing(asked: Study) -> None:
    with at(clock(asked, "09:30")):
        tap(card(), "done")
        tap(card(), "done")
        tap(card(), "tomorrow")
    assert answers() == ["done"]
    assert AuditEntry.objects.filter(action="visit.answer").count() == 1
    assert outgoing(USER)[-1] == said("Noted: done. Please enter the visit date in REDCap.")


@pytest.mark.full
def test_a_stranger_and_a_colleague_do_not_answer_for_others(asked: Study) -> None:
    with at(clock(asked, "09:30")):
        tap(card(), "done", user="zhangyi")
        tap(card(), "done", user="nobody")
    assert answers() == []
    assert said("This card is meant for somebody else.") in outgoing("zhangyi")


@pytest.mark.full
def test_one_answer_settles_it_for_all(study: Study) -> None:
    no_rest(study)
    colleague(study)
    with at(clock(study, "09:00")):
        fired(study, "visit_reminder")
        tap(card(), "done")
        tap(card(user="crc_a2"), "reschedule", user="crc_a2")
    assert answers() == ["done"]
    assert said("Answered by somebody else: %(answer)s") % {"answer": said("Done")} in notes()


@pytest.mark.full
def test_what_is_settled_is_not_asked_for_the_next_day(asked: Study) -> None:
    with at(clock(asked, "09:30")):
        tap(card(), "done")
    with at(clock(asked, "09:00", days=1)):
        fired(asked, "visit_reminder")
    rows = VisitReminder.objects.filter(member__wecom_userid=USER)
    assert rows.filter(record_id="P008").count() == 1
    assert rows.filter(record_id="P006").count() == 2


@pytest.mark.full
def test_a_card_of_yesterday_is_outdated(asked: Study) -> None:
    old = card()
    with at(clock(asked, "09:00", days=1)):
        fired(asked, "visit_reminder")
        tap(old, "done")
    assert answers() == []
    old.refresh_from_db()
    assert old.state == Card.State.CLOSED
    assert said("There is a newer reminder.") in notes()


@pytest.mark.full
def test_fired_twice_it_asks_once(asked: Study) -> None:
    number = Card.objects.filter(kind="visit").count()
    with at(clock(asked, "10:00")):
        fired_again(asked)
    assert Card.objects.filter(kind="visit").count() == number


def fired_again(study: Study) -> None:
    run = sop.start(
        project=study.project,
        skill=skill_of(study, "visit_reminder"),
        record_id=None,
        triggered_by="admin",
        wake=False,
    )
    go(run)
    tell()


@pytest.mark.full
def test_tomorrow_is_kept_without_the_schedule(asked: Study) -> None:
    with at(clock(asked, "09:30")):
        tap(card(), "tomorrow")
        visit_reminders.keep_promises()
        tell()
    assert VisitReminder.objects.filter(record_id="P008").count() == 1
    for _trial in range(2):
        with at(clock(asked, "09:30", days=1)):
            visit_reminders.keep_promises()
            tell()
    found = VisitReminder.objects.filter(record_id="P008", member__wecom_userid=USER)
    first, second = found.order_by("asked_on")
    assert second.asked_on - first.asked_on == timedelta(days=1)
    assert OutboxMessage.objects.filter(key__startswith=f"card:visit_{second.pk}@").count() == 1


@pytest.mark.full
def test_tomorrow_is_not_asked_for_what_was_done_since(asked: Study) -> None:
    with at(clock(asked, "09:30")):
        tap(card(), "tomorrow")
        do_visit(asked, "P008", "V2")
    with at(clock(asked, "09:30", days=1)):
        visit_reminders.keep_promises()
        tell()
    assert VisitReminder.objects.filter(record_id="P008").count() == 1


@pytest.mark.full
def test_an_outage_breaks_no_promise(asked: Study) -> None:
    with at(clock(asked, "09:30")):
        tap(card(), "tomorrow")
    with at(clock(asked, "09:30", days=1)):
        Reading.objects.all().delete()
        ReadingState.objects.all().delete()
        asked.stand_ins.fault("redcap", "status", 500, times=3)
        visit_reminders.keep_promises()
        assert VisitReminder.objects.filter(record_id="P008").count() == 1
        visit_reminders.keep_promises()
        tell()
    assert VisitReminder.objects.filter(record_id="P008").count() == 2


@pytest.mark.full
def test_who_sees_no_cards_gets_the_text_alone(study: Study) -> None:
    no_rest(study)
    Member.objects.filter(wecom_userid=USER).update(plain_text=True)
    with at(clock(study, "09:00")):
        fired(study, "visit_reminder")
    assert not VisitReminder.objects.filter(member__wecom_userid=USER).exists()
    assert any("P008" in text for text in outgoing(USER))

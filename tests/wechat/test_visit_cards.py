"""The card of a visit reminder: asked once a day, answered once, whatever is clicked how often."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from engines import sop
from engines.models import VisitReminder
from engines.sop import visit_reminders
from memory.models import ProjectMemory
from projects.models import AuditEntry, Member, Person, Project
from skills.services import save_skill
from study.models import Reading, ReadingState
from tests.engines.cron.kit import at, clock, do_visit, fired, no_rest, skill_of, today
from tests.engines.sop.kit import change, go, tell
from tests.engines.sop.test_findings_life import rows_of
from tests.support.study import Study
from tests.support.tasks import drain
from tests.wechat.working import click, outgoing, payloads, said, work
from wechat.models import Card, OutboxMessage
from wechat.outbound import sender
from wechat.tasks import sweep

pytestmark = pytest.mark.django_db
USER = "wanghushi"
Status = OutboxMessage.Status


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


@pytest.fixture
def held(study: Study) -> Study:
    hold(study)
    return study


def hold(study: Study) -> None:
    """The reminder of nine o'clock, whose reader wants it at six in the evening."""
    no_rest(study)
    content = f"# 用户画像\n\n## 某人 (user_id: {USER})\n- **最佳通知时间**: 18:00"
    ProjectMemory.objects.filter(project=study.project).update(content=content)
    with at(clock(study, "09:00")):
        fired(study, "visit_reminder")
    assert {row.status for row in outbox()} == {Status.HELD}


def outbox(user: str = USER, kind: str = "card") -> list[OutboxMessage]:
    return [*OutboxMessage.objects.filter(to_user=user, kind=kind).order_by("pk")]


def sweep_at(moment: datetime) -> None:
    with at(moment):
        sweep()
        drain()


def cards_sent(study: Study, user: str = USER) -> list[str]:
    """The titles of the cards that a reader has."""
    sent = [one for one in study.stand_ins.sent() if one["type"] == "template_card"]
    return [str(one["content"]["main_title"]["title"]) for one in sent if one["to"] == user]


def about(record_id: str, titles: list[str]) -> list[str]:
    return [one for one in titles if f"{record_id} " in one]


def withdraw_subject(study: Study, record_id: str) -> None:
    field = study.project.withdraw_field
    place = next(row for row in rows_of(study, record_id) if field in row)
    change(study, record_id, str(place["redcap_event_name"]), **{field: "2026-01-01"})


def switch_off(study: Study) -> None:
    skill = skill_of(study, "visit_reminder")
    skill.is_active = False
    save_skill(skill=skill, actor="admin")


@pytest.mark.full
def test_a_card_that_waited_still_asks(held: Study) -> None:
    number = len(outbox())
    sweep_at(clock(held, "18:00"))
    assert len(cards_sent(held)) == number
    assert about("P008", cards_sent(held))


@pytest.mark.full
@pytest.mark.parametrize("what", ["done", "withdrew"])
def test_a_card_is_withdrawn_when_its_visit_is_settled(held: Study, what: str) -> None:
    if what == "done":
        do_visit(held, "P008", "V2")
    else:
        withdraw_subject(held, "P008")
    sweep_at(clock(held, "18:00"))
    assert cards_sent(held)
    assert not about("P008", cards_sent(held))


@pytest.mark.full
@pytest.mark.parametrize("what", ["left", "other role", "other site", "switched off", "closed"])
def test_a_card_goes_to_nobody_who_may_not_know_its_visit(held: Study, what: str) -> None:
    changes: dict[str, dict[str, Any]] = {
        "left": {"is_active": False},
        "other role": {"role": "AUDITOR"},
        "other site": {"site": "site_b"},
    }
    if what == "switched off":
        switch_off(held)
    elif what == "closed":
        Project.objects.filter(pk=held.project.pk).update(status=Project.Status.CLOSED)
    else:
        Member.objects.filter(wecom_userid=USER).update(**changes[what])
    sweep_at(clock(held, "18:00"))
    assert not cards_sent(held)
    assert {row.status for row in outbox()} == {Status.WITHDRAWN}


@pytest.mark.full
def test_a_card_that_waits_is_withdrawn_when_a_colleague_answers(study: Study) -> None:
    colleague(study)
    hold(study)
    sweep_at(clock(study, "09:01"))
    with at(clock(study, "10:00")):
        tap(card(user="crc_a2"), "done", user="crc_a2")
    sweep_at(clock(study, "18:00"))
    assert answers() == ["done"]
    assert cards_sent(study)
    assert not about("P008", cards_sent(study))
    assert {row.status for row in outbox()} == {Status.SENT, Status.WITHDRAWN}
    assert not outbox(kind="card_update")


@pytest.mark.full
@pytest.mark.parametrize("by", ["a colleague's answer", "a newer reminder"])
def test_a_card_that_was_withdrawn_is_not_updated_when_it_is_closed(study: Study, by: str) -> None:
    colleague(study)
    hold(study)
    reader = Member.objects.filter(wecom_userid=USER)
    reader.update(is_active=False)
    sweep_at(clock(study, "18:00"))
    reader.update(is_active=True)
    if by == "a newer reminder":
        with at(clock(study, "19:00", days=1)):
            fired(study, "visit_reminder")
    else:
        with at(clock(study, "18:30")):
            tap(card(user="crc_a2"), "done", user="crc_a2")
    assert card().state == Card.State.CLOSED
    assert not outbox(kind="card_update")


@pytest.mark.full
def test_a_card_that_nobody_was_sent_is_withdrawn_and_not_updated(asked: Study) -> None:
    """WeCom was away: the card of yesterday is still in its lane when there is a newer one."""
    with at(clock(asked, "09:00", days=1)):
        fired(asked, "visit_reminder")
        sender.send_lane(USER)
    old = OutboxMessage.objects.get(key=f"card:{card().task_id}#1")
    assert old.status == Status.WITHDRAWN
    assert len(about("P008", cards_sent(asked))) == 1
    assert not outbox(kind="card_update")


@pytest.mark.full
def test_what_cannot_be_read_again_is_asked(held: Study) -> None:
    number = len(outbox())
    held.stand_ins.fault("redcap", "status", 503, times=None)
    sweep_at(clock(held, "18:00"))
    assert len(cards_sent(held)) == number


@pytest.mark.full
def test_after_days_of_rest_a_visit_is_asked_about_once(study: Study) -> None:
    no_rest(study)
    Project.objects.update(quiet_weekends=True)
    saturday = (5 - today(study).weekday()) % 7
    for days in (saturday, saturday + 1):
        with at(clock(study, "09:00", days)):
            fired(study, "visit_reminder")
    asked = VisitReminder.objects.filter(member__wecom_userid=USER)
    visits = {*asked.values_list("record_id", "visit")}
    assert asked.count() > len(visits) > 0
    sweep_at(clock(study, "07:31", saturday + 2))
    sent = cards_sent(study)
    assert sent
    assert sorted(sent) == sorted({*sent})
    assert len(sent) == len(visits)
    assert {row.status for row in outbox()} == {Status.SENT, Status.WITHDRAWN}
    assert not outbox(kind="card_update")


@pytest.mark.full
def test_tomorrow_counts_from_the_day_it_was_tapped(asked: Study) -> None:
    with at(clock(asked, "08:30", days=1)):
        tap(card(), "tomorrow")
        visit_reminders.keep_promises()
        tell()
    mine = VisitReminder.objects.filter(record_id="P008", member__wecom_userid=USER)
    assert mine.count() == 1
    with at(clock(asked, "09:30", days=2)):
        visit_reminders.keep_promises()
        tell()
    first, second = mine.order_by("asked_on")
    assert second.asked_on - first.asked_on == timedelta(days=2)


@pytest.mark.full
@pytest.mark.parametrize("what", ["closed", "switched off"])
def test_tomorrow_is_not_kept_in_a_study_that_asks_no_more(asked: Study, what: str) -> None:
    with at(clock(asked, "09:30")):
        tap(card(), "tomorrow")
    if what == "closed":
        Project.objects.filter(pk=asked.project.pk).update(status=Project.Status.CLOSED)
    else:
        switch_off(asked)
    before = OutboxMessage.objects.count()
    with at(clock(asked, "09:30", days=1)):
        visit_reminders.keep_promises()
        tell()
    assert VisitReminder.objects.filter(record_id="P008", member__wecom_userid=USER).count() == 1
    assert OutboxMessage.objects.count() == before


@pytest.mark.full
def test_a_study_that_cannot_be_read_holds_up_no_other(
    asked: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visit_reminders, "AT_ONCE", 1)
    with at(clock(asked, "09:30")):
        tap(card(), "tomorrow")
    lost = promise_of_another_study(asked)
    with at(clock(asked, "09:30", days=1)):
        visit_reminders.keep_promises()
        tell()
    assert VisitReminder.objects.filter(record_id="P008", member__wecom_userid=USER).count() == 2
    lost.refresh_from_db()
    assert not lost.is_again


def promise_of_another_study(study: Study) -> VisitReminder:
    """Of a study without REDCap, older than all others."""
    other = Project.objects.create(code="away", name="away", start_date="2026-01-01")
    person = Person.objects.get(wecom_userid=USER)
    day = today(study).date()
    return VisitReminder.objects.create(
        pk=-1,
        project=other,
        run=VisitReminder.objects.order_by("pk")[0].run,
        member=Member.objects.create(project=other, person=person, role="CRC"),
        record_id="X1",
        visit="V1",
        opens=day,
        closes=day,
        asked_on=day,
        answer=VisitReminder.Answer.TOMORROW,
        quiet_until=day,
    )


@pytest.mark.full
def test_a_promise_that_could_not_be_kept_for_long_is_given_up(asked: Study) -> None:
    with at(clock(asked, "09:30")):
        tap(card(), "tomorrow")
    with at(clock(asked, "09:30", days=8)):
        visit_reminders.keep_promises()
        tell()
    assert VisitReminder.objects.filter(record_id="P008", member__wecom_userid=USER).count() == 1

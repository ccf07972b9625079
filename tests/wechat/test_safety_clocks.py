"""A serious event without a report: clock, notices, overdue finding, closing by data, each at its time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction

from engines import safety
from engines.agenda import Kind, agenda
from engines.models import ClockStage, Deviation, PendingAction, SafetyClock
from engines.pages.safety import state_words
from projects.models import AuditEntry, Member, Project
from study import sync
from study.models import BlindedField, ReadingState
from tests.engines.cron.kit import at, clock
from tests.engines.safety_kit import NEW, TOLD, enter, read, swept, switched_on
from tests.support.study import Study
from tests.wechat.working import outgoing, payloads
from wechat.models import Alert, Card, OutboxMessage
from wechat.outbound import safety_notices

pytestmark = pytest.mark.django_db


@pytest.fixture
def running(study: Study) -> Study:
    """The clocks run since yesterday; what the demo study holds was told then."""
    with at(clock(study, "08:00", days=-1)):
        switched_on(study)
    OutboxMessage.objects.all().delete()
    Card.objects.all().delete()
    return study


def mine() -> SafetyClock:
    return SafetyClock.objects.get(record_id="P001", instance=NEW)


def told_to(user: str) -> list[dict[str, Any]]:
    """The cards that went to somebody."""
    rows = OutboxMessage.objects.filter(kind="card").order_by("pk")
    cards = zip(rows.values_list("to_user", flat=True), payloads("card"), strict=True)
    return [one["template_card"] for lane, one in cards if user in lane.split("|")]


def finding() -> PendingAction | None:
    return PendingAction.objects.filter(record_id="P001", skill_type=safety.TYPE).first()


def stages() -> list[str]:
    return [*ClockStage.objects.filter(clock=mine()).order_by("pk").values_list("stage", flat=True)]


@pytest.mark.full
def test_each_comes_at_its_time_and_once(running: Study) -> None:
    today = clock(running, "00:00")
    with at(clock(running, "09:00")):
        enter(running, ae_start=f"{today:%Y-%m-%d}")
        swept()
        assert (mine().started_at, mine().started_from) == (today, "known")
        assert mine().due_at == today + timedelta(hours=24)
        assert stages() == ["started"]
        [told] = told_to("wanghushi")
        assert "P001" in told["main_title"]["title"]
        assert "申办方" in str(told["horizontal_content_list"])
        assert not told_to("crc_b"), "another site"
        rows = {row.kind: row for row in agenda(running.project, running["wanghushi"], None)}
        assert "P001" in [one.subject for one in rows[Kind.REPORTS].entries]
    with at(clock(running, "17:59")):
        swept()
        assert stages() == ["started"]
    with at(clock(running, "18:00")):
        swept()
        assert stages() == ["started", "soon"]
    with at(clock(running, "23:59")):
        swept()
        assert finding() is None
    with at(clock(running, "00:00", days=1)):
        swept()
        assert stages() == ["started", "soon", "overdue"]
        assert len(told_to("wanghushi")) == 3
        late = finding()
        assert late
        assert (late.state, late.outcome, late.instance) == ("open", "FAIL", NEW)
        assert PendingAction.objects.filter(record_id="P001", skill_type=safety.TYPE).count() == 1
        assert Deviation.objects.get(finding=late).source == "safety"
    with at(clock(running, "10:00", days=1)):
        enter(
            running,
            ae_start=f"{today:%Y-%m-%d}",
            sae_report_date=f"{today + timedelta(1):%Y-%m-%d}",
        )
        swept()
        assert (mine().state, mine().reported_on) == ("reported", (today + timedelta(1)).date())
        closed = finding()
        assert closed
        assert closed.state == "data_changed"
        assert len(told_to("wanghushi")) == 3, "nothing is left to tell"
        assert Deviation.objects.filter(finding=closed).count() == 1, "it has happened"


@pytest.mark.full
@pytest.mark.parametrize("date", ["", "2026-99-99", "2026"])
def test_what_is_no_date_is_no_report(running: Study, date: str) -> None:
    with at(clock(running, "09:00")):
        enter(running, sae_report_date=date)
        swept()
        one = mine()
        assert (one.state, one.is_unreadable) == ("running", bool(date))
        assert one.started_from == "read"
        assert one.started_at == one.first_read_at == clock(running, "09:00")
    with at(clock(running, "09:00", days=1)):
        swept()
        late = finding()
        assert late
        assert late.outcome == ("UNKNOWN" if date else "FAIL")
        assert state_words(mine())[1] == "danger"


@pytest.mark.full
def test_an_outage_of_all_sweeps_tells_only_what_still_counts(running: Study) -> None:
    with at(clock(running, "09:00")):
        enter(running)
    with at(clock(running, "12:00", days=3)):
        swept()
        assert stages() == ["overdue"]
        assert len(told_to("wanghushi")) == 1
        assert finding()


class Killed(BaseException):
    """The process ends here."""


def killed_at(number: int) -> int:
    """Tell, and die before the statement of that number; how many came before the end."""
    seen = 0

    def count(execute: Any, *args: Any) -> Any:
        nonlocal seen
        seen += 1
        if seen == number:
            raise Killed
        return execute(*args)

    with connection.execute_wrapper(count):
        safety_notices.tell_all()
    return seen


@pytest.mark.full
def test_whatever_is_killed_between_statements_is_told_once(running: Study) -> None:
    with at(clock(running, "09:00")):
        enter(running)
        safety.sweep()
        number, died = 0, True
        while died:
            number += 1
            with transaction.atomic():
                try:
                    killed_at(number)
                    died = False
                except Killed:
                    pass
                for _again in range(2):
                    safety_notices.tell_all()
                assert len(told_to("wanghushi")) == Card.objects.filter(kind="safety").count() == 1
                transaction.set_rollback(True)
        assert number > 10


@pytest.mark.full
def test_two_sweeps_at_once_tell_once(running: Study) -> None:
    with at(clock(running, "09:00")):
        enter(running)
        safety.sweep()
        first = True

        def other(execute: Any, sql: str, *args: Any) -> Any:
            nonlocal first
            found = execute(sql, *args)
            if first and "iit_safety_clock_stages" in sql:
                first = False
                safety_notices.tell_all()
            return found

        with connection.execute_wrapper(other):
            safety_notices.tell_all()
        assert not first
        assert len(told_to("wanghushi")) == 1


def test_who_sees_no_cards_reads_it(running: Study) -> None:
    Member.objects.filter(wecom_userid="zhangyi").update(plain_text=True)
    Member.objects.filter(wecom_userid="wanghushi").update(language="en")
    with at(clock(running, "09:00")):
        enter(running)
        swept()
        [told] = outgoing("zhangyi")
        assert "申办方" in told
        assert "/admin/study/subject/" in told
        assert "event #9 to report" in told_to("wanghushi")[0]["main_title"]["title"]
        assert "需要上报" in told_to("zhangyi")[0]["main_title"]["title"]


@pytest.mark.full
def test_a_card_is_closed_where_the_report_came_or_the_time_moved(running: Study) -> None:
    today = clock(running, "00:00")
    with at(clock(running, "09:00")):
        enter(running)
        swept()
        assert not payloads("card_update")
        enter(running, ae_start=f"{today:%Y-%m-%d}")
        swept()
        moved = [one["template_card"]["sub_title_text"] for one in payloads("card_update")]
        assert len(moved) == 1
        assert f"{today + timedelta(days=1):%Y-%m-%d} 00:00" in moved[0]
        assert not Card.objects.filter(kind="safety", state="open").exists()


@pytest.mark.full
def test_what_is_no_longer_serious_asks_for_nothing(running: Study) -> None:
    with at(clock(running, "09:00")):
        enter(running)
        swept()
    with at(clock(running, "09:00", days=1)):
        swept()
        enter(running, ae_serious="0")
        swept()
        assert mine().state == "withdrawn"
        closed = finding()
        assert closed
        assert closed.state == "data_changed"


def open_cards() -> int:
    """How many cards about the event of these tests ask for something."""
    keys = {
        str(key) for key in ClockStage.objects.filter(clock=mine()).values_list("pk", flat=True)
    }
    rows = Card.objects.filter(kind="safety", state="open").values_list("seen", flat=True)
    return sum(bool(keys & {*seen.split(",")}) for seen in rows)


@pytest.mark.full
def test_what_is_serious_again_is_told_again(running: Study) -> None:
    with at(clock(running, "09:00")):
        enter(running)
        swept()
        due = mine().due_at
        enter(running, ae_serious="0")
        swept()
        assert (mine().state, open_cards()) == ("withdrawn", 0)
        enter(running)
        swept()
        assert (mine().state, mine().due_at, stages()) == ("running", due, ["started"])
        assert open_cards() == 1
        assert len(told_to("wanghushi")) == 2
    with at(clock(running, "09:00", days=1)):
        swept()
        assert stages() == ["started", "overdue"]


@pytest.mark.full
def test_a_report_that_is_taken_back_is_asked_for_again(running: Study) -> None:
    """The date belonged to another subject; the clock has been overdue, and is again."""
    today = f"{clock(running, '00:00', days=1):%Y-%m-%d}"
    with at(clock(running, "09:00")):
        enter(running)
        swept()
    with at(clock(running, "09:30", days=1)):
        swept()
        assert stages() == ["started", "overdue"]
        enter(running, sae_report_date=today)
        swept()
        assert (mine().state, open_cards()) == ("reported", 0)
        before = len(told_to("wanghushi"))
    with at(clock(running, "10:30", days=1)):
        enter(running, sae_report_date="")
        swept()
        assert mine().is_overdue(clock(running, "10:30", days=1))
        assert (stages(), open_cards()) == (["overdue"], 1)
        assert len(told_to("wanghushi")) == before + 1
        again = finding()
        assert again
        assert again.state == "open"


@pytest.mark.full
@pytest.mark.parametrize("way", ["inactive", "unreachable", "blinded"])
def test_administrators_are_told_where_nobody_of_the_site_can_be(running: Study, way: str) -> None:
    people = Member.objects.filter(project=running.project, role__in=["CRC", "PI"])
    if way == "inactive":
        people.update(is_active=False)
    elif way == "unreachable":
        for one in people:
            Alert.objects.create(code=Alert.Code.UNREACHABLE, subject=one.wecom_userid)
    with at(clock(running, "09:00")):
        if way == "blinded":
            Member.objects.filter(project=running.project, role="ADMIN").update(is_unblinded=True)
            BlindedField.objects.create(project=running.project, field="ae_serious", kind="lab")
            Project.objects.update(blinded_since=clock(running, "08:00"))
            running.project.refresh_from_db()
        enter(running)
        swept()
        assert stages() == ["started"]
        told = told_to("admin")
        assert ["需要上报" in one["main_title"]["title"] for one in told] == [True]
        assert not Alert.objects.filter(code=Alert.Code.SAFETY).exists()


@pytest.mark.full
def test_administrators_are_not_told_at_the_start_where_others_are(running: Study) -> None:
    Alert.objects.create(code=Alert.Code.UNREACHABLE, subject="wanghushi")
    with at(clock(running, "09:00")):
        enter(running)
        swept()
    assert told_to("zhangyi")
    assert not told_to("admin")


@pytest.mark.full
def test_the_operator_is_told_where_nobody_can_be(running: Study) -> None:
    Member.objects.filter(project=running.project).update(is_active=False)
    with at(clock(running, "09:00")):
        enter(running)
        swept()
        [alert] = Alert.objects.filter(code=Alert.Code.SAFETY, cleared_at=None)
        assert (alert.subject, alert.times) == (running.project.code, 1)
        assert "P001" not in alert.detail
        assert alert.remedy
    with at(clock(running, "09:00", days=1)):
        swept()
        alert.refresh_from_db()
        assert alert.times == 2
        assert "overdue" in alert.detail


def known_clocks() -> list[tuple[Any, ...]]:
    rows = SafetyClock.objects.order_by("pk")
    return [*rows.values_list("record_id", "recipient", "state", "due_at", "reported_on")]


@pytest.mark.full
@pytest.mark.parametrize("column", ["ae_serious", "ae_start", "sae_report_date"])
def test_a_column_that_redcap_no_longer_shows_changes_no_clock(running: Study, column: str) -> None:
    """What is not shown has not become blank (design.md 9.8)."""
    with at(clock(running, "09:00")):
        enter(running, ae_start=f"{clock(running, '00:00'):%Y-%m-%d}")
        swept()
        before = known_clocks()
        assert {state for _who, _to, state, *_times in before} == {"running", "reported"}
        ReadingState.objects.update(missing_columns=[column], version=1)
        swept()
        assert known_clocks() == before
        ReadingState.objects.update(missing_columns=[])
        enter(running, ae_serious="0")
        swept()
        assert mine().state == "withdrawn"


@pytest.mark.full
def test_an_overdue_report_that_redcap_does_not_show_is_unknown(running: Study) -> None:
    tokens, project = running.run["redcap_tokens"], running.project
    with at(clock(running, "09:00")):
        enter(running)
        swept()
        before = known_clocks()
    with at(clock(running, "09:00", days=1)):
        project.redcap_token = tokens["deidentified"]  # shows no dates
        project.save()
        sync.sweep(project)
        swept()
        late = finding()
        assert late
        assert (late.outcome, late.reason) == ("UNKNOWN", "not_exported")
        assert known_clocks() == before
        assert not Deviation.objects.filter(record_id="P001", source="safety").exists()
        told = PendingAction.objects.filter(skill_type=safety.TYPE).exclude(record_id="P001")
        assert not told.filter(outcome="UNKNOWN").exists()
    with at(clock(running, "10:30", days=1)):
        project.redcap_token = tokens["full"]
        project.save()
        read(running)
        swept()
        late.refresh_from_db()
        assert (late.outcome, late.state) == ("FAIL", "open")
        assert Deviation.objects.get(finding=late).source == "safety"


@pytest.mark.full
def test_a_report_entered_late_with_its_date_is_a_deviation(running: Study) -> None:
    with at(clock(running, "09:00")):
        days = {"ae_start": clock(running, "00:00", days=-5)}
        days["sae_report_date"] = clock(running, "00:00", days=-1)
        enter(running, **{name: f"{day:%Y-%m-%d}" for name, day in days.items()})
        swept()
        assert state_words(mine())[1] == "danger"
        assert not told_to("wanghushi"), "nothing is to be done any more"
        found = Deviation.objects.get(record_id="P001", source="safety")
        assert (found.finding.state, found.finding.outcome) == ("closed", "FAIL")
        assert found.finding.resolved_by == safety.ACTOR
        assert str(days["sae_report_date"].date()) in found.finding.resolution
    with at(clock(running, "11:00")):
        enter(running, ae_term="皮疹加重", **{n: f"{d:%Y-%m-%d}" for n, d in days.items()})
        swept()
        enter(running, sae_report_date="", ae_start=f"{days['ae_start']:%Y-%m-%d}")
        swept()
        assert mine().is_overdue(clock(running, "11:00"))
        assert PendingAction.objects.filter(skill_type=safety.TYPE, instance=NEW).count() == 2
        assert Deviation.objects.filter(record_id="P001", source="safety").count() == 1


@pytest.mark.full
def test_a_late_report_whose_date_was_unreadable_is_a_deviation(running: Study) -> None:
    with at(clock(running, "09:00")):
        enter(running, sae_report_date="2026")
        swept()
    with at(clock(running, "09:00", days=2)):
        swept()
        assert not Deviation.objects.filter(record_id="P001", source="safety").exists()
        enter(running, sae_report_date=f"{clock(running, '09:00', days=2):%Y-%m-%d}")
        swept()
        assert Deviation.objects.get(record_id="P001", source="safety").finding.outcome == "FAIL"


@pytest.mark.full
def test_a_recipient_taken_out_of_the_settings_keeps_what_was_reported(running: Study) -> None:
    today, field = f"{clock(running, '00:00'):%Y-%m-%d}", TOLD["reports"]["sponsor"]
    more = TOLD | {"reports": TOLD["reports"] | {"pi": field}}
    with at(clock(running, "09:00")):
        enter(running, ae_start=today, sae_report_date=today)
        enter(running, "P020", ae_start=today)
        safety.switch(project=running.project, told=more, actor="admin")
        swept()
        safety.switch(project=running.project, told=TOLD, actor="admin")
        swept()
        mine = SafetyClock.objects.filter(instance=NEW)
        states = {(one.record_id, one.recipient): one.state for one in mine}
        assert states == {
            ("P001", "sponsor"): "reported",
            ("P001", "pi"): "reported",
            ("P020", "sponsor"): "running",
            ("P020", "pi"): "withdrawn",
        }
        enter(running, ae_start=today, sae_report_date=today, ae_serious="0")
        swept()
        assert {one.state for one in mine.filter(record_id="P001")} == {"reported"}


@pytest.mark.full
@pytest.mark.parametrize("way", ["off", "closed"])
def test_where_the_clocks_rest_none_runs_on(running: Study, way: str) -> None:
    project = running.project
    with at(clock(running, "09:00")):
        enter(running)
        swept()
        if way == "off":
            safety.switch(project=project, told={}, actor="admin")
        else:
            Project.objects.update(status="closed")
        swept()
        assert not SafetyClock.objects.running().exists()
        kinds = {row.kind for row in agenda(project, running["wanghushi"], None)}
        assert Kind.REPORTS not in kinds
        told = AuditEntry.objects.filter(action="safety.withdraw", record_id="P001")
        assert told.count() == 1
    with at(clock(running, "09:30")):
        if way == "off":
            safety.switch(project=project, told=TOLD, actor="admin")
        else:
            Project.objects.update(status="active")
        swept()
        assert mine().state == "running"
        assert stages() == ["started"]
        assert open_cards() == 1, "the card of before was closed"


@pytest.mark.full
def test_the_time_counts_from_when_it_was_first_read_as_serious(study: Study) -> None:
    """Later versions of the row put nothing off; one that was not serious comes before."""
    entered = [
        ("-3", {"ae_serious": "0"}),
        ("-2", {}),
        ("-1", {"ae_term": "皮疹加重"}),
    ]
    with at(clock(study, "08:00", days=-4)):
        read(study)
    for days, values in entered:
        with at(clock(study, "09:00", days=int(days))):
            enter(study, **values)
    with at(clock(study, "08:00")):
        switched_on(study)
        assert mine().first_read_at == clock(study, "09:00", days=-2)

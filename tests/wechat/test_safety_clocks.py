"""A serious event without a report: clock, notices, overdue finding, closing by data, each at its time."""

from __future__ import annotations

from datetime import timedelta

import pytest

from engines import safety
from engines.agenda import Kind, agenda
from engines.models import ClockStage, Deviation, PendingAction, SafetyClock
from engines.pages.safety import state_words
from tests.engines.cron.kit import at, clock
from tests.engines.safety_kit import NEW, enter, swept, switched_on
from tests.support.study import Study
from tests.wechat.working import outgoing
from wechat.models import OutboxMessage

pytestmark = pytest.mark.django_db


@pytest.fixture
def running(study: Study) -> Study:
    """The clocks run since yesterday; what the demo study holds was told then."""
    with at(clock(study, "08:00", days=-1)):
        switched_on(study)
    OutboxMessage.objects.all().delete()
    return study


def mine() -> SafetyClock:
    return SafetyClock.objects.get(record_id="P001", instance=NEW)


def finding() -> PendingAction | None:
    return PendingAction.objects.filter(record_id="P001", skill_type=safety.TYPE).first()


def stages() -> list[str]:
    return [*ClockStage.objects.filter(clock=mine()).order_by("pk").values_list("stage", flat=True)]


def test_each_comes_at_its_time_and_once(running: Study) -> None:
    today = clock(running, "00:00")
    with at(clock(running, "09:00")):
        enter(running, ae_start=f"{today:%Y-%m-%d}")
        swept()
        assert (mine().started_at, mine().started_from) == (today, "known")
        assert mine().due_at == today + timedelta(hours=24)
        assert stages() == ["started"]
        told = outgoing("wanghushi")
        assert len(told) == 1
        assert "P001" in told[0]
        assert "申办方" in told[0]
        assert len(outgoing("crc_b")) == 0, "another site"
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
        assert len(outgoing("wanghushi")) == 3
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
        assert len(outgoing("wanghushi")) == 3, "nothing is left to tell"
        assert Deviation.objects.filter(finding=closed).count() == 1, "it has happened"


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


def test_an_outage_of_all_sweeps_tells_only_what_still_counts(running: Study) -> None:
    with at(clock(running, "09:00")):
        enter(running)
    with at(clock(running, "12:00", days=3)):
        swept()
        assert stages() == ["overdue"]
        assert len(outgoing("wanghushi")) == 1
        assert finding()


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

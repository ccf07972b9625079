"""Settings of serious events, the clocks on pages, and the register of deviations: scoped, graded, exported."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from engines import deviations, safety
from engines.models import Deviation, SafetyClock
from projects.models import AuditEntry
from study.enrolment_stats import study_figures
from study.models import Subject
from tests.engines.cron.kit import at, clock
from tests.engines.safety_kit import TOLD, enter, read, swept, switched_on
from tests.support.study import Study

pytestmark = pytest.mark.django_db
SETTINGS = "/admin/engines/safetyclock/settings/"
CLOCKS = "/admin/engines/safetyclock/"
REGISTER = "/admin/engines/deviation/"
AsUser = Callable[..., Client]
SAID = {
    "is_on": "on",
    "serious": "ae_serious",
    "code": "1",
    "known": "ae_start",
    "field_sponsor": "sae_report_date",
    "hours_sponsor": "24",
}


@pytest.fixture
def overdue(study: Study) -> Study:
    """A day after a serious event at each site."""
    with at(clock(study, "08:00", days=-1)):
        switched_on(study)
        enter(study)
        enter(study, "P020")
        swept()
    with at(clock(study, "08:00")):
        swept()
    return study


def proposed(record: str) -> Deviation:
    rows = Deviation.objects.filter(record_id=record, source="safety")
    return rows.select_related("project").get()


@pytest.mark.full
def test_administrators_of_a_study_set_it(as_user: AsUser, study: Study) -> None:
    client = as_user("admin", "zh-hans")
    assert 'value="ae_serious"' in client.get(SETTINGS).content.decode(), "suggested"
    assert client.post(SETTINGS, SAID).status_code == 302
    assert safety.saved(study.project) == (TOLD, True)
    assert AuditEntry.objects.filter(action="skill.create", actor="admin").exists()
    client.post(SETTINGS, {})
    assert safety.saved(study.project) == (TOLD, False)
    for name in ("wanghushi", "zhangyi", "charlie"):
        assert as_user(name).get(SETTINGS).status_code == 403


@pytest.mark.full
def test_what_is_set_is_what_other_pages_count_as_serious(study: Study) -> None:
    read(study)
    plain = study_figures(study.project, None).serious
    assert plain
    assert "P003" in plain
    safety.switch(project=study.project, told=TOLD | {"code": "0"}, actor="admin")
    safety.switch(project=study.project, told={}, actor="admin")
    swapped = study_figures(study.project, None).serious
    assert swapped
    assert "P005" in swapped
    assert "P011" not in swapped


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"serious": "ae_serius"}, "ae_serious"),
        ({"field_sponsor": ""}, "请至少填写一个上报对象"),
        ({"code": ""}, "请填写,或关闭计时"),
        ({"hours_sponsor": "0"}, "iit-problem"),
        ({"field_sponsor": "phone"}, "该字段标识个人"),
    ],
)
def test_what_is_wrong_is_told_and_not_kept(
    as_user: AsUser, study: Study, wrong: dict[str, str], said: str
) -> None:
    page = as_user("admin", "zh-hans").post(SETTINGS, SAID | wrong)
    assert page.status_code == 200
    assert said in page.content.decode()
    assert safety.saved(study.project) == ({}, False)


@pytest.mark.full
def test_a_reader_of_a_site_sees_their_own(as_user: AsUser, overdue: Study) -> None:
    with at(clock(overdue, "09:00")):
        for name, own, other in (("wanghushi", "P001", "P020"), ("crc_b", "P020", "P001")):
            client = as_user(name, "zh-hans")
            for address in (CLOCKS, REGISTER, "/admin/visits/?state=overdue", "/admin/"):
                page = client.get(address).content.decode()
                assert own in page, address
                assert other not in page, address
            mine, theirs = proposed(own), proposed(other)
            assert client.get(f"{REGISTER}{mine.pk}/change/").status_code == 200
            assert client.get(f"{REGISTER}{theirs.pk}/change/").status_code == 302
            told = {"seen": "proposed", "state": "rejected", "reason": "x"}
            assert client.post(f"{REGISTER}{theirs.pk}/decide/", told).status_code == 404
            assert proposed(other).state == "proposed"
            subject = Subject.objects.get(record_id=own)
            page = client.get(f"/admin/study/subject/{subject.pk}/page/").content.decode()
            assert 'data-test="clocks"' in page
            assert "逾期未报" in page


@pytest.mark.full
def test_a_person_grades_or_rejects_with_a_reason(as_user: AsUser, overdue: Study) -> None:
    client, one = as_user("zhangyi", "zh-hans"), proposed("P001")
    address = f"{REGISTER}{one.pk}/decide/"
    told = {"seen": "proposed", "state": "confirmed", "grade": "major", "reason": "漏报"}
    for lacking in ({"reason": " "}, {"grade": ""}, {"state": ""}, {"seen": "rejected"}):
        client.post(address, told | lacking)
        assert proposed("P001").state == "proposed"
    as_user("auditor").post(address, told)
    assert proposed("P001").state == "proposed"
    client.post(address, told | {"measure": "培训"})
    done = proposed("P001")
    assert (done.state, done.grade, done.reason) == ("confirmed", "major", "漏报")
    assert (done.measure, done.decided_by) == ("培训", "zhangyi")
    entry = AuditEntry.objects.get(action="deviation.decide")
    assert (entry.record_id, entry.actor, entry.reason) == ("P001", "zhangyi", "漏报")
    deviations.propose([done.finding])
    assert proposed("P001").state == "confirmed", "proposed once"


@pytest.mark.full
def test_the_register_is_exported_for_the_committee(as_user: AsUser, overdue: Study) -> None:
    deviations.decide(
        deviation=proposed("P001"),
        state="confirmed",
        grade="minor",
        reason="=1+1",
        actor="admin",
        seen="proposed",
    )
    client = as_user("admin", "zh-hans")
    answer: Any = client.get(f"{REGISTER}export/", {"state__exact": "confirmed"})
    head, *rows = csv.reader(io.StringIO(answer.getvalue().decode()[1:]))
    told = dict(zip(head, rows[0], strict=True))
    assert len(rows) == 1
    assert "P001" in told.values()
    assert "一般" in told.values()
    assert "'=1+1" in told.values(), "no formula"
    assert client.get(f"{REGISTER}export-xlsx/").status_code == 200
    filtered = client.get(REGISTER, {"grade__exact": "minor"}).content.decode()
    assert "P001" in filtered
    assert "P020" not in filtered


@pytest.mark.full
def test_what_rests_on_a_blinded_field_is_hidden(as_user: AsUser, overdue: Study) -> None:
    Deviation.objects.filter(record_id="P001").update(unblinds=True)
    SafetyClock.objects.filter(record_id="P001").update(unblinds=True)
    overdue.project.blinded_since = clock(overdue, "00:00", days=-30)
    overdue.project.save()
    client = as_user("wanghushi", "zh-hans")
    for address in (CLOCKS, REGISTER):
        assert "P001" not in client.get(address).content.decode()

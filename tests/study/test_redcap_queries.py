"""REDCap's own queries over real HTTP: what is kept of them, what a fault leaves, who sees them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import translation
from django.utils.timezone import now
from pytest_django import Settings

from core.integrations.redcap import RedcapClient, RedcapProtocolError, TokenBucket
from core.integrations.redcap.transport import Transport
from projects.models import Project
from study import sync
from study.models import BlindedField, RedcapQuery, Subject, SyncState
from study.redcap_queries import as_of, read_queries
from study.setup.own import test_redcap as check_connection
from tests.hospital import FULL, NO_EXPORT, Hospital, open_hospital
from tests.projects.studies import member, study

pytestmark = pytest.mark.django_db
State = RedcapQuery.State
HTML = "<html><body>Error 502</body></html>"
AE, WEIGHT, SEX = 501, 502, 503


def reply(day: int, text: str | None, **more: Any) -> dict[str, Any]:
    return {"ts": f"2024-05-{day:02} 10:00:00", "username": "monitor", "comment": text, **more}


def query(number: int, record: str, event: str, field: str, *said: Any, **more: Any) -> Any:
    about = {"status_id": number, "record": record, "event_id": event, "field_name": field}
    return {**about, "query_status": "OPEN", "resolutions": [*said], **more}


TOLD = [
    query(
        *(AE, "P001", "44", "ae_term", reply(2, "张三(13800000001)的皮疹请核对,P002 也是")),
        instance="2",
        assigned_username="crc_a",
    ),
    query(
        *(WEIGHT, "P002", "41", "weight", reply(3, "UNK?"), reply(4, "已核对", response="OTHER")),
    ),
    query(SEX, "P003", "41", "sex", reply(1, None)),
    {**query(504, "P001", "41", "sex", reply(1, "旧")), "query_status": "CLOSED"},
    {**query(505, "P001", "41", "weight", reply(1, "只是备注")), "query_status": None},
]


@pytest.fixture
def hospital(tmp_path: Path) -> Iterator[Hospital]:
    with open_hospital(tmp_path) as opened:
        opened.control("redcap/queries", TOLD)
        yield opened


@pytest.fixture
def project(hospital: Hospital, settings: Settings) -> Project:
    settings.REDCAP_REQUESTS_PER_SECOND, settings.REDCAP_RETRY_PAUSE_S = 1000, 0
    made = study(hospital, reads_queries=True)
    assert sync.tick(made)
    return made


def kept(project: Project) -> dict[int, str]:
    rows = RedcapQuery.objects.filter(project=project)
    return {row.status_id: row.state for row in rows}


@pytest.mark.full
def test_what_is_read_is_kept_once_without_identifiers_and_closed_when_it_is_gone(
    hospital: Hospital, project: Project
) -> None:
    assert kept(project) == {AE: State.OPEN, WEIGHT: State.ANSWERED, SEX: State.OPEN}
    row = RedcapQuery.objects.get(status_id=AE)
    place = (row.record_id, row.event, row.instrument, row.instance, row.field)
    assert place == ("P001", "log_arm_1", "ae", "2", "ae_term")
    assert (row.opened_by, row.assigned) == ("monitor", "crc_a")
    assert row.opened_at.isoformat() == "2024-05-02T02:00:00+00:00"
    assert "皮疹请核对" in row.text
    for identifier in ("张三", "13800000001", "P002"):
        assert identifier not in row.text
    other = RedcapQuery.objects.get(status_id=WEIGHT)
    assert (other.instrument, other.instance, other.text) == ("", "", "已核对")
    assert other.last_at.isoformat() == "2024-05-04T02:00:00+00:00"
    assert RedcapQuery.objects.get(status_id=SEX).text == ""
    hospital.control("redcap/queries", TOLD[1:])
    sync.tick(project)
    assert kept(project) == {AE: State.CLOSED, WEIGHT: State.ANSWERED, SEX: State.OPEN}
    assert RedcapQuery.objects.get(status_id=AE).closed_at
    hospital.control("redcap/queries", [])
    sync.tick(project)
    assert set(kept(project).values()) == {State.CLOSED}


@pytest.mark.full
def test_who_began_earlier_writes_nothing_over_who_began_later(
    hospital: Hospital, project: Project
) -> None:
    SyncState.objects.filter(project=project).update(queries_at=now() + timedelta(minutes=1))
    hospital.control("redcap/queries", [])
    assert read_queries(project)
    assert kept(project) == {AE: State.OPEN, WEIGHT: State.ANSWERED, SEX: State.OPEN}


@pytest.mark.full
@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("body", HTML),
        ("body", '{"501": {"status_id": "501", "rec'),
        ("body", '{"x": {"status_id": "x", "record": ""}}'),
        ("body", '"text"'),
        ("status", 403),
        ("status", 500),
        ("reset", None),
    ],
)
def test_a_fault_leaves_what_was_read_and_is_told(
    hospital: Hospital, project: Project, kind: str, value: Any
) -> None:
    before = SyncState.objects.get(project=project)
    hospital.fault(kind, value, times=9, body="status=OPEN")
    assert sync.tick(project)
    assert kept(project) == {AE: State.OPEN, WEIGHT: State.ANSWERED, SEX: State.OPEN}
    after = SyncState.objects.get(project=project)
    assert after.queries_at == before.queries_at
    assert after.queries_cause
    assert not after.is_failing  # the data were read
    assert str(after.get_queries_cause_display()) in as_of(after)
    hospital.fault(kind, value, times=0, body="status=OPEN")


def test_when_queries_were_read_is_told_in_the_zone_of_the_study(project: Project) -> None:
    state = SyncState(project=project, queries_at=datetime(2026, 3, 1, 20, 30, tzinfo=UTC))
    project.timezone = "America/New_York"
    assert "2026-03-01 15:30" in as_of(state)
    project.timezone = "Asia/Shanghai"
    assert "2026-03-02 04:30" in as_of(state)


@pytest.mark.full
def test_the_test_of_the_connection_says_whether_the_module_answers(
    hospital: Hospital, project: Project
) -> None:
    def last() -> tuple[bool, str]:
        with translation.override("zh-hans"):
            line = check_connection(project)[-1]
        return line.ok, str(line.text)

    assert last() == (True, "可以读取 REDCap 的质疑：3 条未关闭。")
    hospital.control("redcap/switches", {"module": False})
    is_well, text = last()
    assert not is_well
    assert "外部模块" in text
    hospital.control("redcap/switches", {"module": True})
    hospital.fault("status", 403, times=1, body="status=OPEN")
    assert last() == (False, "该令牌无权读取 REDCap 的质疑（403）：请检查其用户的权限。")
    hospital.fault("status", 500, times=3, body="status=OPEN")
    assert last() == (False, "读取质疑时 REDCap 没有响应，请稍后再试。")
    project.reads_queries = False
    assert "质疑" not in last()[1]


@pytest.mark.full
def test_a_study_that_did_not_ask_for_it_sends_nothing(
    hospital: Hospital, settings: Settings
) -> None:
    settings.REDCAP_REQUESTS_PER_SECOND = 1000
    made = study(hospital)
    sync.tick(made)
    assert not RedcapQuery.objects.exists()
    assert not [form for form in hospital.forms() if form.get("status")]


def test_no_page_that_writes_can_be_called(hospital: Hospital, project: Project) -> None:
    transport = Transport(hospital.redcap_url, FULL, TokenBucket(1000, 1000))
    for pid in ("14&page=import", "", "１４", "14#", "import"):
        with pytest.raises(RedcapProtocolError):
            transport.ask_queries(pid)
    client = RedcapClient(hospital.redcap_url, FULL, limiter=TokenBucket(1000, 1000))
    assert len(client.open_queries("14")) == 3
    assert {"import"} & {*"".join(hospital.addresses()).split("&")} == set()
    assert hospital.imports() == 0
    assert all("data" not in form for form in hospital.forms())


@pytest.mark.full
def test_another_project_or_token_is_no_empty_list(hospital: Hospital) -> None:
    client = RedcapClient(hospital.redcap_url, FULL, limiter=TokenBucket(1000, 1000))
    with pytest.raises(RedcapProtocolError):
        client.open_queries("15")
    other = RedcapClient(hospital.redcap_url, NO_EXPORT, limiter=TokenBucket(1000, 1000))
    assert len(other.open_queries("14")) == 3  # the module asks for no right to the data


@pytest.mark.full
def test_who_sees_which(project: Project) -> None:
    def seen(site: str = "", at: Project = project) -> set[int]:
        rows = RedcapQuery.objects.for_member(member(at, site)).waiting()
        return {*rows.values_list("status_id", flat=True)}

    assert seen("site_a") == {AE, SEX}
    assert seen("site_b") == {WEIGHT}
    assert seen() == {AE, WEIGHT, SEX}
    elsewhere = Project.objects.create(code="B", start_date="2024-01-01", reads_queries=True)
    assert seen("site_x", elsewhere) == set()
    Subject.objects.filter(record_id="P001").update(is_present=False)
    assert seen("site_c") == set()
    whole = RedcapQuery.objects.filter(project=project).waiting()
    assert {row.status_id for row in whole} == {WEIGHT, SEX}
    Project.objects.update(reads_queries=False)
    assert not RedcapQuery.objects.filter(project=project).waiting().exists()


@pytest.mark.full
def test_a_blinded_reader_sees_no_query_about_a_blinded_field(
    hospital: Hospital, project: Project
) -> None:
    from study.blinding import services

    reader = member(project, "site_a")
    fields = [BlindedField(field="sex", kind=BlindedField.Kind.ARM, words="皮疹")]
    services.switch_on(project=project, fields=fields, actor="test")
    reader.project.refresh_from_db()
    # Nothing of what was read in the open study.
    assert not RedcapQuery.objects.for_member(reader).exists()
    sync.tick(project)
    [row] = RedcapQuery.objects.for_member(reader).waiting()
    assert row.status_id == AE
    assert "皮疹" not in row.text

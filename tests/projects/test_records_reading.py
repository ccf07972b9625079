"""Subject data: whose, from when, and how complete."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from pytest_django import Settings

from core.integrations.redcap import RedcapPermissionError, RedcapProtocolError, RedcapUnavailable
from projects.models import AuditEntry, Project
from study import dictionary
from study.blinding.mask import Mask
from study.client import NotConfiguredError, dify_client, redcap_client
from study.models import Dictionary
from study.records import RecordData, list_records, read_record, read_records
from tests.hospital import DEIDENTIFIED, SCREENING, Hospital, open_hospital
from tests.projects.studies import member, study

pytestmark = pytest.mark.django_db


@pytest.fixture
def hospital(tmp_path: Path) -> Iterator[Hospital]:
    with open_hospital(tmp_path) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _no_waiting(settings: Settings) -> None:
    settings.REDCAP_REQUESTS_PER_SECOND = 1000


def test_one_subject(hospital: Hospital) -> None:
    before = datetime.now(UTC)

    found = read_record(project=study(hospital), record_id="P001")

    assert found is not None
    assert (found.record_id, found.site, found.complete) == ("P001", "site_a", True)
    assert len(found.rows) == 5
    assert found.read_at >= before
    assert "张三" not in repr(found)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2026-03-31", date(2026, 3, 31)),
        ("2026-03-31 23:30", date(2026, 3, 31)),
        ("2026-03-31T23:30:00+00:00", date(2026, 4, 1)),
        ("2026-04-01 01:30+09:00", date(2026, 4, 1)),
        ("2026-04-01 00:30+09:00", date(2026, 3, 31)),
        ("2026-03", None),
        ("2026-03-31x", None),
        ("", None),
    ],
)
def test_a_day_is_the_studys(text: str, day: date | None) -> None:
    """A time with an offset is moved to the study's zone, as for visits (study.dates)."""
    rows = ({"enrolled": ""}, {"enrolled": text})
    found = RecordData("P001", "", rows, datetime.now(UTC), (), complete=True)
    assert found.day("enrolled", "Asia/Shanghai") == day


@pytest.mark.parametrize(("asked", "name"), [("7", "赵七"), ("007", "钱邦德")])
def test_seven_is_not_double_o_seven(hospital: Hospital, asked: str, name: str) -> None:
    """E10."""
    found = read_record(project=study(hospital), record_id=asked)

    assert found is not None
    assert found.rows[0]["subject_name"] == name


@pytest.mark.parametrize("record_id", ["P002", "P999", "p001", "P001 ", "", "*"])
def test_not_yours_reads_like_not_there(hospital: Hospital, record_id: str) -> None:
    """E43; P002 is a subject of the other site."""
    project = study(hospital)

    found = read_record(project=project, record_id=record_id, member=member(project, "site_a"))

    assert found is None


def test_a_member_sees_their_site_and_without_one_all(hospital: Hospital) -> None:
    project = study(hospital)

    def seen(site: str) -> set[str]:
        return {
            ref.record_id for ref in list_records(project=project, member=member(project, site))
        }

    assert seen("site_a") == {"7", "P001", "P003"}
    assert seen("site_b") == {"007", "P002"}
    assert seen("site_c") == set()
    assert seen("") == {"7", "007", "P001", "P002", "P003"}


def test_who_left_or_is_of_another_study_sees_nothing(hospital: Hospital) -> None:
    project, other = study(hospital), study(hospital, code="OTHER")
    left = member(project, "site_a", is_active=False)

    assert read_record(project=project, record_id="P001", member=left) is None
    assert read_records(project=project, member=member(other)) == []


def test_without_the_site_in_the_answer_nobody_of_a_site_sees_it(hospital: Hospital) -> None:
    project = study(hospital)
    dictionary.load(project)
    rows = [{"record_id": "P001", "redcap_event_name": "screening_arm_1", "sex": "1"}]
    hospital.fault("body", rows, times=2)

    everybody = read_record(project=project, record_id="P001")
    of_site = read_record(project=project, record_id="P001", member=member(project, "site_a"))

    assert everybody is not None
    assert everybody.site == ""
    assert of_site is None


def test_a_list_costs_one_request_and_holds_no_data(hospital: Hospital) -> None:
    project = study(hospital)
    dictionary.load(project)

    refs = list_records(project=project)

    assert ("007", "site_b") in [(ref.record_id, ref.site) for ref in refs]
    (form,) = hospital.forms("record")
    assert [value for key, value in form.items() if key.startswith("fields[")] == ["record_id"]


def test_asked_records_only(hospital: Hospital) -> None:
    project = study(hospital)

    assert {r.record_id for r in read_records(project=project, record_ids=["7", "P003"])} == {
        "7",
        "P003",
    }
    assert read_records(project=project, record_ids=[]) == []


def test_a_token_without_identifiers_makes_the_record_incomplete(hospital: Hospital) -> None:
    found = read_record(project=study(hospital, redcap_token=DEIDENTIFIED), record_id="P001")

    assert found is not None
    assert not found.complete
    assert found.missing_columns == ("phone", "subject_name")


def test_a_failed_read_is_an_error_and_no_empty_answer(hospital: Hospital) -> None:
    project = study(hospital)
    dictionary.load(project)

    hospital.fault("status", 403)
    with pytest.raises(RedcapPermissionError):
        read_record(project=project, record_id="P001")
    hospital.fault("body", "<html>login</html>")
    with pytest.raises(RedcapProtocolError):
        read_records(project=project)


def test_labels_survive_an_outage(hospital: Hospital) -> None:
    project = study(hospital)
    dictionary.load(project)
    asked = len(hospital.forms())
    hospital.fault("status", 403, times=99)

    assert dictionary.load(project).label("sex") == "性别"
    assert len(hospital.forms()) == asked
    Dictionary.objects.update(read_at=datetime(2020, 1, 1, tzinfo=UTC))
    assert dictionary.ensure_fresh(project).label("sex") == "性别"


def test_an_old_dictionary_is_read_again_once(hospital: Hospital) -> None:
    project = study(hospital)
    dictionary.load(project)
    Dictionary.objects.update(read_at=datetime(2020, 1, 1, tzinfo=UTC))
    cache.clear()

    dictionary.ensure_fresh(project)
    dictionary.ensure_fresh(project)

    assert len(hospital.forms("metadata")) == 2


def test_without_any_dictionary_an_outage_shows(hospital: Hospital) -> None:
    hospital.fault("status", 403, times=99)

    with pytest.raises(RedcapPermissionError):
        dictionary.load(study(hospital))
    assert not Dictionary.objects.exists()


def test_a_changed_dictionary_is_audited_an_unchanged_one_is_not(hospital: Hospital) -> None:
    project = study(hospital)

    dictionary.refresh(project)
    dictionary.refresh(project)

    entries = AuditEntry.objects.filter(action="dictionary.read")
    assert [entry.new["fields"] for entry in entries] == [12]


def test_a_field_that_left_redcap_is_no_gap_for_long(hospital: Hospital) -> None:
    project = study(hospital)
    dictionary.load(project)
    stored = Dictionary.objects.get()
    stored.content["export_field_names"].append(
        {"original_field_name": "gone", "choice_value": "", "export_field_name": "gone"}
    )
    stored.digest, stored.read_at = "older", datetime(2020, 1, 1, tzinfo=UTC)
    stored.save()

    found = read_record(project=project, record_id="P001")

    assert found is not None
    assert found.complete


def test_a_study_without_its_systems_says_so(hospital: Hospital) -> None:
    project = study(hospital, redcap_token="")

    with pytest.raises(NotConfiguredError, match="REDCap"):
        redcap_client(project)
    with pytest.raises(NotConfiguredError, match="Dify"):
        dify_client(project)


def test_an_outage_is_told_apart(hospital: Hospital, monkeypatch: pytest.MonkeyPatch) -> None:
    project = study(hospital)
    dictionary.load(project)
    monkeypatch.setattr("time.sleep", lambda _: None)
    hospital.fault("status", 502, times=3)

    with pytest.raises(RedcapUnavailable):
        read_record(project=project, record_id="P001")


def _as_of_before(project: Project, change: Callable[[dict[str, Any]], object]) -> None:
    """The stored dictionary was read a moment before REDCap's was changed."""
    stored = Dictionary.objects.get(project=project)
    change(stored.content)
    stored.digest, stored.read_at = "of before", datetime.now(UTC)
    stored.save()


def _without_choice(content: dict[str, Any]) -> None:
    rows = content["export_field_names"]
    content["export_field_names"] = [r for r in rows if r["export_field_name"] != "exclusion___2"]


def _without_event(content: dict[str, Any]) -> None:
    for what in ("events", "mapping"):
        rows = content[what]
        content[what] = [row for row in rows if row["unique_event_name"] != SCREENING]


@pytest.mark.parametrize("change", [_without_choice, _without_event])
def test_what_a_young_dictionary_does_not_know_is_looked_up(
    hospital: Hospital, change: Callable[[dict[str, Any]], object]
) -> None:
    """A dictionary of a few minutes hides a new choice or event from every rule."""
    project = study(hospital)
    now = dictionary.load(project)
    _as_of_before(project, change)
    assert dictionary.load(project) != now

    found = read_record(project=project, record_id="P001")

    assert found is not None
    assert found.complete
    assert dictionary.load(project) == now


def test_what_no_dictionary_knows_is_incomplete_and_looked_up_once(hospital: Hospital) -> None:
    project = study(hospital)
    dictionary.load(project)
    columns = dict.fromkeys(dictionary.load(project).columns, "")
    strange = {**columns, "record_id": "P003", "redcap_event_name": "new_arm_1"}
    known = {**strange, "record_id": "7", "redcap_event_name": SCREENING}
    hospital.fault("body", [strange, known], times=2, body="content=record")

    for _time in range(2):
        read = read_records(project=project, record_ids=["P003", "7"])
        assert {data.record_id: data.complete for data in read} == {"P003": False, "7": True}

    assert len(hospital.forms("metadata")) == 2


def _with_code(content: dict[str, Any]) -> None:
    column = {"original_field_name": "exclusion", "choice_value": "NA"}
    content["export_field_names"].append({**column, "export_field_name": "exclusion___na"})


@pytest.mark.parametrize("are_listed", [True, False], ids=["listed", "not_listed"])
@pytest.mark.parametrize("is_used", [True, False], ids=["used", "not_used"])
def test_a_missing_data_code_at_a_checkbox_leaves_a_record_complete(
    hospital: Hospital, *, are_listed: bool, is_used: bool
) -> None:
    """REDCap exports a column of it where it is used, whether or not it lists that column."""
    project = study(hospital)
    columns = dict.fromkeys(dictionary.load(project).columns, "")
    if are_listed:
        _as_of_before(project, _with_code)
    row = {**columns, "record_id": "P003", "redcap_event_name": SCREENING}
    code = {"exclusion___na": "1"} if is_used else {}
    hospital.fault("body", [row | code], body="content=record")

    found = read_record(project=project, record_id="P003")

    assert found is not None
    assert (found.missing_columns, found.complete) == ((), True)
    assert len(hospital.forms("metadata")) == 1


def test_what_is_not_exported_and_blinded_hides_nothing_that_is_unknown(hospital: Hospital) -> None:
    """A reader who may not see a column loses nothing with it; an event that no dictionary knows does."""
    project = study(hospital)
    metadata = dictionary.load(project)
    columns = dict.fromkeys(metadata.columns.keys() - {"weight"}, "")
    known = {**columns, "record_id": "P003", "redcap_event_name": SCREENING}
    strange = {**known, "record_id": "7", "redcap_event_name": "new_arm_1"}
    hospital.fault("body", [known, strange], times=3, body="content=record")
    blinded = Mask(metadata, frozenset({"weight"}))

    read = read_records(project=project, record_ids=["P003", "7"])

    assert [data.complete for data in read] == [False, False]
    masked = {data.record_id: blinded.record(data) for data in read}
    assert {name: data.complete for name, data in masked.items()} == {"P003": True, "7": False}
    assert not Mask(metadata, frozenset({"sex"})).record(read[0]).complete


def test_a_dictionary_that_cannot_be_looked_up_is_no_answer(hospital: Hospital) -> None:
    project = study(hospital)
    dictionary.load(project)
    _as_of_before(project, _without_choice)
    hospital.fault("status", 403, body="content=metadata")

    with pytest.raises(RedcapPermissionError):
        read_record(project=project, record_id="P001")

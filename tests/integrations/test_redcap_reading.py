"""The client reads what REDCap holds: over real HTTP from the stand-in."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.integrations.redcap import ExportShape, RedcapClient, TokenBucket
from tests.hospital import DEIDENTIFIED, FULL, LOG, SITE_A, V1, Hospital, open_hospital


@pytest.fixture
def hospital(tmp_path: Path) -> Iterator[Hospital]:
    with open_hospital(tmp_path) as opened:
        yield opened


def client(hospital: Hospital, token: str = FULL, shape: ExportShape | None = None) -> RedcapClient:
    limiter = TokenBucket(1000, 1000)
    return RedcapClient(
        hospital.redcap_url, token, limiter=limiter, shape=shape, sleep=lambda _: None
    )


def test_the_description_of_the_study(hospital: Hospital) -> None:
    redcap = client(hospital)

    assert redcap.project()["is_longitudinal"] == 1
    assert redcap.metadata()[0]["field_name"] == "record_id"
    assert redcap.events()[0]["unique_event_name"] == "screening_arm_1"
    assert {"arm_num": 1, "unique_event_name": LOG, "form": "ae"} in redcap.form_event_mapping()
    assert [row["instrument_name"] for row in redcap.instruments()] == ["demo", "visit", "ae"]
    assert [(row["event_name"], row["form_name"]) for row in redcap.repeating()] == [(LOG, "ae")]
    assert {row["unique_group_name"] for row in redcap.dags()} == {"site_a", "site_b"}
    assert redcap.version()[0].isdigit()


def test_a_checkbox_code_below_zero_has_its_own_column(hospital: Hospital) -> None:
    """Code -1 is not code 1 (E18)."""
    names = {row["export_field_name"] for row in client(hospital).export_field_names()}

    assert {"exclusion___1", "exclusion____1"} <= names


def test_a_classic_project_has_no_events_and_is_not_asked_for_them(tmp_path: Path) -> None:
    with open_hospital(tmp_path, classic=True) as hospital:
        redcap = client(hospital)
        described = [redcap.events(), redcap.form_event_mapping()]
        rows = redcap.records(["P001"]).rows

        assert described == [[], []]
        assert redcap.repeating() == []
        assert not hospital.forms("event")
        assert [row["subject_name"] for row in rows] == ["张三"]
        assert all("redcap_event_name" not in row for row in rows)


def test_one_record_with_all_its_rows(hospital: Hospital) -> None:
    before = datetime.now(UTC)
    export = client(hospital).records(["P001"])

    repeats = [row for row in export.rows if row["redcap_repeat_instrument"]]
    assert [(r["redcap_repeat_instance"], r["ae_term"]) for r in repeats] == [
        (1, "恶心"),
        (2, "皮疹"),
    ]
    assert {row["redcap_data_access_group"] for row in export.rows} == {"site_a"}
    assert export.missing_columns == ()
    assert before <= export.read_at <= datetime.now(UTC)


@pytest.mark.parametrize(("asked", "name"), [("7", "赵七"), ("007", "钱邦德")])
def test_seven_is_not_double_o_seven(hospital: Hospital, asked: str, name: str) -> None:
    """E10."""
    rows = client(hospital).records([asked]).rows

    assert {row["record_id"] for row in rows} == {asked}
    assert name in {row["subject_name"] for row in rows}


def test_an_unknown_record_is_an_empty_answer(hospital: Hospital) -> None:
    export = client(hospital).records(["P999"])

    assert export.rows == ()
    assert export.missing_columns == ()


def test_no_ids_mean_no_request_and_never_everything(hospital: Hospital) -> None:
    assert client(hospital).records([]).rows == ()
    assert not hospital.forms("record")


def test_all_records_come_in_batches(hospital: Hospital) -> None:
    people = [
        {"record": f"N{n:03}", "instrument": "demo", "event": "screening_arm_1"} for n in range(120)
    ]
    hospital.save([{**row, "values": {"sex": "1"}} for row in people])

    rows = client(hospital).records().rows

    assert len({row["record_id"] for row in rows}) == 125
    sizes = [sum(key.startswith("records[") for key in form) for form in hospital.forms("record")]
    assert sizes == [0, 100, 25]


def test_a_narrow_read_of_everything_is_one_request(hospital: Hospital) -> None:
    rows = client(hospital).records(fields=["weight"]).rows

    assert {row["record_id"] for row in rows} == {"7", "007", "P001", "P002", "P003"}
    assert "sex" not in rows[0]
    assert len(hospital.forms("record")) == 1


def test_the_record_id_comes_along_with_fields(hospital: Hospital) -> None:
    for fields in (["sex"], list[str]()):
        rows = client(hospital).records(["P001"], fields=fields).rows
        assert {row["record_id"] for row in rows} == {"P001"}


def test_a_date_narrows_the_read(hospital: Hospital) -> None:
    redcap = client(hospital)

    changed = redcap.records(fields=["sex"], date_range_begin=datetime(2099, 1, 1, tzinfo=UTC)).rows

    assert changed == ()


def test_a_token_without_identifiers_is_noticed(hospital: Hospital) -> None:
    """1.2: the columns are silently missing."""
    export = client(hospital, DEIDENTIFIED).records(["P001"])

    assert export.rows
    assert export.missing_columns == ("phone", "subject_name")


def test_only_asked_columns_count_as_missing(hospital: Hospital) -> None:
    redcap = client(hospital, DEIDENTIFIED)

    assert redcap.records(["P001"], fields=["sex", "exclusion"]).missing_columns == ()
    assert redcap.records(["P001"], fields=["sex", "phone"]).missing_columns == ("phone",)


def test_a_token_of_one_site_sees_that_site_only(hospital: Hospital) -> None:
    rows = client(hospital, SITE_A).records(fields=["sex"]).rows

    assert {row["record_id"] for row in rows} == {"7", "P001", "P003"}


def test_a_kept_shape_saves_the_questions_about_the_dictionary(hospital: Hospital) -> None:
    shape = client(hospital).shape()
    asked = len(hospital.forms())

    client(hospital, shape=shape).records(["7"])

    assert len(hospital.forms()) == asked + 1


def test_the_log_is_newest_first(hospital: Hospital) -> None:
    hospital.save(
        [
            {
                "record": "P001",
                "event": V1,
                "instrument": "visit",
                "values": {"visit_date": "2024-03-05"},
            }
        ]
    )
    begin = datetime(2020, 1, 1, tzinfo=UTC)

    rows = client(hospital).log(begin=begin)

    assert "visit_date" in next(row["details"] for row in rows if row["record"] == "P001")
    assert hospital.forms("log")[0]["beginTime"] == "2020-01-01 00:00"

"""PyCap, an independent client, reads the stand-in (reference/redcap_dify.md 2.1)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redcap.request
from redcap import Project

from tests.simulators.sim_study import DEID, FIELDS, FULL, SITE_A, WRITER, Sim


@pytest.fixture(autouse=True)
def _close_session() -> Iterator[None]:
    """PyCap shares one session among all projects and never closes it."""
    yield
    redcap.request._session.close()


@pytest.fixture
def project(sim: Sim) -> Project:
    return Project(f"{sim.url}/redcap/api/", FULL)


def test_version_and_project(project: Project) -> None:
    assert str(project.redcap_version) == "16.1.3"
    info = project.export_project_info()
    assert (info["project_id"], info["is_longitudinal"]) == (14, 1)


def test_structure(project: Project) -> None:
    assert project.is_longitudinal is True
    assert project.def_field == "record_id"
    assert project.field_names == [field[0] for field in FIELDS]
    assert set(project.forms) == {"demographics", "labs", "diary", "ae"}
    assert [e["unique_event_name"] for e in project.export_events()][:2] == [
        "screening_arm_1",
        "v1_arm_1",
    ]
    assert [a["arm_num"] for a in project.export_arms()] == [1, 2]
    assert len(project.export_instrument_event_mappings()) == 6
    assert len(project.export_instruments()) == 4
    assert len(project.export_repeating_instruments_events()) == 2
    assert len(project.export_dags()) == 2
    assert project.export_user_dag_assignment()
    assert project.export_users()
    assert project.generate_next_record_name() == "11"


def test_classic(classic: Sim) -> None:
    assert Project(f"{classic.url}/redcap/api/", FULL).is_longitudinal is False


def test_records(project: Project) -> None:
    rows = project.export_records()
    assert len(rows) == 8
    screening = rows[1]
    assert (screening["record_id"], screening["redcap_repeat_instance"]) == ("10", "")
    assert (screening["race___1"], screening["race___k__9"]) == ("1", "0")
    assert {r["redcap_repeat_instance"] for r in rows} == {"", 1, 2}


def test_forms_are_backfilled_by_the_client(project: Project) -> None:
    rows = project.export_records(forms=["ae"], events=["log_arm_1"])
    assert [r["ae_term"] for r in rows] == ["Nausea", "Rash"]
    assert rows[0]["record_id"] == "10"


def test_labels_and_csv(project: Project) -> None:
    text = project.export_records(
        format_type="csv",
        records=["2"],
        fields=["sex", "race"],
        raw_or_label="label",
        raw_or_label_headers="raw",
    )
    assert text.splitlines() == [
        "record_id,redcap_event_name,redcap_repeat_instrument,redcap_repeat_instance,"
        "sex,race___1,race____4,race___k__9",
        '2,"Screening (Arm 1: Drug A)",,,女,Unchecked,Unchecked,Checked',
    ]


def test_filter_and_eav(project: Project) -> None:
    found = project.export_records(filter_logic="[sex] = '2'", fields=["sex"])
    assert [r["record_id"] for r in found] == ["2"]
    rows = project.export_records(record_type="eav", records=["2"], fields=["race"])
    assert [r["value"] for r in rows if r["field_name"] == "race"] == ["k>=9"]


def test_groups_and_rights(sim: Sim, project: Project) -> None:
    rows = project.export_records(export_data_access_groups=True)
    assert {r["redcap_data_access_group"] for r in rows} == {"site_a", "site_b", ""}
    site = Project(f"{sim.url}/redcap/api/", SITE_A)
    assert {r["record_id"] for r in site.export_records()} == {"10"}
    hidden = Project(f"{sim.url}/redcap/api/", DEID).export_records()
    assert "full_name" not in hidden[0]


def test_metadata_log_and_names(project: Project) -> None:
    assert project.export_metadata(fields=["sex"])[0]["field_type"] == "radio"
    assert len(project.export_field_names(field="race")) == 3
    assert project.export_logging(log_type="record_add")[0]["record"]


def test_errors_raise(project: Project) -> None:
    with pytest.raises(redcap.RedcapError, match="not valid"):
        project.export_records(fields=["nosuch"])


def test_writing_is_counted(sim: Sim) -> None:
    writer = Project(f"{sim.url}/redcap/api/", WRITER)
    assert writer.import_records([{"record_id": "2", "hb": "3"}]) == {"count": 1}
    assert writer.delete_records(["2"]) == 1
    assert sim.control("redcap/counters")["imports"] == 2

"""Tokens: errors in three formats, silent gaps, groups (reference/redcap_dify.md 1.1, 1.2, 1.8)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulators.sim_study import (
    DEID,
    FULL,
    IMPORT_ONLY,
    NO_DATA,
    NO_IDS,
    SITE_A,
    SITE_B,
    TOKENS,
    Sim,
    configure,
    serve_study,
    study_parts,
    write_study,
)

NO_API = "You do not have permissions to use the API"
NO_EXPORT = "You do not have API Export privileges"
ENVELOPES = {
    "json": ('{"error":"%s"}', "application/json; charset=utf-8"),
    "csv": ("ERROR: %s", "text/csv; charset=utf-8"),
    "xml": (
        '<?xml version="1.0" encoding="UTF-8" ?><hash><error>%s</error></hash>',
        "text/xml; charset=utf-8",
    ),
}


@pytest.mark.parametrize("token", ["", "x", "F" * 31, FULL.lower(), "9" * 64])
def test_wrong_tokens(sim: Sim, token: str) -> None:
    answer = sim.call("version", token)
    assert answer.status_code == 403
    assert answer.json() == {"error": NO_API}


def test_a_missing_token(sim: Sim) -> None:
    answer = sim.http.post("/redcap/api/", data={"content": "record", "format": "json"})
    assert (answer.status_code, answer.json()) == (403, {"error": NO_API})


def test_nothing_works_before_configuration(blank_sim: Sim) -> None:
    assert blank_sim.call().status_code == 403


def test_a_get_is_a_call_without_a_token(sim: Sim) -> None:
    answer = sim.http.get("/redcap/api/", params={"token": FULL, "content": "version"})
    assert answer.status_code == 403
    assert NO_API in answer.text


@pytest.mark.parametrize(
    ("sent", "form"),
    [
        ({"format": "json"}, "json"),
        ({"format": "csv"}, "csv"),
        ({"format": "xml"}, "xml"),
        ({"format": ""}, "xml"),
        ({"format": "odm"}, "xml"),
        ({"format": "json", "returnFormat": "csv"}, "csv"),
        ({"format": "csv", "returnFormat": "json"}, "json"),
        ({"format": "csv", "returnFormat": "xml"}, "xml"),
    ],
)
def test_errors_follow_return_format_then_format(sim: Sim, sent: dict[str, str], form: str) -> None:
    answer = sim.call(token="bad", **sent)
    text, content_type = ENVELOPES[form]
    assert answer.status_code == 403
    assert answer.text == text % NO_API
    assert answer.headers["content-type"] == content_type


def test_quotes_are_escaped_per_format(sim: Sim) -> None:
    text = "The following values in the parameter \"fields\" are not valid: 'a<b'"
    assert sim.call(fields=["a<b"]).json()["error"] == text
    assert sim.call(fields=["a<b"], format="csv").text == f"ERROR: {text}"
    assert "'a&lt;b'</error>" in sim.call(fields=["a<b"], format="xml").text


@pytest.mark.parametrize("content", ["record", "metadata", "event", "log", "project", "user"])
def test_without_the_export_right(sim: Sim, content: str) -> None:
    answer = sim.call(content, IMPORT_ONLY)
    assert (answer.status_code, answer.json()) == (403, {"error": NO_EXPORT})


def test_no_access_to_data_is_an_error_for_records_only(sim: Sim) -> None:
    answer = sim.call(token=NO_DATA)
    assert (answer.status_code, answer.json()) == (403, {"error": NO_EXPORT})
    assert sim.call("metadata", NO_DATA).status_code == 200


def test_a_token_without_any_api_right_is_no_token(sim: Sim) -> None:
    configure(sim, tokens=[{**TOKENS[0], "api_export": False}])
    assert sim.call("version").json() == {"error": NO_API}


def test_configuring_again_replaces_the_tokens(sim: Sim) -> None:
    configure(sim, tokens=[TOKENS[1]])
    assert sim.call().status_code == 403
    assert sim.call(token=DEID).status_code == 200


def test_an_unknown_export_level_is_refused_when_configured(sim: Sim) -> None:
    bad = {"redcap": {"tokens": [{**TOKENS[0], "export": "some"}]}}
    assert sim.try_control("configure", bad).status_code == 400


@pytest.mark.parametrize(
    ("content", "status", "text"),
    [
        ("", 400, 'The value of the parameter "content" is not valid'),
        ("records", 400, 'The value of the parameter "content" is not valid'),
        ("Record", 400, 'The value of the parameter "content" is not valid'),
        ("report", 501, "The requested method is not implemented."),
        ("file", 501, "The requested method is not implemented."),
    ],
)
def test_contents_that_are_not_there(sim: Sim, content: str, status: int, text: str) -> None:
    answer = sim.call(content)
    assert (answer.status_code, answer.json()) == (status, {"error": text})


def test_odm_is_not_implemented(sim: Sim) -> None:
    assert sim.call(format="odm").status_code == 501


def columns(sim: Sim, token: str) -> set[str]:
    return set(sim.rows(token=token)[0])


def test_a_full_token_sees_everything(sim: Sim) -> None:
    assert {"full_name", "dob", "remarks", "visit_date", "hb_unit"} <= columns(sim, FULL)


def test_a_de_identified_token_silently_loses_columns(sim: Sim) -> None:
    lost = columns(sim, FULL) - columns(sim, DEID)
    assert lost == {
        "full_name",  # identifier
        "dob",  # identifier and date
        "remarks",  # notes
        "visit_date",  # date
        "ae_start",
        "hb_unit",  # unvalidated text
        "ae_term",
    }


def test_identifiers_removed_loses_identifiers_only(sim: Sim) -> None:
    lost = columns(sim, FULL) - columns(sim, NO_IDS)
    assert lost - {"pain", "diary_complete"} == {"full_name", "dob"}


def test_asking_for_a_hidden_field_is_no_error(sim: Sim) -> None:
    rows = sim.rows(token=DEID, fields=["record_id", "full_name", "sex"])
    assert "full_name" not in rows[0]
    assert rows[0]["sex"] == "2"
    assert sim.rows(token=DEID, fields=["full_name"]) == []


def test_survey_times_are_dates_too(sim: Sim) -> None:
    assert "diary_timestamp" not in sim.rows(token=DEID, exportSurveyFields="true")[0]


def test_the_dictionary_and_the_export_names_stay_whole(sim: Sim) -> None:
    assert sim.rows("metadata", DEID) == sim.rows("metadata")
    assert sim.rows("exportFieldNames", DEID) == sim.rows("exportFieldNames")


@pytest.mark.parametrize(("token", "record"), [(SITE_A, "10"), (SITE_B, "2")])
def test_a_token_in_a_group_sees_its_group_only(sim: Sim, token: str, record: str) -> None:
    assert {r["record_id"] for r in sim.rows(token=token)} == {record}
    assert sim.rows(token=token, records=["331-1"]) == []


def test_a_user_in_a_group_gets_no_group_column(sim: Sim) -> None:
    rows = sim.rows(token=SITE_A, exportDataAccessGroups="true")
    assert "redcap_data_access_group" not in rows[0]


def test_an_id_that_is_an_identifier_is_hashed(tmp_path: Any) -> None:
    from tests.simulators.sim_study import metadata_rows

    rows = metadata_rows()
    rows[0]["identifier"] = "y"
    for sim in serve_study(write_study(tmp_path / "ids", study_parts(), rows)):
        configure(sim)
        hidden = {r["record_id"] for r in sim.rows(token=DEID)}
        assert {len(name) for name in hidden} == {32}
        assert {r["record_id"] for r in sim.rows()} == {"2", "10", "331-1"}


@pytest.mark.parametrize("path", ["/redcap/", "/redcap/index.php", "/redcap/api/x"])
def test_other_paths_are_the_web_servers(sim: Sim, path: str) -> None:
    answer = sim.http.post(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/html")


def test_the_path_without_the_slash_redirects(sim: Sim) -> None:
    answer = sim.http.post("/redcap/api")
    assert (answer.status_code, answer.headers["location"]) == (301, "/redcap/api/")

"""Rows, order, limit, aggregates and groups; worked out by hand on `trial`."""

from __future__ import annotations

import pytest

from tests.study.query.studies import small
from tests.study.query.trial import trial

TYPE = "text_validation_type_or_show_slider_number"
ALT_ROWS = [("S1", "v1", None, 30), ("S1", "v2", None, 90), ("S2", "v1", None, None)]


def test_a_field_shows_its_rows_with_blanks_codes_and_what_is_censored() -> None:
    told = trial().ask(select=["alt"])
    assert [(f.subject, f.event, f.kind, f.value, f.text) for f in told.facts] == [
        ("S1", "v1", "value", 30, "30"),
        ("S1", "v2", "value", 90, "90"),
        ("S2", "v1", "value", None, "UNK (未知)"),
        ("S2", "v2", "blank", None, ""),
        ("S3", "v1", "value", None, "<10"),
        ("S10", "v1", "value", 90, "90"),
    ]
    assert [sorted(f.flags) for f in told.facts] == [
        [],
        ["high"],
        ["missing_code"],
        [],
        [],
        ["high"],
    ]
    assert (told.basis.subjects, told.basis.rows, told.basis.missing) == (4, 6, 1)


def test_latest_skips_blanks_and_first_is_by_field() -> None:
    rows = trial().values("alt", rows="latest")
    assert rows == [
        ("S1", "v2", None, 90),
        ("S2", "v1", None, None),
        ("S3", "v1", None, None),
        ("S10", "v1", None, 90),
    ]
    assert trial().values("grade", rows={"latest": 1}, subjects=["S1"]) == [("S1", "log", 2, "1")]


def test_the_highest_leads_the_fields_beside_it() -> None:
    rows = trial().values("grade", "onset", "sex", rows="highest", subjects=["S1"])
    assert rows == [
        ("S1", "base", None, "1"),
        ("S1", "log", 1, "3"),
        ("S1", "log", 1, "2026-10-05"),
    ]


def test_selected_rows_are_those_that_matched() -> None:
    where = [{"field": "grade", "op": "=", "value": 3}]
    rows = trial().values("onset", where=where)
    assert rows == [("S1", "log", 1, "2026-10-05"), ("S2", "log", 1, "2026-10-20")]


def test_order_puts_absent_values_last_and_limit_keeps_ties() -> None:
    told = trial().ask(select=["alt"], order={"by": "alt", "desc": True}, limit=1)
    assert [(f.subject, f.value) for f in told.facts] == [("S1", 90), ("S10", 90)]
    assert told.left_out == 4
    last = trial().ask(select=["alt"], order={"by": "value"}).facts[-1]
    assert (last.subject, last.kind) == ("S2", "blank")


def test_columns_of_a_subject_go_with_its_first_row() -> None:
    told = trial().ask(select=["alt", "@site"], order={"by": "alt", "desc": True}, limit=1)
    assert [(f.subject, f.field, f.value) for f in told.facts] == [
        ("S1", "@site", "a"),
        ("S1", "alt", 90),
        ("S10", "@site", "b"),
        ("S10", "alt", 90),
    ]


def test_aggregates_take_the_latest_unless_rows_or_place_say_otherwise() -> None:
    study = trial()
    assert study.value(aggregate="mean", select=["alt"]) == 90
    assert study.value(aggregate="mean", select=["alt"], rows="all") == 70
    assert study.value(aggregate="max", select=["alt"], place="V1") == 90
    assert study.value(aggregate="min", select=["enrolled_on"]) == "2026-08-03"
    assert study.value(aggregate="median", select=["grade"], rows="all") == 3
    told = study.ask(aggregate="sum", select=["alt"])
    assert [(u.subject, u.reason) for u in told.undecided] == [("S3", "censored")]
    assert told.basis.missing == 2
    assert told.facts[0].unit == "U/L"


def test_count_gives_subjects_and_rows() -> None:
    serious = {"field": "grade", "op": "filled"}
    told = trial().ask(aggregate="count", where=[serious])
    assert (told.facts[0].value, told.basis.rows) == (2, 3)
    by_subject = trial().groups(aggregate="count", where=[serious], by=["@subject"])
    assert by_subject == {"S1": 2, "S2": 1}


def test_share_is_of_the_decided() -> None:
    told = trial().ask(
        aggregate="share",
        where=[{"field": "alt", "op": ">", "value": 50}],
        of=[{"field": "@status", "op": "=", "value": "入组"}],
    )
    assert told.facts[0].value == 1
    assert [(u.subject, u.reason) for u in told.undecided] == [("S2", "missing_code")]


def test_groups_by_periods_list_the_empty_ones() -> None:
    study = trial()
    months = study.groups(aggregate="count", by=["month:enrolled_on"])
    assert months == {"2026-08": 1, "2026-09": 1, "2026-10": 2}
    period = {"field": "enrolled_on", "from": "2026-09-01", "to": "2026-12-31"}
    listed = study.groups(aggregate="count", by=["quarter:enrolled_on"], period=period)
    assert listed == {"2026-Q3": 1, "2026-Q4": 2}
    weeks = study.groups(aggregate="count", by=["week:enrolled_on"], subjects=["S1", "S2"])
    assert weeks == {"W39": 1, "W40": 1}


def test_groups_by_a_code_keep_its_order_and_name_the_blanks() -> None:
    assert trial().groups(aggregate="count", by=["sex"]) == {"1": 1, "2": 2, None: 1}
    told = trial().ask(aggregate="count", by=["sex", "@site"], limit=2).as_json()
    assert [group["by"] for group in told["groups"]] == [["1", "a"], ["2", "a"]]
    assert told["left_out"] == 2


def test_what_is_empty_whether_shown_or_not_is_the_group_of_blanks() -> None:
    told = trial().ask(aggregate="count", by=["pregnant"]).as_json()
    assert [(group["by"], group["value"]) for group in told["groups"]] == [(["1"], 1), ([None], 3)]
    assert told["undecided"] == []


def test_a_partial_date_leaves_its_period_open() -> None:
    told = trial().ask(aggregate="count", by=["week:onset"]).as_json()
    assert [u["subject"] for u in told["undecided"]] == ["S1"]


def test_differences_have_their_left_field_and_are_not_rounded() -> None:
    change = {"field": "alt", "rows": "latest", "minus": {"field": "alt", "rows": "first"}}
    (fact,) = trial().ask(select=[change | {"as": "percent"}], subjects=["S1"]).facts
    assert (fact.field, fact.value, fact.unit, fact.event) == ("alt", 200, "%", "v2")
    days = {"field": "lab_date", "place": "V1", "minus": {"field": "enrolled_on"}}
    assert trial().values(days, subjects=["S2"]) == [("S2", "v1", None, 1)]


def test_a_selected_form_leaves_out_the_id_identifiers_and_its_status() -> None:
    fields = [f.field for f in trial().ask(select=["base"], subjects=["S2"]).facts]
    assert fields == ["sex", "pregnant", "why_out", "enrolled_on", "state"]


def test_the_study_itself_and_work_are_told() -> None:
    study = trial()
    assert [f.value for f in study.ask(select=["@project.target", "@project.sites"]).facts] == [
        10,
        ("a", "b"),
    ]
    rows = {"findings": {"S1": [{"status": "OPEN", "opened": "2026-11-01T09:00:00", "age": 22}]}}
    asked = study.__class__(study.design, study.records, work=lambda kind: rows.get(kind, {}))
    where = [{"field": "@findings.opened", "op": "<", "value": "today-7"}]
    (fact,) = asked.ask(where=where, select=["@findings.age"]).facts
    assert (fact.kind, fact.subject, fact.value) == ("finding", "S1", 22)


def test_a_place_where_the_form_cannot_stand_gives_nothing() -> None:
    """No labs at the first event of the trial, no adverse events at a visit; a one-row form is shown anyhow."""
    study = trial()
    for query in (
        {"select": ["alt"], "place": "base"},
        {"select": ["lab"], "place": "base"},
        {"select": ["grade"], "place": "V1"},
        {"select": ["alt"], "place": "base", "rows": "latest"},
        {"select": ["alt"], "place": "base", "aggregate": "mean"},
    ):
        facts = [fact for fact in study.ask(**query).facts if fact.value not in (None, 0)]
        assert not facts, query
    assert study.values("sex", "alt", place="V1", subjects=["S1"]) == [
        ("S1", "base", None, "1"),
        ("S1", "v1", None, 30),
    ]


@pytest.mark.parametrize("aggregate", ["mean", "median", "sum", "min", "max"])
def test_a_text_has_no_mean(aggregate: str) -> None:
    fields = [
        {"field_name": "record_id", "form_name": "base", "field_type": "text"},
        {"field_name": "note", "form_name": "base", "field_type": "notes"},
        {"field_name": "told", "form_name": "base", "field_type": "text"},
    ]
    study = small(fields, {"S1": [{"note": "5", "told": "7"}]})
    for name in ("note", "told"):
        assert study.refused(aggregate=aggregate, select=[name]).at == "select[0]"


def test_what_is_no_value_of_its_field_is_a_fact_with_its_text() -> None:
    told = {"alt": "185?", "sugar": "UNK", "visit_date": "2026-11-02?"}
    fields = [
        {"field_name": "record_id", "form_name": "base", "field_type": "text"},
        *(
            {"field_name": name, "form_name": "base", "field_type": "text", TYPE: kind}
            for name, kind in (("alt", "number"), ("sugar", "number"), ("visit_date", "date_ymd"))
        ),
    ]
    study = small(fields, {"S1": [told]})
    facts = study.ask(select=[*told]).facts
    assert [(f.field, f.kind, f.value, f.text) for f in facts] == [
        ("alt", "value", None, "185?"),
        ("sugar", "value", None, "UNK (未知)"),
        ("visit_date", "value", None, "2026-11-02?"),
    ]
    undecided = study.ask(where=[{"field": "alt", "op": ">", "value": 40}]).undecided
    assert [(one.subject, one.reason) for one in undecided] == [("S1", "type_mismatch")]

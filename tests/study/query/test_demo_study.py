"""Ordinary questions to the demo study; the figures stand in demo/study/redcap/records.json."""

from __future__ import annotations

from decimal import Decimal

from study.facts import Limit
from tests.study.query.studies import demo


def test_status_is_counted_by_its_codes_in_their_order() -> None:
    found = demo().groups(aggregate="count", by=["@status"])
    assert found == {"1": 10, "2": 25, "3": 1, "4": 1, "5": 1}


def test_a_value_beyond_three_times_the_limit_is_found_with_its_row_and_flag() -> None:
    limit = {"ref": "high", "times": 3}
    where = [{"field": "alt", "op": ">", "value": limit}]
    facts = demo().ask(where=where, select=["alt"]).facts
    assert [(f.subject, f.event, f.value) for f in facts] == [
        ("P016", "v2_arm_1", 185),
        ("P032", "v4_arm_1", 132),
    ]
    first = facts[0].as_json()
    assert first["id"] == "F1"
    assert (first["unit"], first["flags"], first["date"]) == ("U/L", ["high"], "2026-09-22")
    assert facts[0].limit == Limit(None, Decimal(40))


def test_the_highest_of_each_subject_is_cut_after_ordering_and_ties_stay() -> None:
    order = {"by": "alt", "desc": True}
    told = demo().ask(select=["alt"], rows="highest", order=order, limit=3)
    assert [fact.value for fact in told.facts] == [185, 132, 38, 38, 38]
    assert told.left_out == told.basis.rows - 5


def test_conditions_on_one_form_hold_in_one_row() -> None:
    where = [
        {"field": "ae_serious", "op": "=", "value": 1},
        {"field": "ae_grade", "op": ">=", "value": 3},
    ]
    rows = demo().values("ae_term", where=where)
    both = demo().subjects(*where)
    assert {row[0] for row in rows} == set(both)
    assert len(rows) == 3


def test_overdue_visits_are_windows_with_roles() -> None:
    where = [{"field": "@visits.state", "op": "=", "value": "overdue"}]
    (fact,) = demo().ask(where=where, select=["@visits.close"]).facts
    assert (fact.kind, fact.subject, fact.event, fact.value) == (
        "window",
        "P005",
        "v3_arm_1",
        "2026-11-10",
    )
    assert (fact.role, fact.as_json()["flags"]) == ("close", ["overdue"])


def test_identifiers_read_like_fields_that_do_not_exist() -> None:
    for name in ("subject_name", "birth_date", "id_card"):
        hidden = demo().refused(select=[name]).as_json()["error"]
        assert name not in hidden["nearest"]
        assert hidden["message"].replace(name, "x") == demo().refused(select=["x"]).message


def test_subjects_that_are_not_there_give_an_empty_answer() -> None:
    told = demo().ask(subjects=["P999"], select=["alt"]).as_json()
    assert told == {
        "facts": [],
        "groups": [],
        "undecided": [],
        "basis": {"subjects": 0, "rows": 0, "missing": 0},
        "left_out": 0,
        "read_at": None,
    }


def test_a_due_visit_without_its_row_has_blanks_only() -> None:
    blank = {"field": "alt", "op": "blank"}
    facts = demo().ask(where=[blank], select=["alt"], place="V3").facts
    assert [(f.subject, f.event, f.kind, f.value) for f in facts] == [
        ("P005", "v3_arm_1", "blank", None),
        ("P006", "v3_arm_1", "blank", None),
    ]
    alone = {"field": "ast", "op": "filled"}
    assert demo().subjects(blank, alone, place="V3") == []

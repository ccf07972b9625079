"""Checkboxes: export column names, unopened forms, the field as a list of ticked codes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.support import result, untyped, var, verdict

BOX = var("exclusion")


def row(*ticked: int, status: str | None = "2") -> dict[str, str]:
    cells = {f"exclusion___{code}": "1" if code in ticked else "0" for code in (1, 2, 3)}
    return cells if status is None else {**cells, "base_complete": status}


NONE_TICKED = [
    {"!": BOX},
    {"is_blank": BOX},
    {"==": [BOX, []]},
    {"!": {"in": [3, BOX]}},
    {"none": [BOX, {"in": [var(""), [1, 2, 3]]}]},
    {"!": {"some": [BOX, {"==": [var(""), "3"]}]}},
    {"!": var("exclusion___3")},
    {"==": [var("exclusion___3"), "0"]},
    {"!=": [var("exclusion___3"), True]},
    {"!": {"or": [var("exclusion___1"), var("exclusion___3")]}},
    {"<": [{"+": [var("exclusion___1"), var("exclusion___3")]}, 1]},
    {"!": {"filter": [BOX, {"==": [var(""), 3]}]}},
    {"==": [{"missing": ["exclusion"]}, ["exclusion"]]},
    {"==": [{"reduce": [BOX, {"+": [var("accumulator"), 1]}, 0]}, 0]},
]


@pytest.mark.parametrize("logic", NONE_TICKED, ids=str)
def test_a_ticked_box_decides(logic: Any) -> None:
    assert verdict(logic, row()) == "PASS"
    assert verdict(logic, row(3)) == "FAIL"
    assert verdict(logic, row(status=None)) == "PASS"


@pytest.mark.parametrize("logic", NONE_TICKED, ids=str)
def test_an_unticked_box_of_an_unopened_form_says_nothing(logic: Any) -> None:
    assert verdict(logic, row(status="")) == "UNKNOWN missing"


@pytest.mark.parametrize("logic", NONE_TICKED[:6], ids=str)
def test_a_ticked_box_counts_whatever_the_form_status(logic: Any) -> None:
    assert verdict(logic, row(3, status="")) == "FAIL"


@pytest.mark.parametrize("logic", NONE_TICKED, ids=str)
def test_without_dictionary_the_columns_tell(logic: Any) -> None:
    assert untyped(logic, row()) == "PASS"
    assert untyped(logic, row(3)) == "FAIL"


def test_membership_decides_by_the_box_it_asks_for() -> None:
    assert verdict({"in": [3, BOX]}, row(3, status="")) == "PASS"
    assert verdict({"in": [2, BOX]}, row(3, status="")) == "UNKNOWN missing"
    assert verdict({"in": [2, BOX]}, {"exclusion___2": "0"}) == "FAIL"
    assert verdict({"in": [3, BOX]}, {"exclusion___2": "0"}) == "UNKNOWN not_exported"
    assert verdict({"all": [BOX, {"==": [var(""), 3]}]}, row(3, status="")) == "UNKNOWN missing"
    assert verdict({"all": [BOX, {"==": [var(""), 3]}]}, row()) == "FAIL"


def test_equality_of_ticks_ignores_order() -> None:
    assert verdict({"==": [BOX, ["3", "1"]]}, row(1, 3)) == "PASS"
    assert verdict({"==": [BOX, ["1"]]}, row(1, 3)) == "FAIL"
    assert verdict({"!=": [BOX, ["1"]]}, row(1, 3)) == "PASS"
    assert verdict({"==": [BOX, ["1"]]}, row(1, status="")) == "UNKNOWN missing"
    assert verdict({"==": [BOX, ["2"]]}, row(1, status="")) == "FAIL"


def test_codes_become_column_names_as_redcap_makes_them() -> None:
    cells = {"med____1": "1", "med___1": "0", "med___k__9": "1"}
    assert verdict({"in": ["-1", var("med")]}, cells) == "PASS"
    assert verdict({"in": [1, var("med")]}, cells) == "FAIL"
    assert verdict({"in": ["k>=9", var("med")]}, cells) == "PASS"
    assert verdict({"==": [var("med___k__9"), 1]}, cells) == "PASS"
    found = result({"!": var("med____1")}, cells, about="med")
    assert found.detail[0]["label"] == "None of the above"
    assert found.value == ["-1", "k>=9"]


def test_a_ticked_missing_code_leaves_the_other_boxes_open() -> None:
    cells = {**row(), "exclusion___na": "1"}
    assert verdict({"in": [3, BOX]}, cells) == "UNKNOWN missing_code"
    assert verdict({"==": [var("exclusion___3"), 0]}, cells) == "UNKNOWN missing_code"
    assert verdict({"==": [var("exclusion___na"), 1]}, cells) == "PASS"


GROUP_IS_BLANK = [
    {"is_blank": BOX},
    {"==": [BOX, None]},
    {"!!": [{"missing": ["exclusion"]}]},
]


@pytest.mark.parametrize("logic", GROUP_IS_BLANK, ids=str)
def test_whether_a_group_is_blank_is_answered(logic: Any) -> None:
    empty = dict.fromkeys(row(), "")
    for status in ("0", "1", "2"):
        assert verdict(logic, {**empty, "base_complete": status}) == "PASS"
        assert verdict(logic, {**empty, "base_complete": status, "exclusion___na": "1"}) == "FAIL"
        assert verdict(logic, {**empty, "base_complete": status, "exclusion___2": "1"}) == "FAIL"
    assert verdict(logic, {**empty, "base_complete": ""}) == "UNKNOWN missing"
    assert verdict(logic, {**row(), "exclusion___na": "1"}) == "FAIL"
    assert verdict(logic, {"exclusion___1": "", "exclusion___2": "0"}) == "UNKNOWN not_exported"


def test_empty_boxes_of_an_open_form_are_not_ticked() -> None:
    empty = {**dict.fromkeys(row(), ""), "base_complete": "0"}
    assert [verdict({name: BOX}, empty) for name in ("!", "!!")] == ["PASS", "FAIL"]
    assert verdict({"in": [3, BOX]}, empty) == "UNKNOWN missing"
    coded = {**row(), "exclusion___na": "1"}
    assert [verdict({name: BOX}, coded) for name in ("!", "!!")] == ["UNKNOWN missing_code"] * 2


def test_the_detail_of_a_group_names_its_missing_code() -> None:
    found = result({"is_blank": BOX}, {**row(), "exclusion___na": "1"}, about="exclusion")
    assert (found.detail[0]["raw"], found.detail[0]["label"]) == (["NA"], "Not applicable")


def test_anything_but_0_and_1_is_no_answer() -> None:
    for cell in ("2", "Checked", "yes"):
        assert verdict({"!": BOX}, {**row(), "exclusion___1": cell}) == "FAIL invalid_choice"
        logic = {"==": [var("exclusion___1"), 1]}
        assert verdict(logic, {"exclusion___1": cell}) == "FAIL invalid_choice"


def test_the_rule_may_be_about_one_box() -> None:
    found = result({"!": var("exclusion___3")}, row(3), about="exclusion___3")
    assert (found.field, found.value, found.outcome) == ("exclusion___3", "1", "FAIL")
    assert found.detail[0]["label"] == "Allergy, severe"

"""What holds for all values: formats read back, flat and EAV agree, filters never crash."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import datetime
from typing import Any

import pytest
from defusedxml import ElementTree
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from demo.simulators.http import Request
from demo.simulators.redcap.dictionary import Dictionary, checkbox_column, parse_choices
from demo.simulators.redcap.errors import ApiError
from demo.simulators.redcap.formats import table
from demo.simulators.redcap.logic import compile_filter
from demo.simulators.redcap.params import Params
from demo.simulators.redcap.store import Record, RowKey, natural_key
from demo.simulators.study import Study
from tests.simulators.sim_study import WRITER, Sim, metadata_rows, study_parts

# XML has no control characters, and readers normalise carriage returns.
TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc"), include_characters="\n\t"))
ROWS = st.lists(st.fixed_dictionaries({"a": TEXT, "b": TEXT}), min_size=1, max_size=5)
FIELDS = ["[sex]", "[hb]", "[race(1)]", "[v1_arm_1][hb]", "'1'", '""', "12", ".5", "'today'", "'d'"]
MARKS = ["=", "<>", "<", ">=", "(", ")", ",", "+", "-", "*", "/", "^", "#", "//"]
NAMES = ["and", "or", "not", "true", "false", "datediff(", "if(", "round(", "sum(", "abs("]
WORDS = st.sampled_from([*FIELDS, *MARKS, *NAMES, "contains(", "isblankormissingcode("])
NOW = datetime.fromisoformat("2026-03-20T09:30")
DICTIONARY = Dictionary(Study(metadata=metadata_rows(), **study_parts()))
BASE = RowKey("screening_arm_1", "", 0)


def record(**values: str) -> Record:
    return Record("10", rows={BASE: values})


def evaluate(logic: str, **values: str) -> bool:
    return compile_filter(logic, DICTIONARY, NOW).matches(record(**values), BASE)


@given(ROWS, st.sampled_from(",;|^\t"))
def test_csv_reads_back(rows: list[dict[str, str]], delimiter: str) -> None:
    body = table(rows, "csv", delimiter=delimiter).body.decode()
    found = list(csv.DictReader(io.StringIO(body, newline=""), delimiter=delimiter))
    assert found == rows


@given(ROWS)
def test_xml_reads_back(rows: list[dict[str, str]]) -> None:
    body = table(rows, "xml", root="records").body.decode()
    items = ElementTree.fromstring(body.removeprefix('<?xml version="1.0" encoding="UTF-8" ?>'))
    assert [{cell.tag: cell.text or "" for cell in item} for item in items] == rows


@given(st.text(max_size=8))
def test_checkbox_columns_are_plain_names(code: str) -> None:
    column = checkbox_column("race", code)
    assert re.fullmatch(r"race___[a-z0-9_]*", column)


@pytest.mark.parametrize(
    ("code", "column"),
    [
        ("1", "x___1"),
        ("-1", "x____1"),
        ("-4", "x____4"),
        ("k>=9", "x___k__9"),
        ("ABC", "x___abc"),
        ("a.b c", "x___a_b_c"),
    ],
)
def test_checkbox_columns(code: str, column: str) -> None:
    assert checkbox_column("x", code) == column


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        ("1, A | 2, B", (("1", "A"), ("2", "B"))),
        ("0, No, never|1,Yes", (("0", "No, never"), ("1", "Yes"))),
        (" -1 , x ", (("-1", "x"),)),
        ("", ()),
        ("1, A | ", (("1", "A"),)),
    ],
)
def test_choices(text: str, choices: tuple[tuple[str, str], ...]) -> None:
    assert parse_choices(text) == choices


@given(st.lists(st.integers(0, 10**6), unique=True))
def test_numeric_ids_sort_as_numbers(numbers: list[int]) -> None:
    names = [str(number) for number in numbers]
    assert [int(name) for name in sorted(names, key=natural_key)] == sorted(numbers)


def test_mixed_ids_sort_naturally() -> None:
    names = ["P10", "331-10", "9", "P2", "331-2", "10"]
    assert sorted(names, key=natural_key) == ["9", "10", "331-2", "331-10", "P2", "P10"]


def outcome(logic: str) -> bool | int:
    """The answer, or the status of the refusal."""
    try:
        return evaluate(logic, sex="1", hb="12.5", race___1="1")
    except ApiError as problem:
        return problem.status


@pytest.mark.full
@settings(max_examples=400)
@given(st.lists(WORDS, min_size=1, max_size=12).map(" ".join))
def test_any_filter_is_answered_or_refused(logic: str) -> None:
    assert outcome(logic) in (True, False, 400)


@given(st.text(max_size=30))
def test_any_text_is_a_filter_or_refused(logic: str) -> None:
    assert outcome(logic) in (True, False, 400)


@pytest.mark.full
@pytest.mark.parametrize(
    "logic", ["(" * 5000 + "1" + ")" * 5000, "1" + "+1" * 20000, "not " * 5000 + "1"]
)
def test_endless_nesting_is_refused(logic: str) -> None:
    with pytest.raises(ApiError):
        evaluate(logic)


NUMBERS = st.decimals(-1000, 1000, places=2).map(str)


@given(NUMBERS, NUMBERS, st.sampled_from(["=", "<>", "<", ">", "<=", ">="]))
def test_numbers_compare_as_numbers(left: str, right: str, operator: str) -> None:
    python = {"=": "==", "<>": "!="}.get(operator, operator)
    expected = eval(f"{float(left)} {python} {float(right)}")
    assert evaluate(f"[hb] {operator} '{right}'", hb=left) is expected


@given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))
def test_precedence_is_pythons(a: int, b: int, c: int) -> None:
    assert evaluate(f"{a} + {b} * {c} = {a + b * c}")
    assert evaluate(f"({a} + {b}) * {c} = {(a + b) * c}")
    assert evaluate(f"{a} - {b} - {c} = {a - b - c}")


@given(st.booleans(), st.booleans(), st.booleans())
def test_and_binds_tighter_than_or(a: bool, b: bool, c: bool) -> None:
    words = [str(value).lower() for value in (a, b, c)]
    assert evaluate(f"{words[0]} or {words[1]} and {words[2]}") is (a or (b and c))
    assert evaluate(f"not {words[0]} and {words[1]}") is ((not a) and b)
    assert evaluate(f"not ({words[0]} or {words[1]})") is (not (a or b))


@pytest.mark.parametrize("text", ["nan", "inf", "1_000", "0x10", "１", "1e999", "--1"])
def test_odd_texts_are_no_numbers(text: str) -> None:
    assert evaluate("[remarks] + 0 = ''", remarks=text)


@pytest.mark.parametrize(
    "logic", ["(0-8) ^ 0.5 = ''", "0 ^ -1 = ''", "10 ^ 999 = ''", "round(1.26, 1) = 1.3"]
)
def test_arithmetic_without_a_result_is_blank(logic: str) -> None:
    assert evaluate(logic)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(st.sampled_from(["raw", "label"]), st.booleans())
def test_flat_and_eav_agree(sim: Sim, mode: str, groups: bool) -> None:
    params = {"rawOrLabel": mode, "exportDataAccessGroups": str(groups).lower()}
    flat = sim.rows(**params, exportBlankForGrayFormStatus="true")
    skip = ("record_id", "race", "redcap_event_name", "redcap_repeat")
    from_flat = {
        (r["record_id"], r["redcap_event_name"], r["redcap_repeat_instance"], name, value)
        for r in flat
        for name, value in r.items()
        if value != "" and not name.startswith(skip)
    }
    from_eav = {
        (
            r["record"],
            r["redcap_event_name"],
            r["redcap_repeat_instance"],
            r["field_name"],
            r["value"],
        )
        for r in sim.rows(**params, type="eav")
        if not r["field_name"].startswith(skip)
    }
    assert from_flat == from_eav


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(TEXT.filter(str.strip), st.integers(-1000, 1000), st.sets(st.sampled_from(["1", "-4"])))
def test_what_is_imported_comes_back(sim: Sim, text: str, number: int, ticks: set[str]) -> None:
    row: dict[str, Any] = {
        "record_id": "2",
        "redcap_event_name": "screening_arm_1",
        "remarks": text,
        "hb": str(number),
        **{checkbox_column("race", code): str(int(code in ticks)) for code in ("1", "-4")},
    }
    answer = sim.call(token=WRITER, data=json.dumps([row]))
    assert answer.json() == {"count": 1}
    found = sim.rows(records=["2"])[0]
    assert {name: found[name] for name in row} == row


def params(body: str, **options: str) -> Params:
    return Params(Request("POST", "/redcap/api/", {}, {}, body.encode()), **options)


@pytest.mark.parametrize(
    ("body", "items"),
    [
        ("records[0]=a&records[1]=b", ["a", "b"]),
        ("records[]=a&records[]=b", ["a", "b"]),
        ("records%5B0%5D=a", ["a"]),
        ("records=a,b", ["a", "b"]),
        ("records=a, b,", ["a", "b"]),
        ("records=", []),
        ("records[0]=", []),
        ("Records[0]=a", []),
        ("records[0]=a,b", ["a,b"]),
        ("", []),
    ],
)
def test_list_parameters(body: str, items: list[str]) -> None:
    assert params(body).items("records") == items


@pytest.mark.parametrize(
    ("value", "flag"),
    [("true", True), ("True", True), ("1", True), ("false", False), ("0", False), ("", False)],
)
def test_flags(value: str, flag: bool) -> None:
    assert params(f"x={value}").flag("x") is flag


def test_the_last_of_equal_parameters_counts() -> None:
    assert params("a=1&a=2").get("a") == "2"
    assert params("").get("a", "none") == "none"

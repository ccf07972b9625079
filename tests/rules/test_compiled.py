"""Compiled rules say what the closures say (`agreed`), cell by cell; rule text never becomes code."""

from __future__ import annotations

import math
from datetime import date
from typing import Any

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from core.rules import writer
from core.rules.context import StudyContext
from core.rules.limits import RuleError
from core.rules.ruleset import RuleSet, compile_rule_set
from tests.fuzz.checks import agreed
from tests.rules.support import DICTIONARY, MISSING_CODES, field, var

TODAY = date(2024, 6, 1)
EXTRA = [
    field("hcg", validation="number", shown_if="[sex] = '0' and [age] > 12"),
    field("hcg_note", shown_if="[hcg] > 5"),
    field("dated", shown_if="[icf] > '2024-03-01' and [alt] < 100"),
    field("detail", "checkbox", choices="1, A | 2, B", shown_if="[exclusion(3)] = '1'"),
]
RULES = [
    ("age", {"<=": [18, var("age"), 75]}),
    ("age", {"and": [{">=": [var("age"), 18]}, {"<": [var("alt"), 120]}]}),
    ("age", {"or": [{"!": [{"<": [var("age"), 18]}]}, {"!!": var("consent")}]}),
    ("alt", {"<": [var("alt"), var("ast")]}),
    ("alt", {"==": [var("alt"), var("ast")]}),
    ("alt", {"!==": [var("alt"), var("ast")]}),
    ("alt", {"<": [var("alt"), {"*": [3, var("ast")]}]}),
    ("icf", {"<=": [var("icf"), var("first_dose")]}),
    ("icf", {"before": [var("icf"), var("first_dose")]}),
    ("icf", {"after": [var("icf"), var("icf_time")]}),
    ("icf", {"<=": [var("icf"), {"today": []}]}),
    ("icf", {"if": [{"==": [var("sex"), 1]}, {"!!": var("icf")}, True]}),
    ("icf", {"and": [{"<=": [var("icf"), var("first_dose")]}, {"in": [var("sex"), [0, 1]]}]}),
    ("icf", {"if": [{"<": [var("age"), 18]}, False, {"!!": var("icf")}, {"<": [var("alt"), 9]}]}),
    (
        "icf",
        {"and": [{"if": [{"<": [var("age"), 18]}, {"!!": var("icf")}]}, {"<": [var("alt"), 9]}]},
    ),
    ("sex", {"in": [var("sex"), [0, 1]]}),
    ("sex", {"and": [{"==": [var("sex"), 1]}, {"!=": [var("ecog"), 3]}, {"!!": var("consent")}]}),
    ("exclusion", {"!": var("exclusion")}),
    ("exclusion", {"==": [var("exclusion___3"), 0]}),
    ("exclusion___3", {"none": [var("exclusion"), {"in": [var(""), [1, 3]]}]}),
    ("preg", {"==": [var("preg"), 0]}),
    ("hcg", {"<": [var("hcg"), 5]}),
    ("hcg_note", {"!!": var("hcg_note")}),
    ("dated", {"!!": var("dated")}),
    ("detail", {"in": [1, var("detail")]}),
    ("detail___1", {"!": var("detail___1")}),
    ("text", {"matches": [var("text"), "\\d+"]}),
    ("ae_start", {">=": [var("ae_start"), var("icf")]}),
    ("base_complete", {"==": [var("base_complete"), 2]}),
    ("text", {"if": [{"==": [var("sex"), 1]}, True, {">": [var("text"), 5]}]}),
    ("text", {"in": [5, [var("text"), var("ae_start")]]}),
    ("alt", {"<": [{"min": [var("alt"), 3]}, 5]}),
    ("alt", {">": [{"/": [10, var("alt")]}, {"*": [var("ast"), var("ast")]}]}),
    ("exclusion", {"is_blank": [var("exclusion")]}),
    ("consent", {">=": [var("consent"), 1]}),
    ("record_id", {"matches": [var("record_id"), "\\d+"]}),
    ("alt", {"==": [{"/": [1, var("alt")]}, 1]}),
    ("alt", {"missing": ["alt", "sex"]}),
    ("visit_alt", {"<": [var("visit_alt"), var("alt")]}),
    ("visit_alt", {"<": [{"across_events": ["e1", var("alt")]}, var("visit_alt")]}),
    ("visit_date", {"in_window": [var("visit_date"), var("first_dose"), 28, 7, 7]}),
    ("ae_day", {">=": [var("ae_day"), var("first_dose")]}),
    ("ae_day", {"after": [var("ae_day"), "2024-01-01"]}),
    ("ae_serious", {"if": [{"==": [var("ae_serious"), 1]}, {"!!": var("sae_report")}, True]}),
]
PROJECTS: list[dict[str, Any]] = [
    MISSING_CODES,
    {
        **MISSING_CODES,
        "form_event_mapping": [
            {"unique_event_name": "e1", "form": "base"},
            {"unique_event_name": "e1", "form": "ae"},
            {"unique_event_name": "e2", "form": "visit"},
        ],
        "repeating": [{"event_name": "e1", "form_name": "ae"}],
    },
]


def rule_set(project: dict[str, Any], dictionary: Any, pairs: Any = RULES) -> RuleSet:
    context = StudyContext.build(dictionary, project)
    rules = [{"field": name, "logic": logic, "message": "m"} for name, logic in pairs]
    return compile_rule_set(rules, context)


SETS = [rule_set(project, [*DICTIONARY, *EXTRA]) for project in PROJECTS]
SETS.append(rule_set(MISSING_CODES, None))

TEXTS = ["", " ", "0", "1", "2", "3", "50", "5.0", "ND", "NA", "UNK", "<5", ">100", "2024-03",
         "2024-03-01", "2024-03-02", "2024-02-30", "x" * 9]  # fmt: skip
ODD = [None, 0, 1, 1.0, 5, True, False, math.nan, 10**400, [], {"a": 1}, b"x"]
COLUMNS = [
    *(row["field_name"] for row in [*DICTIONARY, *EXTRA] if row["field_type"] != "checkbox"),
    *(f"exclusion___{code}" for code in ("1", "2", "3", "na")),
    *("detail___1", "detail___2", "base_complete", "visit_complete"),
]
ROWS = st.fixed_dictionaries(
    {},
    optional={name: st.sampled_from(TEXTS) for name in COLUMNS},
)
PLACES = st.sampled_from(
    [
        {},
        {"redcap_event_name": "e1", "redcap_repeat_instrument": "", "redcap_repeat_instance": ""},
        {"redcap_event_name": "e2"},
        {"redcap_event_name": "e3"},
        {"redcap_event_name": "e1", "redcap_repeat_instrument": "ae", "redcap_repeat_instance": 1},
        {"redcap_event_name": "e1", "redcap_repeat_instrument": "ae", "redcap_repeat_instance": 2},
        {"redcap_repeat_instrument": "ae", "redcap_repeat_instance": "3"},
        {"redcap_event_name": "e2", "redcap_repeat_instance": 2},
    ]
)


RECORDS = st.lists(st.builds(lambda place, row: {**row, **place}, PLACES, ROWS), max_size=4)


@pytest.mark.full
@settings(max_examples=60, deadline=None)
@given(RECORDS)
def test_any_record(rows: list[dict[str, Any]]) -> None:
    for rules in SETS:
        agreed(rules, rows, TODAY)


@pytest.mark.full
@settings(max_examples=50, deadline=None)
@given(ROWS, st.sampled_from(COLUMNS), st.sampled_from(ODD))
def test_a_cell_that_is_no_text(row: dict[str, Any], name: str, cell: Any) -> None:
    for rules in SETS:
        agreed(rules, [{**row, name: cell}], TODAY)


@pytest.mark.full
def test_cells_that_look_alike_are_kept_apart() -> None:
    for rules in SETS:
        for cell in (10**16, 1e16, 1, True, 1.0, "1", "1.0", 1, 10**16, math.nan, "nan", 1e16):
            for other in ("", "5", 5, 5.5):
                agreed(rules, [{"age": cell, "alt": cell, "ast": other, "sex": cell}], TODAY)


def test_an_impossible_value_leaves_the_other_rules_as_they_are() -> None:
    good = {"age": "50", "alt": "5", "ast": "7", "sex": "1", "icf": "2024-03-01"}
    clean = [str(one.outcome) for one in agreed(SETS[0], [good], TODAY)]
    assert {"PASS", "FAIL", "UNKNOWN"} <= {*clean}
    for name, cell in (("alt", "ND"), ("ast", "9?"), ("sex", "7"), ("icf", "2024-02-30")):
        found = agreed(SETS[0], [{**good, name: cell}], TODAY)
        assert any(one.reason in {"type_mismatch", "invalid_choice"} for one in found)
        assert sum(one.outcome == before for one, before in zip(found, clean, strict=True)) > 20


def test_another_day_is_not_answered_from_memory() -> None:
    rows = [{"icf": "2024-06-02"}]
    index = next(i for i, (_f, logic) in enumerate(RULES) if "today" in str(logic))
    for day, outcome in ((TODAY, "FAIL"), (date(2024, 6, 2), "PASS"), (TODAY, "FAIL")):
        assert agreed(SETS[0], rows, day)[index].outcome == outcome


@pytest.mark.full
def test_memory_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.rules.writer.MAX_CACHED", 3)
    rules = rule_set(MISSING_CODES, DICTIONARY + EXTRA)
    for n in range(30):
        row = {"age": str(n), "alt": str(n), "ast": "7", "icf": f"2024-03-{n % 28 + 1}"}
        agreed(rules, [row, {**row, "ast": ""}, {**row, "alt": "<5"}][n % 3 :][:1], TODAY)


# --- generated rules ------------------------------------------------------------------------------

NUMBERS = st.sampled_from([0, 1, 18, -999, 75.5, 0.1, 10**31 + 1, 10**400, -0.0, "5"])
NUMERIC = st.sampled_from(["age", "alt", "ast", "hcg"]).map(var)
DATES = st.sampled_from(["icf", "first_dose", "dob", "icf_time", "visit_date"]).map(var)
ORDERS = st.sampled_from(["<", "<=", ">", ">=", "==", "!=", "==="])
DAYS = st.sampled_from([var("icf"), "2024-03-01", {"today": []}])
UNITS = st.sampled_from([var("unit"), var("text"), "mg/dL"])
LEAVES = st.one_of(
    st.builds(lambda op, a, b: {op: [a, b]}, ORDERS, NUMERIC, NUMBERS | NUMERIC),
    st.builds(lambda a, b, c: {"<=": [a, b, c]}, NUMBERS, NUMERIC, NUMBERS),
    st.builds(lambda op, a, b: {op: [a, b]}, ORDERS, DATES, DATES | DAYS),
    st.builds(lambda a: {"in": [var("sex"), a]}, st.sampled_from([[0, 1], ["1"], []])),
    st.builds(
        lambda op, name: {op: [var(name)]},
        st.sampled_from(["!", "!!", "is_blank"]),
        st.sampled_from(["consent", "alt", "icf", "exclusion", "exclusion___3", "detail___1"]),
    ),
    st.builds(lambda u: {"<": [{"to_unit": [var("alt"), u, "mmol/L", "glucose"]}, 7]}, UNITS),
    st.builds(lambda a, b: {"<": [{"/": [a, b]}, 5]}, NUMERIC | NUMBERS, NUMERIC | NUMBERS),
    st.booleans(),
)
LOGIC = st.recursive(
    LEAVES,
    lambda inner: (
        st.builds(
            lambda op, parts: {op: parts},
            st.sampled_from(["and", "or", "if", "?:"]),
            st.lists(inner, min_size=1, max_size=5),
        )
        | st.builds(lambda op, part: {op: [part]}, st.sampled_from(["!", "!!"]), inner)
    ),
    max_leaves=8,
)
ABOUT = st.sampled_from(["age", "alt", "icf", "hcg", "detail", "exclusion___3", "visit_alt"])


@pytest.mark.full
@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(ABOUT, LOGIC), min_size=1, max_size=4), RECORDS, st.lists(ROWS, max_size=4)
)
def test_any_rules_on_any_records(
    pairs: list[tuple[str, Any]], record: list[dict[str, Any]], rows: list[dict[str, Any]]
) -> None:
    made = [{"field": about, "logic": logic, "message": "m"} for about, logic in pairs]
    try:
        rules = compile_rule_set(made, SETS[0].context)
    except RuleError:
        reject()
    for some in (record, *([row] for row in rows)):
        agreed(rules, some, TODAY)


KLEENE = st.recursive(
    st.sampled_from(["age", "alt", "ast"]).map(lambda name: {"<": [var(name), 10]}) | st.booleans(),
    lambda inner: (
        st.builds(
            lambda op, parts: {op: parts},
            st.sampled_from(["and", "or", "if"]),
            st.lists(inner, min_size=1, max_size=5),
        )
        | st.builds(lambda part: {"!": [part]}, inner)
    ),
    max_leaves=7,
)
CELLS = st.sampled_from(["5", "50", "", "NA", "<20", "<5", "ND"])


@pytest.mark.full
@settings(max_examples=150, deadline=None)
@given(KLEENE, st.tuples(CELLS, CELLS, CELLS))
def test_connectives_of_true_false_and_undecided(logic: Any, cells: tuple[str, ...]) -> None:
    rules = rule_set(MISSING_CODES, DICTIONARY, [("age", logic)])
    agreed(rules, [dict(zip(("age", "alt", "ast"), cells, strict=True))], TODAY)


def test_a_rule_without_a_result_leaves_the_others_as_they_are() -> None:
    always = {"<": [{"/": [1, 0]}, var("alt")]}  # whatever is there, and where nothing is
    broken = {"and": [always, {"<": [var("ast"), 5]}]}
    rules = rule_set(MISSING_CODES, DICTIONARY, [("alt", broken), ("age", {"<": [var("age"), 5]})])
    for row in ({"alt": "1", "ast": "2", "age": "3"}, {"alt": "1", "ast": "2", "age": "9"}):
        first, second = agreed(rules, [row], TODAY)
        assert first.outcome == "ERROR"
        assert second.outcome == ("PASS" if row["age"] == "3" else "FAIL")


@pytest.mark.full
def test_long_and_deep_rules() -> None:
    chain: list[Any] = [x for n in range(300) for x in ({"==": [var("age"), n]}, n % 2 == 0)]
    deep: Any = {"<": [var("alt"), var("ast")]}
    for _ in range(60):
        deep = {"and": [deep, {"<": [var("age"), 99]}]}
    wide = {
        "or": [{"<": [var("alt"), {"var": "ast"}]}, *({"==": [var("age"), n]} for n in range(99))]
    }
    rules = rule_set(
        MISSING_CODES, DICTIONARY, [("age", {"if": chain}), ("age", deep), ("age", wide)]
    )
    found = agreed(rules, [{"age": "44", "alt": "1", "ast": "2"}], TODAY)
    assert [str(one.outcome) for one in found] == ["PASS"] * 3


def test_rule_text_never_becomes_code(monkeypatch: pytest.MonkeyPatch) -> None:
    evil = "x'] + print(__import__('os')) + c['"
    dictionary = [*DICTIONARY, field(evil), field("b'", validation="number")]
    logics = [
        {"==": [var(evil), evil]},
        {"and": [{"==": [var(evil), evil]}, {"<": [var("b'"), var("alt")]}]},
    ]
    sources: list[Any] = []

    def watched(source: str, *how: Any) -> Any:
        sources.append(source)
        return compile(source, *how)

    monkeypatch.setattr(writer, "compile", watched, raising=False)
    rules = rule_set({}, dictionary, [(evil, logic) for logic in logics])
    found = agreed(rules, [{evil: evil, "b'": "1", "alt": "2"}], TODAY)
    assert [str(one.outcome) for one in found] == ["PASS", "PASS"]
    assert len(sources) == 1
    assert not any(word in sources[0] for word in ("import", "print", "x'", "b'"))


def test_what_is_met_again_is_answered_without_the_closures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    logics = [("age", {"<": [var("age"), 75]}), ("alt", {"<": [var("alt"), var("ast")]})]
    rules = rule_set(MISSING_CODES, DICTIONARY, logics)
    for n in range(2):
        rules.evaluate("1", [{"age": "50", "alt": str(n), "ast": "9"}], TODAY)
    for name in ("compiled.judge", "writer.judge", "writer.verdict_of"):
        monkeypatch.setattr(f"core.rules.{name}", lambda *_asked: pytest.fail("asked"))
    found = rules.evaluate("2", [{"age": "50", "alt": "9", "ast": "1"}], TODAY)
    assert [str(one.outcome) for one in found] == ["PASS", "FAIL"]
    assert [one["raw"] for one in found[1].detail] == ["9", "1"]

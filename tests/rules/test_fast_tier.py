"""The fast tiers give what the closures give, cell by cell; rule text never becomes code."""

from __future__ import annotations

import math
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.hard_rules import RuleError, RuleSet, StudyContext, compile_rule_set
from engines.jsonlogic import compile_rule, compile_rules
from rules import fused
from tests.rules.support import DICTIONARY, MISSING_CODES, field, var

TODAY = date(2024, 6, 1)

# --- standard ---------------------------------------------------------------------------------

CELLS = [None, True, False, 0, 1, -1, 75, 75.5, -0.0, 1e400, math.nan, 2**60, "", " 65 ", "65",
         "ND", "2024-01-12", "2024-02-01", "试验", "😀", "\uff41", [], [1], {}, {"a": 1}]  # fmt: skip
NAMES = ["a", "b", "c"]
LEAVES = st.sampled_from([0, 1, 18, 75.5, -0.0, "65", "", "2024-01-12", None, True, [0, 1, 2]])
VALUES = LEAVES | st.sampled_from([var(name) for name in [*NAMES, "a.b", "", "nope"]])
BINARY = ["<", "<=", ">", ">=", "==", "===", "!=", "!==", "in", "+", "-", "*", "/", "cat", "and",
          "or", "if", "%", "merge", "some", "map", "missing_some"]  # fmt: skip
LOGIC = st.recursive(
    VALUES,
    lambda inner: (
        st.builds(
            lambda op, a, b: {op: [a, b]},
            st.sampled_from(BINARY),
            inner,
            inner,
        )
        | st.builds(lambda op, a: {op: [a]}, st.sampled_from(["!", "!!", "-", "and"]), inner)
        | st.builds(
            lambda op, abc: {op: abc},
            st.sampled_from(["<", "<=", ">", "if", "?:", "and", "or"]),
            st.lists(inner, min_size=2, max_size=4),
        )
    ),
    max_leaves=6,
)
DATA = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(CELLS), max_size=3)


def same(a: Any, b: Any) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b):
        return True
    return type(a) is type(b) and a == b and math.copysign(1, a) == math.copysign(1, b) if (
        isinstance(a, float) and isinstance(b, float)
    ) else a == b and isinstance(a, bool) == isinstance(b, bool)  # fmt: skip


def outcomes(function: Any, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except RuleError:
        return RuleError


@settings(max_examples=300, deadline=None)
@given(logics=st.lists(LOGIC, min_size=1, max_size=4), rows=st.lists(DATA, min_size=1, max_size=6))
def test_fused_standard_rules_equal_their_closures(logics: list[Any], rows: list[Any]) -> None:
    together = compile_rules(logics)
    single = [compile_rule(logic) for logic in logics]
    for data in [*rows, *rows, None, [], "text"]:
        expected = outcomes(lambda data=data: [rule(data) for rule in single])
        found = outcomes(together, data)
        assert found is expected or same(found, expected), (logics, data)


def test_fused_rules_share_what_they_have_in_common() -> None:
    logic = {"and": [{">=": [var("a"), 18]}, {"<=": [var("a"), 75]}]}
    assert compile_rules([logic, logic, {"!!": var("a")}])({"a": "50"}) == [True, True, True]
    assert compile_rules([])({}) == []
    assert compile_rules([1, "x", {"a": 1, "b": 2}])({}) == [1, "x", {"a": 1, "b": 2}]


def test_long_chains_and_deep_rules_are_compiled() -> None:
    chain: list[Any] = [x for n in range(500) for x in ({"==": [var("a"), n]}, n)]
    deep: Any = {"<": [var("a"), 1000]}
    for _ in range(62):
        deep = {"and": [deep, True]}
    assert compile_rules([{"if": chain}, deep])({"a": 333}) == [333, True]


def test_rule_text_never_becomes_code(monkeypatch: pytest.MonkeyPatch) -> None:
    evil = "x'] + print(__import__('os')) + c['"
    logics = [{"<": [var(evil), 5]}, {"==": [var(evil), evil]}, {"in": [evil, [evil]]}, evil]
    sources: list[Any] = []

    def watched(source: str, *how: Any) -> Any:
        sources.append(source)
        return compile(source, *how)

    with monkeypatch.context() as patched:
        patched.setattr(fused, "compile", watched, raising=False)
        rules = compile_rules(logics)
    assert len(sources) == 2  # one function for the rule set, one for its only column
    assert not any("import" in source or "print" in source for source in sources)
    assert rules({evil: 4}) == [True, False, True, evil]


def test_an_unknown_operator_is_refused_here_too() -> None:
    with pytest.raises(RuleError):
        compile_rules([True, {"if": [True, 1, {"method": 1}]}])


# --- clinical ---------------------------------------------------------------------------------

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


def rule_set(project: dict[str, Any], dictionary: Any) -> RuleSet:
    context = StudyContext.build(dictionary, project)
    rules = [{"field": name, "logic": logic, "message": "m"} for name, logic in RULES]
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


def check(rules: RuleSet, rows: list[dict[str, Any]]) -> None:
    slow = [(r.outcome, r.reason) for r in rules.evaluate("1", rows, TODAY)]
    for _again in range(2):
        assert rules.verdicts(rows, TODAY) == slow


@settings(max_examples=80, deadline=None)
@given(st.lists(st.builds(lambda place, row: {**row, **place}, PLACES, ROWS), max_size=4))
def test_verdicts_equal_full_evaluation_on_any_record(rows: list[dict[str, Any]]) -> None:
    for rules in SETS:
        check(rules, rows)


@settings(max_examples=60, deadline=None)
@given(ROWS, st.sampled_from(COLUMNS), st.sampled_from(ODD))
def test_odd_cells_go_through_the_closures(row: dict[str, Any], name: str, cell: Any) -> None:
    for rules in SETS:
        check(rules, [{**row, name: cell}])


def test_numbers_that_look_alike_are_read_as_the_text_they_print_as() -> None:
    for rules in SETS:
        for cell in (10**16, 1e16, 1, True, 1.0, "1", "1.0", 1, 10**16, math.nan, "nan", 1e16):
            for other in ("", "5", 5, 5.5):
                check(rules, [{"age": cell, "alt": cell, "ast": other, "sex": cell}])


def test_an_impossible_value_leaves_the_other_rules_as_they_are() -> None:
    good = {"age": "50", "alt": "5", "ast": "7", "sex": "1", "icf": "2024-03-01"}
    for name, cell in (("alt", "ND"), ("ast", "9?"), ("sex", "7"), ("icf", "2024-02-30")):
        check(SETS[0], [good])
        check(SETS[0], [{**good, name: cell}])


def test_a_sweep_equals_record_by_record() -> None:
    rules = SETS[0]
    records = [
        (str(n), [{"age": str(n), "alt": str(n % 7), "ast": str(n % 5), "sex": str(n % 3)}])
        for n in range(120)
    ]
    swept = dict(rules.sweep(records, TODAY))
    for key, rows in records:
        assert swept[key] == [(r.outcome, r.reason) for r in rules.evaluate(key, rows, TODAY)]


def test_another_day_is_not_answered_from_memory() -> None:
    rows = [{"icf": "2024-06-02"}]
    index = next(i for i, (_f, logic) in enumerate(RULES) if "today" in str(logic))
    assert SETS[0].verdicts(rows, TODAY)[index][0] == "FAIL"
    assert SETS[0].verdicts(rows, date(2024, 6, 2))[index][0] == "PASS"


def test_memory_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rules.leaves.MAX_CACHED", 3)
    monkeypatch.setattr("rules.cells.MAX_CACHED", 3)
    rules = rule_set(MISSING_CODES, DICTIONARY + EXTRA)
    standard = compile_rules(
        [{"<": [var("a"), 5]}, {"==": [var("a"), 5]}, {"<": [var("a"), var("b")]}]
    )
    for n in range(50):
        check(rules, [{"age": str(n), "alt": str(n), "ast": "7", "icf": f"2024-03-{n % 28 + 1}"}])
        assert standard({"a": n, "b": "6"}) == [n < 5, n == 5, n < 6]

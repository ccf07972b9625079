"""Where json-logic-js 2.0.5 surprises and the official list is silent (reference/jsonlogic.md 5)."""

from __future__ import annotations

import math
from typing import Any

import pytest

from engines.jsonlogic import RuleError, apply, compile_rule

DATA: dict[str, Any] = {
    "a": 1,
    "blank": "",
    "none": None,
    "zero": 0,
    "list": [0, 1],
    "text": "a😀b",
    "deep": {"rows": [{"x": 5}]},
}


@pytest.mark.parametrize(
    ("logic", "expected"),
    [
        # missing and null
        ({"<=": [{"var": "nope"}, 75]}, True),
        ({">=": [None, 18]}, False),
        ({"==": [None, 0]}, False),
        ({"<=": ["", 75]}, True),
        ({"<=": [None, "2024-01-12"]}, False),
        ({"missing": ["a", "blank", "none", "zero"]}, ["blank", "none"]),
        ({"missing": [["a", "nope"]]}, ["nope"]),
        ({"missing_some": [1, ["nope", "blank"]]}, ["nope", "blank"]),
        ({"missing_some": [0, 5]}, [5]),
        ({"var": ["none", 9]}, None),
        ({"var": ["nope", 9]}, 9),
        # coercion
        ({">=": ["ND", 18]}, False),
        ({"==": ["65.0", 65]}, True),
        ({"==": [" 65 ", 65]}, True),
        ({">=": ["1e2", 18]}, True),
        ({">=": ["1_000", 18]}, False),
        ({"<=": ["90", "120"]}, False),
        ({"==": [True, "1"]}, True),
        ({"==": ["None", None]}, False),
        ({"==": ["0x1f", 31]}, True),
        ({"==": [[], ""]}, True),
        ({"==": [[1], 1]}, True),
        ({"==": [[1], [1]]}, False),
        ({"===": [1, 1.0]}, True),
        ({"===": [1, True]}, False),
        ({"==": [9007199254740993, 9007199254740992]}, True),
        # in
        ({"in": ["1", [0, 1, 2]]}, False),
        ({"in": [True, [0, 1]]}, False),
        ({"in": [1, "0,1,2"]}, True),
        ({"in": [None, "abc"]}, False),
        ({"in": ["a", None]}, False),
        ({"in": ["", ""]}, False),
        # truth
        ({"!!": ["0"]}, True),
        ({"!!": [{}]}, True),
        ({"!": [{"a": 1, "b": 2}]}, False),
        ({"!!": [{"/": [0, 0]}]}, False),
        # arrays
        ({"some": [[0, 1], {"==": [{"var": ""}, 0]}]}, True),
        ({"all": [[0, 0], {"==": [{"var": ""}, 0]}]}, True),
        ({"filter": [[0, 1, ""], {"!": [{"var": ""}]}]}, [0, ""]),
        ({"map": [{"var": "list"}, {"var": "a"}]}, [None, None]),
        ({"merge": [1, [2, 3], None]}, [1, 2, 3, None]),
        ({"reduce": [5, {"var": "current"}, 7]}, 7),
        # paths
        ({"var": "deep.rows.0.x"}, 5),
        ({"var": "list.9"}, None),
        ({"var": "list.-1"}, None),
        ({"var": "list.01"}, None),
        ({"var": "list.length"}, 2),
        ({"var": "text.length"}, 4),
        ({"var": "text.0"}, "a"),
        ({"var": 1}, None),
        # arithmetic
        ({"%": [-1, 3]}, -1),
        ({"+": ["1", "2x"]}, 3),
        ({"-": ["3"]}, -3),
        ({"max": ["9", "10"]}, 10),
        ({"max": [None, 3]}, 3),
        ({"+": []}, 0),
        ({"*": ["2"]}, "2"),
        ({">": [3, 2, 1]}, True),
        # text
        ({"cat": [None, True, 1.0]}, "true1"),
        ({"cat": [1e21, " ", 1e-7, " ", 0.1]}, "1e+21 1e-7 0.1"),
        ({"cat": [123456789012345680000]}, "123456789012345680000"),
        ({"cat": [[1, [2, None]]]}, "1,2,"),
        ({"cat": [{"/": [1, 0]}, {"-": [0]}]}, "Infinity0"),
        ({"cat": [{}]}, "[object Object]"),
        ({"substr": ["a😀b", 1, 2]}, "😀"),
        ({"substr": ["试验编号", 2]}, "编号"),
        ({"substr": ["abc", 0, None]}, ""),
        ({"substr": ["abc", 0, "2"]}, "ab"),
        ({"substr": ["abc", 0, "-1"]}, ""),
        ({"substr": ["jsonlogic", 0, -1.5]}, "jsonlog"),
        ({"<": ["😀", "\uff41"]}, True),
        # data, not logic
        ({"a": 1, "b": 2}, {"a": 1, "b": 2}),
        ({}, {}),
        ({"and": []}, None),
        ({"merge": [{"or": []}]}, [None]),
        ({"reduce": [[1], {"var": "accumulator"}]}, None),
    ],
)
def test_a_value_is_what_javascript_says(logic: Any, expected: Any) -> None:
    value = apply(logic, DATA)
    assert value == expected
    assert type(value) is type(expected) or not isinstance(value, bool)


def test_negative_zero_and_the_infinities_follow_ieee() -> None:
    assert apply({"/": [18, {"-": [0]}]}) == -math.inf
    assert math.copysign(1, apply({"*": [0, -1]})) == -1
    assert math.copysign(1, apply({"min": [0, {"-": [0]}]})) == -1
    assert math.copysign(1, apply({"max": [{"-": [0]}, 0]})) == 1
    assert apply({"min": []}) == math.inf
    assert math.isnan(apply({"+": ["", 1]}))
    assert math.isnan(apply({"%": [5, 0]}))
    assert math.isnan(apply({"max": [1, "x"]}))


def test_identical_containers_are_equal_to_themselves() -> None:
    assert apply({"==": [{"var": "list"}, {"var": "list"}]}, DATA) is True
    assert apply({"===": [{"var": "list"}, [0, 1]]}, DATA) is False


@pytest.mark.parametrize("name", ["method", "foo", "Var", "days_between", "a.b", ""])
def test_an_unknown_operator_is_refused_even_where_it_is_not_reached(name: str) -> None:
    for logic in ({name: [1]}, {"if": [True, 1, {name: 1}]}, {"filter": [[], {name: []}]}):
        with pytest.raises(RuleError):
            compile_rule(logic)


def test_log_gives_its_argument_back_and_prints_nothing(capsys: Any) -> None:
    assert apply({"log": "apple"}) == "apple"
    assert apply({"<": [{"log": [{"var": "a"}]}, 5]}, {"a": 3}) is True
    assert apply({"log": []}) is None
    assert capsys.readouterr() == ("", "")


def test_what_javascript_throws_is_a_rule_error() -> None:
    with pytest.raises(RuleError):
        apply({"*": []})
    with pytest.raises(RuleError):
        apply({"missing_some": [1]})


def test_a_name_that_is_undefined_is_missing_as_null() -> None:
    assert apply({"missing": [{"and": []}]}, None) == [None]


def test_a_compiled_rule_is_reusable() -> None:
    rule = compile_rule({">=": [{"var": "age"}, 18]})
    assert [rule({"age": age}) for age in (17, 18)] == [False, True]
    assert rule() is False

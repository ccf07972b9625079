"""Bytes of the fuzzer -> rules, rows and workflows.

Half of the inputs are JSON text as it comes, the other half is built byte by byte from operators,
columns and awkward values, which gets far deeper.
"""

from __future__ import annotations

import json
from typing import Any

from core.rules.operators import OPERATORS
from skills.graph import KINDS, schema
from tests.fuzz.study import CELLS, COLUMNS, PLACES

CLINICAL = sorted(OPERATORS)
AWKWARD: list[Any] = [
    *(None, True, False, 0, 1, -1, 18, 75.5, -0.0, 1e308, float("nan"), float("inf"), 10**30),
    *("", " ", "0", "65", " 65 ", "1e2", "ND", "a", "a.b", "2024-01-12", "试验", "😀", "\ud800"),
    *([], [1, 2], ["a"], {}, {"a": 1}, {"a": 1, "b": 2}, "(a+)+$", "[", "\\d+", "a{1,99}"),
    *("current", "accumulator", "__class__", "e1", "mg/dL", "mmol/L", "glucose"),
]
TARGETS = ["a", "b", "c", "end", "end_success", "end_x", "nowhere", "", None, 3]
KEYS = [
    *("on_pass", "on_fail", "on_error", "on_approve", "on_reject", "rules", "instruction"),
    *("tools", "threshold", "retry", "reviewers", "on_timeout", "severity", "description"),
]


class Source:
    """Numbers out of bytes; zeros once they are used up."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._at = 0

    def below(self, limit: int) -> int:
        """A number in range(limit), limit <= 256."""
        self._at += 1
        if self._at > len(self._content):
            return 0
        return self._content[self._at - 1] % limit

    def pick(self, items: list[Any]) -> Any:
        """One of `items`."""
        return items[self.below(len(items))]

    @property
    def rest(self) -> bytes:
        """What was not used."""
        return self._content[self._at :]


def text_or(content: bytes) -> tuple[bool, Any]:
    """(True, parsed JSON) for an input that is JSON text, else (False, Source)."""
    source = Source(content)
    if source.below(2) == 0:
        return False, source
    try:
        return True, json.loads(source.rest.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return False, source


def logic(source: Source, operators: list[str], depth: int = 5) -> Any:
    """A rule: operators over columns and awkward values."""
    choice = source.below(8)
    if depth == 0 or choice < 2:
        return source.pick(AWKWARD)
    if choice < 4:
        return {"var": source.pick([*COLUMNS, "", "a", "a.b", 0, ["age", 5], None])}
    count = source.below(4) + 1
    arguments = [logic(source, operators, depth - 1) for _ in range(count)]
    return {source.pick(operators): arguments if choice < 7 else arguments[0]}


def condition(source: Source, depth: int = 3) -> Any:
    """A clinical condition whose types fit, so that most are accepted."""
    if depth == 0:
        return {source.pick(["!", "!!", "is_blank"]): [_var(source, COLUMNS)]}
    choice = source.below(16)
    if choice < 4:
        inner = [condition(source, depth - 1) for _ in range(source.below(3) + 1)]
        return {source.pick(["and", "or", "if"]): inner}
    if choice == 4:
        return {source.pick(["!", "!!"]): [condition(source, depth - 1)]}
    return _LEAVES[choice % len(_LEAVES)](source)


def _blanks(source: Source) -> Any:
    names = [source.pick(COLUMNS), source.pick(COLUMNS)]
    if source.below(2):
        return {"and": [{"missing": names}]}
    return {"!": [{"missing_some": [source.below(3), names]}]}


def _order(source: Source) -> Any:
    return {source.pick(["before", "after", "<", "<="]): [_date(source), _date(source)]}


def _window(source: Source) -> Any:
    days = [source.below(40), source.below(9), source.below(9)]
    return {"in_window": [_date(source), _date(source), *days]}


def _matches(source: Source) -> Any:
    return {"matches": [_text(source), source.pick(PATTERNS)]}


def _any_of(source: Source) -> Any:
    body = {"in": [{"var": ""}, source.pick([[1], [1, 3], ["2"]])]}
    return {source.pick(["some", "all", "none"]): [_list(source), body]}


def _coded(source: Source) -> Any:
    if source.below(2):
        return {"in": [_var(source, CODED), source.pick([[0, 1], ["A"], [1, "2"], ["0", 2]])]}
    return {source.pick(EQUAL): [_var(source, CODED), source.pick([0, 1, "1", "A", None, ""])]}


def _part_of(source: Source) -> Any:
    return {"in": [_text(source), _text(source)]}


def _compared(source: Source) -> Any:
    pair = [_number(source, 2), _number(source, 2)]
    if source.below(4) == 0:
        return {source.pick(["<", "<="]): [*pair, _number(source, 1)]}
    return {source.pick([*EQUAL, "<", "<=", ">", ">="]): pair}


_LEAVES = (_blanks, _order, _window, _matches, _any_of, _coded, _part_of, _compared, _compared)
EQUAL = ["==", "!=", "===", "!=="]
CODED = ["sex", "ecog", "grade", "consent", "unit", "preg", "base_complete"]
PATTERNS = ["\\d+", "(a|b)*c", "[A-Z]{2,4}", ".*", "", "(x+x+)+y", "[^9]{1,30}", "\\w\\s?"]


def _var(source: Source, names: list[str]) -> dict[str, Any]:
    return {"var": source.pick(names)}


def _text(source: Source) -> Any:
    choice = source.below(6)
    if choice < 3:
        return _var(source, ["text", "note", "ae_term", "grade"])
    if choice == 3:
        return {"cat": [_var(source, ["text", "age"]), source.pick(["x", "", 1])]}
    if choice == 4:
        return {"substr": [_var(source, ["text", "note"]), source.below(5) - 2, source.below(4)]}
    return source.pick(["abc", "不详", "A"])


def _date(source: Source) -> Any:
    choice = source.below(6)
    if choice < 4:
        return _var(source, ["dob", "icf", "dosed", "ae_day"])
    return {"today": []} if choice == 4 else source.pick(["2024-03-01", "2024-03-01 10:00"])


def _list(source: Source) -> Any:
    choice = source.below(5)
    if choice < 2:
        return {"var": "box"}
    if choice == 2:
        return {"filter": [{"var": "box"}, {"==": [{"var": ""}, source.below(4)]}]}
    if choice == 3:
        return {"merge": [{"var": "box"}, [1, 2]]}
    return {"map": [{"var": "box"}, {"var": ""}]}


def _number(source: Source, depth: int) -> Any:
    choice = source.below(12) if depth else source.below(4)
    if choice < 3:
        return _var(source, ["age", "alt", "comma", "age"])
    if choice == 3:
        return source.pick([0, 1, 18, -1, 75.5, 0.1, "65", 10**20])
    if choice < 7:
        pair = [_number(source, depth - 1), _number(source, depth - 1)]
        return {source.pick(["+", "-", "*", "/", "%", "min", "max"]): pair}
    if choice == 7:
        return {"round_half_up": [_number(source, depth - 1), source.below(6) - 2]}
    if choice == 8:
        return {source.pick(["days_between", "age_at"]): [_date(source), _date(source)]}
    if choice == 9:
        unit = {"var": source.pick(["unit", "text"])}
        return {
            "to_unit": [_number(source, 0), unit, "mmol/L", source.pick(["glucose", "albumin"])]
        }
    if choice == 10:
        return {"across_events": [source.pick(["e1", "e2"]), _number(source, depth - 1)]}
    add = {"+": [{"var": "current"}, {"var": "accumulator"}]}
    return {"reduce": [_list(source), add, source.below(3)]}


def rules(source: Source) -> list[Any]:
    """Clinical rules, most of them well-formed."""
    return [
        {"field": source.pick(COLUMNS), "logic": _either(source), "message": "m"}
        for _ in range(source.below(3) + 1)
    ]


def _either(source: Source) -> Any:
    return condition(source) if source.below(4) else logic(source, CLINICAL)


def rows(source: Source) -> list[dict[str, Any]]:
    """Exported rows of one record."""
    found = []
    for _ in range(source.below(3) + 1):
        cells = {source.pick(COLUMNS): _cell(source) for _ in range(source.below(8))}
        found.append({**cells, **source.pick(PLACES)})
    return found


def _cell(source: Source) -> Any:
    return source.pick(CELLS if source.below(8) else AWKWARD)


def config(source: Source) -> Any:
    """A workflow, most of them well-formed."""
    nodes = {name: _node(source) for name in ["a", "b", "c"][: source.below(3) + 1]}
    if source.below(16) == 1:
        nodes[source.pick([*TARGETS[:7], "x" * 101])] = _node(source)
    made = {"start_node": source.pick(TARGETS) if source.below(8) == 1 else "a", "nodes": nodes}
    if source.below(8) == 1:
        made[source.pick(["max_steps", "match", "event", "name", "odd"])] = source.pick(AWKWARD)
    return made


def _node(source: Source) -> Any:
    kind = source.pick([*KINDS])
    shapes = schema()["$defs"][kind]["properties"]
    node: dict[str, Any] = {"type": kind if source.below(64) != 1 else "loop"}
    for name in (*KINDS[kind].needs, *KINDS[kind].needs_one[:1]):
        node[name] = rules(source) if name == "rules" else _fitting(source, shapes[name])
    for edge in KINDS[kind].edges:
        if source.below(3):
            node[edge] = source.pick(TARGETS[:6] if source.below(8) else TARGETS)
    if source.below(8) == 1:
        node[source.pick(KEYS)] = source.pick([*AWKWARD, ["CRC"], {"times": 2}, [{}]])
    return node


def _fitting(source: Source, shape: dict[str, Any]) -> Any:
    """A value that a JSON Schema of a node's attribute mostly takes."""
    if "enum" in shape:
        return source.pick(shape["enum"])
    if shape.get("type") == "array":
        return [_fitting(source, shape["items"])]
    if shape.get("type") in ("integer", "number"):
        return shape.get("minimum", 0) + source.below(4)
    return {} if shape.get("type") == "object" else "x"

"""Standard JSON Logic as closures: the semantics of json-logic-js 2.0.5, nothing else.

Every operator of a rule is resolved when it is compiled, so an unknown one is refused even in a
branch that is never reached (a listed deviation, contracts.md). `method` runs code in other
libraries: here it is unknown. `log` gives its argument back and prints nothing: it would be data of
patients. Paths walk dicts, lists and strings only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from rules import js
from rules.errors import RuleError
from rules.js import UNDEFINED, truthy
from rules.limits import check_limits
from rules.text import translate as _

Expression = Callable[[Any], Any]


def compile_standard(logic: Any) -> Expression:
    """A function data -> value for `logic`; RuleError when it can't be compiled."""
    check_limits(logic)
    return _compile(logic)


def _compile(logic: Any) -> Expression:
    if isinstance(logic, list | tuple):
        items = [_compile(item) for item in logic]
        return lambda data: [_stored(item(data)) for item in items]
    if not isinstance(logic, dict) or len(logic) != 1:
        return lambda data: logic
    [(operator, arguments)] = logic.items()
    if not isinstance(arguments, list | tuple):
        arguments = [arguments]
    if operator == "var" and len(arguments) == 1 and is_plain_name(arguments[0]):
        return _column(arguments[0])
    if operator in _LAZY:
        return _LAZY[operator]([_compile(argument) for argument in arguments])
    if operator in _EAGER:
        return _eager(_EAGER[operator], [_compile(argument) for argument in arguments])
    raise RuleError(_("Unknown operator “%(name)s”.") % {"name": operator})


def is_plain_name(path: Any) -> bool:
    """Whether a path is one written key."""
    return isinstance(path, str) and path != "" and "." not in path


def _column(name: str) -> Expression:
    def evaluate(data: Any) -> Any:
        return data.get(name) if type(data) is dict else lookup(data, name)

    return evaluate


def _eager(function: Callable[..., Any], arguments: list[Expression]) -> Expression:
    if function in _WITH_DATA:
        return lambda data: function(data, *[argument(data) for argument in arguments])
    if len(arguments) == 1:
        [only] = arguments
        return lambda data: function(only(data))
    if len(arguments) == 2:
        left, right = arguments
        return lambda data: function(left(data), right(data))
    return lambda data: function(*[argument(data) for argument in arguments])


# --- paths ---------------------------------------------------------------------------------


def lookup(data: Any, path: Any = UNDEFINED, default: Any = UNDEFINED, *_rest: Any) -> Any:
    """`var`: walks a dotted path; `default` (else null) when a step is not there."""
    if path is UNDEFINED or path is None or path == "":
        return data
    missing = None if default is UNDEFINED else default
    for key in js.to_string(path).split("."):
        data = _step(data, key)
        if data is UNDEFINED:
            return missing
    return data


def _step(data: Any, key: str) -> Any:
    if isinstance(data, dict):
        return data.get(key, UNDEFINED)
    if not isinstance(data, list | tuple | str):
        return UNDEFINED
    if key == "length":
        return js.utf16_length(data) if isinstance(data, str) else len(data)
    if not (key.isascii() and key.isdigit() and len(key) <= 9) or (key[0] == "0" and key != "0"):
        return UNDEFINED
    if isinstance(data, str):
        return js.substr(data, int(key), 1) or UNDEFINED
    return data[int(key)] if int(key) < len(data) else UNDEFINED


def _missing(data: Any, *keys: Any) -> list[Any]:
    names = keys[0] if keys and isinstance(keys[0], list | tuple) else keys
    return [_stored(name) for name in names if _is_missing(data, name)]


def _is_missing(data: Any, name: Any) -> bool:
    value = lookup(data, *name) if isinstance(name, list | tuple) else lookup(data, name)
    return value is None or value == ""


def _missing_some(data: Any, need: Any = UNDEFINED, names: Any = UNDEFINED, *_rest: Any) -> Any:
    if names is None or names is UNDEFINED:
        raise RuleError(_("“missing_some” takes a number and a list of names."))
    absent = _missing(data, *(names if isinstance(names, list | tuple) else [names]))
    # what has no length is never enough
    filled = js.to_number(_step(names, "length")) - len(absent)
    return [] if js.less_equal(need, filled) else absent


# --- numbers -------------------------------------------------------------------------------


def _add(*values: Any) -> int | float:
    total: int | float = 0
    for value in values:
        total = js.plain(js.double(total + js.parse_float(value)))
    return total


def _multiply(*values: Any) -> Any:
    if not values:
        raise RuleError(_("“*” needs at least one argument."))
    product = values[0]
    for value in values[1:]:
        product = _product(js.parse_float(product), js.parse_float(value))
    return product


def _product(a: float, b: float) -> int | float:
    return js.plain(float(a) * float(b))


def _subtract(a: Any = UNDEFINED, b: Any = UNDEFINED, *_rest: Any) -> int | float:
    if b is UNDEFINED:
        return js.plain(-float(js.to_number(a)))
    return js.plain(float(js.to_number(a)) - float(js.to_number(b)))


def _divide(a: Any = UNDEFINED, b: Any = UNDEFINED, *_rest: Any) -> int | float:
    dividend, divisor = float(js.to_number(a)), float(js.to_number(b))
    if divisor != 0:
        return js.plain(dividend / divisor)
    if dividend == 0 or math.isnan(dividend):
        return math.nan
    return math.copysign(math.inf, dividend) * math.copysign(1, divisor)


def _remainder(a: Any = UNDEFINED, b: Any = UNDEFINED, *_rest: Any) -> int | float:
    try:
        return js.plain(math.fmod(js.to_number(a), js.to_number(b)))
    except ValueError:
        return math.nan


def _extreme(choose: Callable[..., Any], empty: float) -> Callable[..., Any]:
    def extreme(*values: Any) -> int | float:
        numbers = [js.to_number(value) for value in values]
        if any(math.isnan(number) for number in numbers):
            return math.nan
        # -0 is below 0, though they are equal
        return choose(numbers, key=lambda n: (n, math.copysign(1, n))) if numbers else empty

    return extreme


# --- comparisons, text, lists ----------------------------------------------------------------


def _less(a: Any = UNDEFINED, b: Any = UNDEFINED, c: Any = UNDEFINED, *_rest: Any) -> bool:
    return js.less(a, b) and (c is UNDEFINED or js.less(b, c))


def _less_equal(a: Any = UNDEFINED, b: Any = UNDEFINED, c: Any = UNDEFINED, *_rest: Any) -> bool:
    return js.less_equal(a, b) and (c is UNDEFINED or js.less_equal(b, c))


def _contains(needle: Any = UNDEFINED, haystack: Any = UNDEFINED, *_rest: Any) -> bool:
    if isinstance(haystack, str):
        return bool(haystack) and js.to_string(needle) in haystack
    if isinstance(haystack, list | tuple):
        return any(js.strict_equal(needle, item) for item in haystack)
    return False


def _substr(source: Any = UNDEFINED, start: Any = 0, end: Any = UNDEFINED, *_rest: Any) -> str:
    return js.substr(source, start, end)


def _merge(*values: Any) -> list[Any]:
    merged: list[Any] = []
    for value in values:
        merged.extend(value if isinstance(value, list | tuple) else [_stored(value)])
    return merged


# --- control and arrays ------------------------------------------------------------------------


def _if(arguments: list[Expression]) -> Expression:
    pairs = list(zip(arguments[:-1:2], arguments[1::2], strict=False))
    otherwise = arguments[-1] if len(arguments) % 2 else None

    def evaluate(data: Any) -> Any:
        for condition, consequence in pairs:
            if truthy(condition(data)):
                return consequence(data)
        return otherwise(data) if otherwise else None

    return evaluate


def _and(arguments: list[Expression]) -> Expression:
    def evaluate(data: Any) -> Any:
        current: Any = UNDEFINED
        for argument in arguments:
            current = argument(data)
            if not truthy(current):
                return current
        return current

    return evaluate


def _or(arguments: list[Expression]) -> Expression:
    def evaluate(data: Any) -> Any:
        current: Any = UNDEFINED
        for argument in arguments:
            current = argument(data)
            if truthy(current):
                return current
        return current

    return evaluate


def _stored(value: Any) -> Any:
    """JSON has no undefined: in an array it is null."""
    return None if value is UNDEFINED else value


def _nothing(_data: Any) -> Any:
    return UNDEFINED


def _null(_data: Any) -> Any:
    return None


def _over_items(
    finish: Callable[[Sequence[Any], Expression], Any],
) -> Callable[[list[Expression]], Expression]:
    def build(arguments: list[Expression]) -> Expression:
        source, body, *_ = [*arguments, _nothing, _nothing]

        def evaluate(data: Any) -> Any:
            items = source(data)
            return finish(items if isinstance(items, list | tuple) else [], body)

        return evaluate

    return build


def _reduce(arguments: list[Expression]) -> Expression:
    source, body, *_ = [*arguments, _nothing, _nothing]
    start = arguments[2] if len(arguments) > 2 else _null

    def evaluate(data: Any) -> Any:
        items, accumulator = source(data), start(data)
        for item in items if isinstance(items, list | tuple) else []:
            scope = {"current": item, "accumulator": accumulator}
            accumulator = body({k: v for k, v in scope.items() if v is not UNDEFINED})
        return accumulator

    return evaluate


_LAZY: dict[str, Callable[[list[Expression]], Expression]] = {
    "if": _if,
    "?:": _if,
    "and": _and,
    "or": _or,
    "reduce": _reduce,
    "map": _over_items(lambda items, body: [_stored(body(item)) for item in items]),
    "filter": _over_items(lambda items, body: [item for item in items if truthy(body(item))]),
    "all": _over_items(lambda items, body: bool(items) and all(truthy(body(i)) for i in items)),
    "none": _over_items(lambda items, body: not any(truthy(body(item)) for item in items)),
    "some": _over_items(lambda items, body: any(truthy(body(item)) for item in items)),
}

_EAGER: dict[str, Callable[..., Any]] = {
    "var": lookup,
    "missing": _missing,
    "missing_some": _missing_some,
    "==": lambda a=UNDEFINED, b=UNDEFINED, *_: js.loose_equal(a, b),
    "===": lambda a=UNDEFINED, b=UNDEFINED, *_: js.strict_equal(a, b),
    "!=": lambda a=UNDEFINED, b=UNDEFINED, *_: not js.loose_equal(a, b),
    "!==": lambda a=UNDEFINED, b=UNDEFINED, *_: not js.strict_equal(a, b),
    ">": lambda a=UNDEFINED, b=UNDEFINED, *_: js.less(b, a),
    ">=": lambda a=UNDEFINED, b=UNDEFINED, *_: js.less_equal(b, a),
    "<": _less,
    "<=": _less_equal,
    "!": lambda a=UNDEFINED, *_: not truthy(a),
    "!!": lambda a=UNDEFINED, *_: truthy(a),
    "+": _add,
    "*": _multiply,
    "-": _subtract,
    "/": _divide,
    "%": _remainder,
    "max": _extreme(max, -math.inf),
    "min": _extreme(min, math.inf),
    "in": _contains,
    "cat": lambda *values: js.join(values),
    "substr": _substr,
    "merge": _merge,
    "log": lambda a=UNDEFINED, *_: a,
}
_WITH_DATA = {lookup, _missing, _missing_some}

STANDARD_OPERATORS = frozenset(_LAZY) | frozenset(_EAGER)

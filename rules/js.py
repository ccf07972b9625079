"""JavaScript's value conversions, as json-logic-js 2.0.5 relies on them (reference/jsonlogic.md 5)."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any, Final

SAFE_INTEGER = 2**53
_SPACE = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    chr(code) for code in range(0x2000, 0x200B)
)
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_RADIX = re.compile(r"0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)")
_INFINITY = re.compile(r"[+-]?Infinity")
_MAX_PLAIN_EXPONENT = 21


class Undefined:
    """JavaScript's `undefined`: an argument that is not there."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False


UNDEFINED: Final = Undefined()


def truthy(value: Any) -> bool:
    """JSON Logic's truth: as JavaScript, but an empty array is false and any object true."""
    if isinstance(value, float):
        return not math.isnan(value) and value != 0
    return True if isinstance(value, dict) else bool(value)


def plain(number: int | float) -> int | float:
    """An integral float as int (what JSON would print), everything else unchanged."""
    if isinstance(number, int):
        return number
    is_minus_zero = number == 0 and math.copysign(1, number) < 0
    return int(number) if _is_safe_integer(number) and not is_minus_zero else number


def _is_safe_integer(number: float) -> bool:
    return number.is_integer() and -SAFE_INTEGER < number < SAFE_INTEGER


def double(number: int | float) -> int | float:
    """An int too large for a double's mantissa becomes the double JavaScript would have read."""
    if isinstance(number, float) or -SAFE_INTEGER <= number <= SAFE_INTEGER:
        return number
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def to_number(value: Any) -> int | float:
    """JavaScript's Number(value)."""
    if type(value) is int and -SAFE_INTEGER <= value <= SAFE_INTEGER:
        return value
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | float):
        return double(value)
    if isinstance(value, str):
        return _string_to_number(value)
    if value is None:
        return 0
    return _string_to_number(to_string(value)) if isinstance(value, list | tuple) else math.nan


def _string_to_number(text: str) -> int | float:
    text = text.strip(_SPACE)
    if not text:
        return 0
    if _DECIMAL.fullmatch(text):
        return plain(float(text))
    if _RADIX.fullmatch(text):
        return double(int(text, 0))
    if _INFINITY.fullmatch(text):
        return -math.inf if text[0] == "-" else math.inf
    return math.nan


def parse_float(value: Any) -> int | float:
    """JavaScript's parseFloat: the longest numeric start of the text."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return double(value) + 0  # turns -0.0 into 0 as its text would
    text = to_string(value).lstrip(_SPACE)
    found = _DECIMAL.match(text)
    if found:
        return plain(float(found.group()))
    found = _INFINITY.match(text)
    if found:
        return -math.inf if text[0] == "-" else math.inf
    return math.nan


def to_string(value: Any) -> str:
    """JavaScript's String(value)."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return _number_to_string(double(value))
    if isinstance(value, list | tuple):
        return join(value, ",")
    if value is None:
        return "null"
    return "undefined" if value is UNDEFINED else "[object Object]"


def join(values: Any, separator: str = "") -> str:
    """Array.prototype.join: null and undefined are empty."""
    return separator.join("" if v is None or v is UNDEFINED else to_string(v) for v in values)


def _number_to_string(number: int | float) -> str:
    if isinstance(number, int):
        return str(number)
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
    if number == 0:
        return "0"
    sign, raw_digits, exponent = Decimal(repr(number)).as_tuple()
    digits = "".join(map(str, raw_digits)).rstrip("0")
    point = len(raw_digits) + int(exponent)
    return ("-" if sign else "") + _place_point(digits, point)


def _place_point(digits: str, point: int) -> str:
    """ECMA-262 Number::toString: `digits` are significant, the point follows the first `point`."""
    if len(digits) <= point <= _MAX_PLAIN_EXPONENT:
        return digits + "0" * (point - len(digits))
    if 0 < point <= _MAX_PLAIN_EXPONENT:
        return digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    mantissa = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
    return f"{mantissa}e{'+' if point > 0 else '-'}{abs(point - 1)}"


def _primitive(value: Any) -> Any:
    return to_string(value) if isinstance(value, list | tuple | dict) else value


def strict_equal(a: Any, b: Any) -> bool:
    """JavaScript's ===: numbers by value, containers by identity."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, int | float) and isinstance(b, int | float):
        return double(a) == double(b)
    if isinstance(a, str) and isinstance(b, str):
        return a == b
    return a is b


def loose_equal(a: Any, b: Any) -> bool:
    """JavaScript's ==."""
    a_nothing, b_nothing = a is None or a is UNDEFINED, b is None or b is UNDEFINED
    if a_nothing or b_nothing:
        return a_nothing and b_nothing
    a_object, b_object = isinstance(a, list | tuple | dict), isinstance(b, list | tuple | dict)
    if a_object and b_object:
        return a is b
    a, b = _primitive(a), _primitive(b)
    if isinstance(a, str) and isinstance(b, str):
        return a == b
    return to_number(a) == to_number(b)


def less(a: Any, b: Any) -> bool:
    """JavaScript's a < b: text by UTF-16 units, everything else as numbers."""
    if type(a) is str and type(b) is str and a.isascii() and b.isascii():
        return a < b
    a, b = _primitive(a), _primitive(b)
    if isinstance(a, str) and isinstance(b, str):
        return _utf16(a) < _utf16(b)
    return to_number(a) < to_number(b)


def less_equal(a: Any, b: Any) -> bool:
    """JavaScript's a <= b; not the negation of b < a, because NaN is never on either side."""
    if type(a) is str and type(b) is str and a.isascii() and b.isascii():
        return a <= b
    a, b = _primitive(a), _primitive(b)
    if isinstance(a, str) and isinstance(b, str):
        return _utf16(a) <= _utf16(b)
    return to_number(a) <= to_number(b)


def _utf16(text: str) -> bytes:
    # all text is compared as bytes: code point order differs for emoji against full-width forms
    return text.encode("utf-16-be", "surrogatepass")


def to_integer(value: Any) -> int:
    """ToIntegerOrInfinity with the infinities bounded."""
    number = to_number(value)
    if math.isnan(number):
        return 0
    return int(max(-SAFE_INTEGER, min(SAFE_INTEGER, number)))


def utf16_length(text: str) -> int:
    """The length JavaScript reports: UTF-16 units."""
    return len(_utf16(text)) // 2


def substr(source: Any, start: Any, end: Any = UNDEFINED) -> str:
    """json-logic-js `substr`: UTF-16 units, a negative `end` cuts from the back."""
    units = to_string(source).encode("utf-16-le", "surrogatepass")
    length = len(units) // 2
    first = to_integer(start)
    first = max(length + first, 0) if first < 0 else min(first, length)
    if end is UNDEFINED:
        last = length
    elif less(end, 0):
        # JavaScript adds a negative text to the length as text, which gives no number
        last = first + to_integer(length - first + end) if isinstance(end, int | float) else 0
    else:
        last = first + to_integer(end)
    return units[2 * first : 2 * max(first, min(last, length))].decode("utf-16-le", "surrogatepass")

"""The functions of REDCap's logic by name (redcap_dify.md, *Functions of REDCap's logic*).

What each says of blanks, missing codes and partial dates: one table, tests/rules/redcap/test_functions.py.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_UP, ROUND_UP, Context, Decimal

from core.rules.redcap import dates
from core.rules.redcap.nodes import (
    MISTAKES,
    UNTOLD,
    Counted,
    Node,
    Open,
    Operand,
    View,
    is_blank,
    is_blank_or_code,
    is_missing_code,
    known,
    need,
    number,
    truth,
    undecided,
    without_result,
)

_MAX_PLACES = 20
_WHOLE = re.compile(r"[-+]?[0-9]+")
_SIGNIFICANT = Context(prec=20)


def _rounding(how: str) -> Callable[..., Operand]:
    def rounded(value: Operand, digits: Operand = Decimal(0)) -> Decimal:
        places = int(need(digits))
        if abs(places) > _MAX_PLACES:
            raise ValueError
        return need(value).quantize(Decimal(1).scaleb(-places), rounding=how)

    return rounded


def _log(value: Operand, base: Operand = "") -> Decimal:
    """Natural without a base."""
    found = need(value)
    if found <= 0:
        raise ValueError
    if base == "":
        return found.ln()
    return _SIGNIFICANT.plus(found.ln() / need(base).ln())


def _is_integer(value: Operand) -> Operand:
    """Untold for 5.0: whole, but written with decimals."""
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return True
    found = number(value)
    if found is None or not found.is_finite() or found != found.to_integral_value():
        return False
    return True if isinstance(value, Decimal) and value.as_tuple().exponent == 0 else UNTOLD


_OF_NUMBERS: dict[str, Counted] = {
    "round": (_rounding(ROUND_HALF_UP), 1, 2),
    "roundup": (_rounding(ROUND_UP), 1, 2),
    "rounddown": (_rounding(ROUND_DOWN), 1, 2),
    "sqrt": (lambda value: need(value).sqrt(), 1, 1),
    "abs": (lambda value: abs(need(value)), 1, 1),
    "exponential": (lambda value: need(value).exp(), 1, 1),
    "log": (_log, 1, 2),
    "mod": (lambda value, divisor: need(value) % need(divisor), 2, 2),
    "isnumber": (lambda value: number(value) is not None, 1, 1),
    "isinteger": (_is_integer, 1, 1),
}

_AGGREGATES: dict[str, Callable[[list[Decimal]], Decimal]] = {
    "sum": lambda numbers: sum(numbers, Decimal(0)),
    "mean": statistics.mean,
    "median": statistics.median,
    "stdev": statistics.stdev,
    "min": min,
    "max": max,
}


_LONGEST = 64 * 1024


def text(value: Operand) -> str:
    """A value as text: a number as it is written, true as 1."""
    if isinstance(value, bool):
        return "1" if value else "0"
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def _fold(value: Operand) -> str:
    return text(value).lower()


def concat(*values: Operand) -> str:
    """One after the other, blanks as nothing."""
    return _bounded("".join(map(text, values)))


def concat_ws(separator: Operand, *values: Operand) -> str:
    """With the separator between those that are not blank."""
    return _bounded(text(separator).join(filter(None, map(text, values))))


def _bounded(value: str) -> str:
    if len(value) > _LONGEST:
        raise ValueError
    return value


def _count(value: Operand) -> int:
    found = int(need(value))
    if not 0 <= found <= _LONGEST:
        raise ValueError
    return found


def _left(value: Operand, count: Operand) -> str:
    return text(value)[: _count(count)]


def _right(value: Operand, count: Operand) -> str:
    found, many = text(value), _count(count)
    return found[len(found) - many :] if many < len(found) else found


def _mid(value: Operand, start: Operand, count: Operand) -> str:
    first = _count(start) - 1
    if first < 0:
        raise ValueError
    return text(value)[first : first + _count(count)]


def _find(needle: Operand, haystack: Operand) -> Operand:
    """1 is the first place, 0 is nowhere."""
    exact, folded = text(haystack).find(text(needle)), _fold(haystack).find(_fold(needle))
    return Decimal(exact + 1) if exact == folded else UNTOLD


def _replace(haystack: Operand, search: Operand, by: Operand) -> Operand:
    if text(search) == "":
        return text(haystack)
    pattern, new = re.escape(text(search)), text(by)
    exact = re.sub(pattern, lambda _match: new, text(haystack))
    folded = re.sub(pattern, lambda _match: new, text(haystack), flags=re.IGNORECASE)
    return _bounded(exact) if exact == folded else UNTOLD


_OF_TEXTS: dict[str, Counted] = {
    "contains": (lambda text_, part: _fold(part) in _fold(text_), 2, 2),
    "not_contain": (lambda text_, part: _fold(part) not in _fold(text_), 2, 2),
    "starts_with": (lambda text_, part: _fold(text_).startswith(_fold(part)), 2, 2),
    "ends_with": (lambda text_, part: _fold(text_).endswith(_fold(part)), 2, 2),
    "find": (_find, 2, 2),
    "left": (_left, 2, 2),
    "right": (_right, 2, 2),
    "mid": (_mid, 3, 3),
    "length": (lambda value: Decimal(len(text(value))), 1, 1),
    "trim": (lambda value: text(value).strip(), 1, 1),
    "upper": (lambda value: text(value).upper(), 1, 1),
    "lower": (lambda value: text(value).lower(), 1, 1),
    "replace_text": (_replace, 3, 3),
    "concat": (concat, 2, None),
    "calctext": (lambda value: value, 1, 1),
}


Build = Callable[[Sequence[Node]], Node]


@dataclass(frozen=True, slots=True)
class Function:
    """How many arguments it takes (`most` None: any number) and what it makes of them."""

    build: Build
    least: int
    most: int | None

    def takes(self, count: int) -> bool:
        """Whether it takes so many arguments."""
        return self.least <= count and (self.most is None or count <= self.most)


def _plain(function: Callable[..., Operand]) -> Build:
    """Of known values; an open one leaves it open."""

    def build(arguments: Sequence[Node]) -> Node:
        return lambda view: known(function, [node(view) for node in arguments], view)

    return build


def _dated(function: Callable[..., Operand]) -> Build:
    """Of dates: it takes incomplete ones, and learns the day."""

    def build(arguments: Sequence[Node]) -> Node:
        def evaluate(view: View) -> Operand:
            values = [node(view) for node in arguments]
            try:
                return function(view.today, *values)
            except MISTAKES as error:
                return without_result(error, values, view)

        return evaluate

    return build


def _asked(function: Callable[..., Operand]) -> Build:
    """Of values as they are, open ones too."""

    def build(arguments: Sequence[Node]) -> Node:
        return lambda view: function(*(node(view) for node in arguments))

    return build


def _aggregate(function: Callable[[list[Decimal]], Decimal]) -> Build:
    """Of what is not blank; blank where nothing else is there."""

    def evaluate(*values: Operand) -> Operand:
        blanks = [one for one in values if isinstance(one, Open) and one.is_blank]
        filled = [one for one in values if one not in blanks and one != ""]
        doubt = next((one for one in filled if isinstance(one, Open)), None)
        if doubt is not None:
            return undecided(doubt)
        found = [known_one for one in filled if (known_one := number(one)) is not None]
        if len(found) < len(filled):
            return UNTOLD
        try:
            return function(found) if found else next(iter(blanks), "")
        except MISTAKES:  # a deviation of one number
            return ""

    return _asked(evaluate)


def _joined(arguments: Sequence[Node]) -> Node:
    """concat_ws: blanks are skipped, whether or not they may still be filled in."""

    def evaluate(view: View) -> Operand:
        separator, *values = (node(view) for node in arguments)
        present = [one for one in values if not (isinstance(one, Open) and one.is_blank)]
        return known(concat_ws, [separator, *present], view)

    return evaluate


def _if(arguments: Sequence[Node]) -> Node:
    """The branch that is not taken is not looked at; an open condition leaves what both agree on."""
    condition, yes, no = arguments

    def evaluate(view: View) -> Operand:
        chosen = truth(condition(view))
        if not isinstance(chosen, Open):
            return yes(view) if chosen else no(view)
        first, second = yes(view), no(view)
        return first if first == second and not isinstance(first, Open) else undecided(chosen)

    return evaluate


FUNCTIONS: Mapping[str, Function] = {
    "if": Function(_if, 3, 3),
    "isblankormissingcode": Function(_asked(is_blank_or_code), 1, 1),
    "isblanknotmissingcode": Function(_asked(is_blank), 1, 1),
    "ismissingcode": Function(_asked(is_missing_code), 1, 1),
    "hasmissingcode": Function(_asked(is_missing_code), 2, 2),
    "concat_ws": Function(_joined, 3, None),
    **{name: Function(_aggregate(f), 1, None) for name, f in _AGGREGATES.items()},
    **{name: Function(_plain(f), low, high) for name, (f, low, high) in _OF_NUMBERS.items()},
    **{name: Function(_plain(f), low, high) for name, (f, low, high) in _OF_TEXTS.items()},
    **{name: Function(_dated(f), low, high) for name, (f, low, high) in dates.FUNCTIONS.items()},
}

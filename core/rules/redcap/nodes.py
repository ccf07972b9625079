"""What REDCap's logic computes with, three-valued, and its operators as nodes over a view.

Texts and numbers as REDCap compares them, and what is open; a view answers references, from the place where
the logic stands.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any, Protocol, TypeAlias

from core.rules import parse
from core.rules.arithmetic import is_other_than_zero
from core.rules.compare import Span, equal_span, less_span
from core.rules.context import checkbox_column
from core.rules.values import DAY, Moment, Range, Reason


@dataclass(frozen=True, slots=True)
class Open:
    """An undecided value: the field to fill in first, and its event where that is another one.

    `missing_code`: the code that stands there instead of a value, one of `codes`. `bounds`: a censored
    number or partial date, which decides a comparison when all it can be lies on one side. `why` where it
    is neither blank nor a code; `note` tells of a computation without a result.
    """

    cause: str
    event: str | None = None
    is_blank: bool = False
    missing_code: str = ""
    codes: frozenset[str] = frozenset()
    bounds: Range | Moment | None = None
    why: Reason = Reason.NOT_EXPORTED
    note: str = ""

    @property
    def reason(self) -> Reason:
        """Why it is open."""
        if self.is_blank:
            return Reason.MISSING
        return Reason.MISSING_CODE if self.missing_code else self.why


class MinutesSeconds(str):
    """The text of a `time_mm_ss` field, which is no time of day."""

    __slots__ = ()


Operand: TypeAlias = str | Decimal | bool | Open
UNTOLD = Open("", why=Reason.MISSING)
"""Open for what REDCap's servers and browsers make of it, whatever is filled in."""

_EQUALITIES = frozenset({"=", "<>", "!="})


def truth(value: Operand) -> bool | Open:
    """Whether an operand counts as true."""
    if isinstance(value, Open):
        is_date = isinstance(value.bounds, Moment)
        is_number = isinstance(value.bounds, Range) and is_other_than_zero(value.bounds)
        return True if is_date or is_number else undecided(value)
    return value if isinstance(value, bool) else value not in {"", "0", Decimal(0)}


def undecided(value: Open) -> Open:
    """What an open value makes of that which is computed from it: its bounds were the value's own."""
    return replace(value, bounds=None)


def is_blank_or_code(value: Operand) -> bool | Open:
    """REDCap's isblankormissingcode."""
    if not isinstance(value, Open):
        return value == ""
    if value.bounds is not None:
        return False
    return value.is_blank or bool(value.missing_code) or value


def is_blank(value: Operand) -> bool | Open:
    """REDCap's isblanknotmissingcode."""
    if not isinstance(value, Open):
        return value == ""
    if value.bounds is not None or value.missing_code:
        return False
    return value.is_blank or value


def is_missing_code(value: Operand, listed: Operand = "") -> bool | Open:
    """REDCap's ismissingcode, and hasmissingcode with the codes `listed` in one text."""
    if isinstance(listed, Open):
        return undecided(listed)
    if not isinstance(value, Open) or value.bounds is not None or value.is_blank:
        return False
    if not value.missing_code:
        return value
    codes = [code.strip() for code in str(listed).split(",") if code.strip()]
    return not codes or value.missing_code in codes


def compare(operator: str, a: Operand, b: Operand) -> bool | Open:
    """a and b compared; where that is open, the side that leaves it open."""
    is_equality = operator in _EQUALITIES
    a, b = _asked(a, b, is_equality), _asked(b, a, is_equality)
    if not isinstance(a, Open) and not isinstance(b, Open):
        return _apply(operator, a, b)
    decided = _decided(operator, a, b)
    if decided is not None:
        return decided
    return next(undecided(side) for side in (a, b) if isinstance(side, Open))


def _asked(value: Operand, other: Operand, is_equality: bool) -> Operand:
    """What stands instead of a value where `other` asks for it: '' for a blank, or a missing code."""
    if not isinstance(value, Open):
        return value
    if value.is_blank and other == "":
        return ""
    is_asked = is_equality and (other == "" or str(other) in value.codes)
    return value.missing_code or value if is_asked else value


def _apply(operator: str, a: Any, b: Any) -> bool | Open:
    numbers = number(a), number(b)
    if numbers[0] is not None and numbers[1] is not None:
        a, b = numbers
    else:
        a, b = str(a), str(b)
    if operator in _EQUALITIES:
        return bool((a == b) is (operator == "="))
    results = {"<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b}
    if "" in (a, b) and results[operator]:
        return UNTOLD
    return bool(results[operator])


def _decided(operator: str, a: Operand, b: Operand) -> bool | None:
    """A comparison with a censored number or partial date; None where it is open."""
    first, second = _span(a, b), _span(b, a)
    if first is None or second is None:
        return None
    if "" in (a, b):
        return operator != "=" if operator in _EQUALITIES else None
    if operator in _EQUALITIES:
        is_equal = equal_span(first, second)
        return None if is_equal is None else is_equal is (operator == "=")
    if operator in {">", ">="}:
        first, second = second, first
    return less_span(first, second, or_equal=operator in {"<=", ">="})


def _span(value: Operand, other: Operand) -> Span | None:
    """All that one side can be, as what the other side is: numbers, or dates as they are written."""
    kinds = {type(side.bounds) for side in (value, other) if isinstance(side, Open)}
    if kinds not in ({Range}, {Moment}):
        return None
    if isinstance(value, Open):
        return _ends(value.bounds)
    only = str(value) if kinds == {Moment} or value == "" else number(value)
    return None if only is None else (only, only, False, False)


def _ends(bounds: Range | Moment | None) -> Span | None:
    """Dates written year first are ordered as their texts; the shortest text comes first."""
    if isinstance(bounds, Range):
        return bounds.low, bounds.high, bounds.low_open, bounds.high_open
    if bounds is None:
        return None
    low, high = bounds.low.isoformat(" ", "minutes"), bounds.high.isoformat(" ", "seconds")
    if bounds.precision == DAY:
        low, high = low[: len("2024-03-01")], high[: len("2024-03-01")]
    return low, high, False, False


def number(value: Operand) -> Decimal | None:
    """An operand as a number; None for any other text."""
    if isinstance(value, bool):
        return Decimal(value)
    if isinstance(value, str):
        return parse.exact(value)
    return value if isinstance(value, Decimal) else None


HERE = "event-name"
"""The smart variable that names the event itself."""


@dataclass(frozen=True, slots=True)
class Ref:
    """`[event][name(code)][instance]`; a part that is not written is "" and means the place itself.

    `name` is a field or a smart variable, `event` a unique event name or a smart variable, `instance` a
    number or a smart variable.
    """

    name: str
    code: str = ""
    event: str = ""
    instance: str = ""

    @property
    def column(self) -> str:
        """The export column of the field, or of the choice of a checkbox."""
        return checkbox_column(self.name, self.code) if self.code else self.name


class View(Protocol):
    """Answers references. `today` None: the day of the evaluation is not known."""

    @property
    def today(self) -> date | None:
        """The day of the evaluation in the project's zone."""

    @property
    def codes(self) -> Collection[str]:
        """The study's missing data codes."""

    def read(self, ref: Ref) -> Operand:
        """What stands there."""

    def refuse(self, error: Exception) -> Operand | None:
        """What stands for what has no result; None where it is what REDCap makes of it."""


Node: TypeAlias = Callable[[View], Operand]
Counted = tuple[Callable[..., Operand], int, int | None]
"""A function and the least and greatest number of its arguments."""

MISTAKES = (ArithmeticError, LookupError, TypeError, ValueError)
"""What a computation without a result raises; it is blank then, but for a rule."""


class UnfitError(ValueError):
    """A text where a number or a date is needed."""


def constant(value: Operand) -> Node:
    """What is written in the logic."""
    return lambda _view: value


def field(ref: Ref) -> Node:
    """A reference."""
    return lambda view: view.read(ref)


def logical(parts: Sequence[Node], *, decisive: bool) -> Node:
    """`or` (decided by one that is true) and `and` (by one that is false); else the first open part."""

    def evaluate(view: View) -> Operand:
        doubt: Operand = not decisive
        for part in parts:
            side = truth(part(view))
            if side is decisive:
                return decisive
            if isinstance(side, Open) and not isinstance(doubt, Open):
                doubt = side
        return doubt

    return evaluate


def negate(node: Node) -> Node:
    """`not`."""

    def evaluate(view: View) -> Operand:
        value = truth(node(view))
        return value if isinstance(value, Open) else not value

    return evaluate


def compared(operator: str, left: Node, right: Node) -> Node:
    """A comparison; white space around texts is none of them."""

    def evaluate(view: View) -> Operand:
        a, b = _trimmed(left(view)), _trimmed(right(view))
        is_unfit = operator not in _EQUALITIES and (_is_unfit(a, b) or _is_unfit(b, a))
        told = view.refuse(UnfitError()) if is_unfit else None
        return compare(operator, a, b) if told is None else told

    return evaluate


def _is_unfit(value: Operand, other: Operand) -> bool:
    """Whether a text is neither a number nor a date beside `other`, which is one."""
    if not isinstance(value, str) or isinstance(other, Open) or value == "":
        return False
    if number(other) is not None:
        return number(value) is None
    return parse.is_full_date(str(other)) and parse.moment(value) is None


def _trimmed(value: Operand) -> Operand:
    return value.strip() if isinstance(value, str) else value


def chained(first: Node, steps: Sequence[tuple[str, Node]]) -> Node:
    """Arithmetic from left to right; with a blank operand the result is blank."""

    def evaluate(view: View) -> Operand:
        value = first(view)
        for operator, node in steps:
            value = known(_ARITHMETIC[operator], [value, node(view)], view)
        return value

    return evaluate


def known(function: Callable[..., Operand], values: Sequence[Operand], view: View) -> Operand:
    """`function` of values that are all known."""
    for value in values:
        if isinstance(value, Open):
            return undecided(value)
    try:
        return function(*values)
    except MISTAKES as error:
        return without_result(error, values, view)


def without_result(error: Exception, values: Sequence[Operand], view: View) -> Operand:
    """Blank, also for a rule where one of the values is blank; else as the view has it."""
    if "" in values and not isinstance(error, UnfitError):
        return ""
    told = view.refuse(error)
    return "" if told is None else told


def need(value: Operand) -> Decimal:
    """A number; ValueError for anything else, UnfitError for a text."""
    found = number(value)
    if found is None and str(value).strip():
        raise UnfitError
    if found is None or not found.is_finite():
        raise ValueError
    return found


def _power(base: Operand, exponent: Operand) -> Decimal:
    power = need(exponent)
    if abs(power) > 100:
        raise ValueError
    return need(base) ** power


_ARITHMETIC: dict[str, Callable[..., Operand]] = {
    "+": lambda a, b: need(a) + need(b),
    "-": lambda a, b: need(a) - need(b),
    "*": lambda a, b: need(a) * need(b),
    "/": lambda a, b: need(a) / need(b),
    "^": _power,
}

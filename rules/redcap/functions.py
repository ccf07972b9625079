"""The functions of REDCap's logic by name (redcap_dify.md, *Functions of REDCap's logic*).

What each says of blanks, missing codes and partial dates: one table, tests/rules/redcap/test_functions.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from rules.operands import (
    UNTOLD,
    Open,
    Operand,
    is_blank,
    is_blank_or_code,
    is_missing_code,
    number,
    truth,
    undecided,
)
from rules.redcap import dates, numbers, texts
from rules.redcap.nodes import MISTAKES, known
from rules.redcap.view import Node, View

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
        return lambda view: known(function, [node(view) for node in arguments])

    return build


def _dated(function: Callable[..., Operand]) -> Build:
    """Of dates: it takes incomplete ones, and learns the day."""

    def build(arguments: Sequence[Node]) -> Node:
        def evaluate(view: View) -> Operand:
            try:
                return function(view.today, *(node(view) for node in arguments))
            except MISTAKES:
                return ""

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


def _joined(separator: Operand, *values: Operand) -> Operand:
    """concat_ws: blanks are skipped, whether or not they may still be filled in."""
    present = [one for one in values if not (isinstance(one, Open) and one.is_blank)]
    return known(texts.concat_ws, [separator, *present])


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
    "concat_ws": Function(_asked(_joined), 3, None),
    **{name: Function(_aggregate(f), 1, None) for name, f in numbers.AGGREGATES.items()},
    **{name: Function(_plain(f), low, high) for name, (f, low, high) in numbers.FUNCTIONS.items()},
    **{name: Function(_plain(f), low, high) for name, (f, low, high) in texts.FUNCTIONS.items()},
    **{name: Function(_dated(f), low, high) for name, (f, low, high) in dates.FUNCTIONS.items()},
}

"""Functions of texts. Searching folds the case; where the case would decide and nobody tells, it is untold."""

from __future__ import annotations

import re
from decimal import Decimal

from rules.operands import UNTOLD, Operand
from rules.redcap.nodes import need
from rules.redcap.numbers import Counted

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


FUNCTIONS: dict[str, Counted] = {
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

"""Whether a field is shown on its form: REDCap's logic in the little grammar the studies use.

`or` of `and` of comparisons `[field] = "1"`, `[box(3)] = '1'`, `[event][field] > 5`; three-valued.
"""

from __future__ import annotations

import re
from fractions import Fraction

FIELD = re.compile(r"(?:\[([a-z0-9_]+)\])?\[([a-z0-9_]+)(?:\(([^)]+)\))?\]")
COMPARISON = re.compile(r"\s*(\S.*?\])\s*(<>|!=|<=|>=|=|<|>)\s*[\"']?([^\"']*?)[\"']?\s*")


def shown(logic: str, look) -> bool | None:
    """True, False, or None where a field it depends on leaves it open.

    `look(event or None, field, box)` gives a text, or None for what is not known.
    """
    if not logic.strip():
        return True
    found: bool | None = False
    for part in re.split(r"\s+or\s+", logic.strip()):
        found = either(found, _all(part, look))
    return found


def _all(part: str, look) -> bool | None:
    found: bool | None = True
    for comparison in re.split(r"\s+and\s+", part):
        found = both(
            found, _compare(comparison.strip("() ") if "](" not in comparison else comparison, look)
        )
    return found


def _compare(text: str, look) -> bool | None:
    left, sign, right = COMPARISON.fullmatch(text).groups()
    event, field, box = FIELD.fullmatch(left).groups()
    value = look(event, field, box)
    if value is None:
        return None
    a: object = value
    b: object = right
    if _is_number(value) and _is_number(right):
        a, b = Fraction(value), Fraction(right)
    if sign == "=":
        return a == b
    if sign in ("<>", "!="):
        return a != b
    if value == "" or right == "":
        return None
    return {"<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b}[sign]


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text) is not None


def both(a: bool | None, b: bool | None) -> bool | None:
    """Kleene's and."""
    if a is False or b is False:
        return False
    return None if a is None or b is None else True


def either(a: bool | None, b: bool | None) -> bool | None:
    """Kleene's or."""
    if a is True or b is True:
        return True
    return None if a is None or b is None else False

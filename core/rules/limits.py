"""Bounds of rules and of what a judgement may take, and the error that tells them (contracts.md, Python).

A rule is bounded before anything recurses over it. Of a judgement only what multiplies counts: a loop its
items times what its body holds, a list what is put together, a pattern its text times its states; and a
wall clock around several.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from time import monotonic
from typing import Any

from core.rules.text import translate as _


class RuleError(ValueError):
    """A rule that can't be compiled or computed; the message is for the rule's author."""


MAX_STEPS = 200_000
MAX_TEXT = 64 * 1024
LIKELY_ITEMS = 32
"""Of a list whose length nobody knows before there are data."""
_until: ContextVar[float] = ContextVar("until", default=inf)


class TooMuchError(RuleError):
    """A judgement that would take more than it may."""


@contextmanager
def within_seconds(seconds: float) -> Iterator[None]:
    """What multiplies is refused when so much time has passed: every rule that is left is an ERROR."""
    before = _until.set(min(_until.get(), monotonic() + seconds))
    try:
        yield
    finally:
        _until.reset(before)


def check_spent(spent: int) -> None:
    """Raises TooMuchError."""
    if spent > MAX_STEPS:
        raise TooMuchError(too_many_steps())
    if is_late():
        raise TooMuchError(_("The rules took too long."))


def is_late() -> bool:
    """Whether the time of `within_seconds` has passed."""
    return monotonic() > _until.get()


def too_many_steps() -> str:
    """Why a rule is refused, for its author."""
    return _("The rule takes more than %(max)d steps: fewer loops inside of loops.") % {
        "max": MAX_STEPS
    }


MAX_DEPTH = 64
MAX_BYTES = 64 * 1024
_SCALARS = (bool, float, type(None))
_MAX_INT_BITS = 4096


def check_limits(logic: Any) -> None:
    """Raise RuleError when `logic` is deeper than 64 or larger than 64 KiB.

    Depth counts operators; the list that only holds an operator's arguments is no level of its own,
    a list inside a list is. Size is that of compact UTF-8 JSON. Works without recursion and stops
    at the first excess, so cyclic or shared Python objects can't make it run on.
    """
    size = 0
    stack: list[tuple[Any, int, bool]] = [(logic, 0, False)]
    while stack:
        node, depth, is_arguments = stack.pop()
        if isinstance(node, dict):
            depth += 1
            size += 1 + max(1, sum(_text_size(str(key)) + 2 for key in node))
            stack.extend((child, depth, True) for child in node.values())
        elif isinstance(node, list | tuple):
            depth += 0 if is_arguments else 1
            size += 1 + max(1, len(node))
            if size <= MAX_BYTES:
                stack.extend((child, depth, False) for child in node)
        else:
            size += _scalar_size(node)
        if depth > MAX_DEPTH:
            raise RuleError(
                _("The rule is nested deeper than %(max)d levels.") % {"max": MAX_DEPTH}
            )
        if size > MAX_BYTES:
            raise RuleError(_("The rule is larger than %(max)d KiB.") % {"max": MAX_BYTES // 1024})


def _scalar_size(node: Any) -> int:
    if isinstance(node, str):
        return _text_size(node)
    if isinstance(node, _SCALARS):
        return len(json.dumps(node))
    if isinstance(node, int):
        return len(str(node)) if node.bit_length() <= _MAX_INT_BITS else MAX_BYTES + 1
    raise RuleError(
        _("A rule holds JSON only; found a value of type %(type)s.") % {"type": type(node).__name__}
    )


def _text_size(text: str) -> int:
    if len(text) > MAX_BYTES:
        return MAX_BYTES + 1
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def parts(logic: Any) -> Iterator[Any]:
    """An expression and all that is in it."""
    todo = [logic]
    while todo:
        part = todo.pop()
        yield part
        held = part.values() if isinstance(part, dict) else part
        todo.extend(held if isinstance(part, dict | list | tuple) else ())

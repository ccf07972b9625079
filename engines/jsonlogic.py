"""Standard JSON Logic on plain values: the semantics of json-logic-js 2.0.5.

Clinical verdicts (types, three values, reasons) are `engines.hard_rules`; a plain answer of this
module says nothing about missing data (reference/jsonlogic.md, 0.4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from rules.errors import RuleError
from rules.fused import fuse
from rules.js import UNDEFINED
from rules.standard import compile_standard
from rules.text import translate as _

__all__ = ["RuleError", "RuleList", "apply", "compile_rule", "compile_rules"]


def compile_rule(logic: Any) -> Callable[[Any], Any]:
    """A function data -> value for `logic` (parsed JSON).

    RuleError for an unknown operator anywhere in the rule, a depth over 64 or a size over 64 KiB;
    the returned function raises RuleError where JavaScript would throw, never RecursionError.
    """
    expression = compile_standard(logic)

    def evaluate(data: Any = None) -> Any:
        try:
            value = expression(data)
        except RecursionError:
            raise RuleError(_("The data are nested too deeply.")) from None
        return None if value is UNDEFINED else value

    return evaluate


class RuleList:
    """Compiled rules: call with one record's data, or sweep over many records."""

    def __init__(self, logics: Sequence[Any]) -> None:
        self._fused = fuse(logics)

    def __call__(self, data: Any = None) -> list[Any]:
        """[value of each rule]; a RuleError of one rule ends the call."""
        try:
            return self._fused(data)
        except RecursionError:
            raise RuleError(_("The data are nested too deeply.")) from None

    def sweep(self, records: Iterable[Any]) -> Iterator[list[Any]]:
        """What a call gives for each of `records` (often a generator), one by one, in order."""
        return map(self, records)


def compile_rules(logics: Sequence[Any]) -> RuleList:
    """A function data -> [value of each rule], fused into one code object; cache it.

    Same values and errors as `compile_rule` one by one. Its `sweep` takes many records at once.
    """
    return RuleList(logics)


def apply(logic: Any, data: Any = None) -> Any:
    """The value of `logic` on `data`; see `compile_rule` for the errors."""
    return compile_rule(logic)(data)

"""Standard JSON Logic on plain values: the semantics of json-logic-js 2.0.5.

Clinical verdicts (types, three values, reasons) are `engines.hard_rules`; a plain answer of this
module says nothing about missing data (reference/jsonlogic.md, 0.4).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rules.errors import RuleError
from rules.js import UNDEFINED
from rules.standard import compile_standard
from rules.text import translate as _

__all__ = ["RuleError", "apply", "compile_rule"]


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


def apply(logic: Any, data: Any = None) -> Any:
    """The value of `logic` on `data`; see `compile_rule` for the errors."""
    return compile_rule(logic)(data)

"""redcap: a condition in REDCap's own logic, e.g. {"redcap": ["[age] < 18 and [consent(1)] = '1'"]}."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rules.compiler import Compiler, operator
from rules.context import Kind, checkbox_column
from rules.errors import RuleError
from rules.expression import Expr, Scope, Type
from rules.operands import Open, truth
from rules.redcap import places
from rules.redcap.parser import parse_logic
from rules.redcap.rows import SMART, RowView
from rules.redcap.view import HERE, Ref
from rules.text import translate as _
from rules.values import Unknown, Value
from rules.visibility import visibility


@operator("redcap", least=1, most=1)
def build_redcap(compiler: Compiler, arguments: Sequence[Any], path: str) -> Expr:
    """True, false, or unknown for the reason of the field that leaves it open."""
    text = compiler.as_text_literal(compiler.compile(arguments[0], f"{path}/0"), f"{path}/0")
    try:
        logic = parse_logic(text)
    except RuleError as error:
        return compiler.problem(path, str(error))
    for ref in logic.refs:
        _check(compiler, ref, path)

    def evaluate(scope: Scope) -> Value:
        found = truth(logic.node(RowView(scope.row, visibility)))
        return Unknown(found.reason) if isinstance(found, Open) else found

    return Expr(evaluate, Type.FLAG)


def _check(compiler: Compiler, ref: Ref, path: str) -> None:
    """Note what no row can answer, and what the logic reads where it stands."""
    mapping = compiler.context.forms_by_event
    is_literal = ref.event not in {"", HERE, *places.RELATIVE_EVENTS}
    if is_literal and compiler.is_saving and mapping and ref.event not in mapping:
        compiler.problem(path, _("Unknown event “%(name)s”.") % {"name": ref.event})
    if ref.instance and not (ref.instance.isdigit() or ref.instance in places.INSTANCES):
        compiler.problem(path, _unanswered(ref.instance))
    if "-" in ref.name:
        if ref.name not in SMART:
            compiler.problem(path, _unanswered(ref.name))
        return
    name = checkbox_column(ref.name, ref.code) if ref.code else ref.name
    column = compiler.context.column(name)
    if column is None:
        message = _("“%(name)s” is not a column of the data dictionary.")
        compiler.problem(path, message % {"name": name})
        return
    if column.kind is Kind.TICKS:
        message = _("“%(name)s” is a checkbox; name one of its codes in parentheses.")
        compiler.problem(path, message % {"name": name})
        return
    if not ref.instance and ref.event not in places.RELATIVE_EVENTS:
        compiler.reads[(name, ref.event if is_literal else compiler.event)] = None


def _unanswered(name: str) -> str:
    return _("No export answers the smart variable “%(name)s”.") % {"name": name}

"""var, across_events, today, to_unit, redcap: what reaches into the record and the study."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.rules import units
from core.rules.compiler import Call, Compiler, operator
from core.rules.context import Kind
from core.rules.expression import NOT_EXPORTED, Conversion, Expr, Node, Scope, Type, type_of
from core.rules.limits import RuleError
from core.rules.redcap.nodes import HERE, Open, Ref, truth
from core.rules.redcap.parser import parse_logic
from core.rules.redcap.rows import INSTANCES, RELATIVE_EVENTS, SMART, RowView
from core.rules.text import gettext_noop
from core.rules.text import translate as _
from core.rules.values import Code, Reason, Unknown, Value
from core.rules.visibility import visibility


@operator("var", least=1, most=2, is_standard=True)
def build_var(compiler: Compiler, call: Call) -> Expr:
    """A column by its written name. A default is no observation: it never stands in for a blank
    or an absent value, so a missing datum stays missing."""
    if len(call.given) == 2:
        compiler.argument(call, 1)
    return variable(compiler, call.given[0], call.path)


def variable(compiler: Compiler, name: Any, path: str) -> Expr:
    """The expression for a column, or for the element inside an array operator."""
    if compiler.elements is not None:
        element = compiler.elements.get("" if name is None else str(name))
        message = _("Inside an array operator only its element can be read, not “%(name)s”.")
        return element or compiler.problem(path, message % {"name": name})
    if name == "":
        return compiler.problem(path, _("A field or a value is still to be chosen here."))
    column = compiler.context.column(name) if isinstance(name, str) else None
    if not isinstance(name, str) or column is None:
        message = _("“%(name)s” is not a column of the data dictionary.")
        return compiler.problem(path, message % {"name": name})
    compiler.reads[(name, compiler.event)] = None
    element_expr = Expr(lambda scope: scope.item, Type.CODE, column)
    return Expr(
        lambda scope: scope.row.read(name).value,
        type_of(column),
        column,
        reading=lambda scope: scope.row.read(name),
        element=element_expr if type_of(column) is Type.LIST else None,
    )


@operator("across_events", least=2, most=2)
def build_across_events(compiler: Compiler, call: Call) -> Expr:
    """The expression on that event's base row of the same record; no such row: not exported.

    An event the study does not have is refused on saving; a rule that is there is run.
    """
    event = compiler.as_text_literal(compiler.argument(call, 0), call.at(0))
    _check_event(compiler, event, call.at(0))
    outer, compiler.event = compiler.event, event
    inner = compiler.argument(call, 1)
    compiler.event = outer

    def there(function: Callable[[Scope], Any], absent: Any) -> Callable[[Scope], Any]:
        def evaluate(scope: Scope) -> Any:
            row = scope.record.base_row(event)
            return absent if row is None else function(scope.at(row))

        return evaluate

    return Expr(
        there(inner.node, NOT_EXPORTED),
        inner.type,
        inner.column,
        reading=there(inner.reading, None) if inner.reading else None,
        branches=(inner,),
        element=inner.element,
    )


def _check_event(compiler: Compiler, event: str, path: str) -> None:
    mapping = compiler.context.forms_by_event
    if compiler.is_saving and event and mapping and event not in mapping:
        compiler.problem(path, _("Unknown event “%(name)s”.") % {"name": event})


@operator("today", least=0, most=0, words=gettext_noop("today"))
def build_today(_compiler: Compiler, _call: Call) -> Expr:
    """The day of the run in the project's time zone."""
    return Expr(lambda scope: scope.record.today_value, Type.DATE)


@operator("to_unit", least=4, most=4, words=gettext_noop("{0} in {2}"))
def build_to_unit(compiler: Compiler, call: Call) -> Expr:
    """A laboratory value in the target unit. The unit is a text, or a choice whose label (or code)
    names it; a blank unit, or one the table can't convert, is UNKNOWN unit_missing."""
    value, unit, target_expr, analyte_expr = compiler.arguments(call)
    target = compiler.as_text_literal(target_expr, call.at(2))
    analyte = compiler.as_text_literal(analyte_expr, call.at(3))
    if unit.type not in {Type.TEXT, Type.RAW, Type.CODE, Type.ANY, Type.NULL}:
        compiler.problem(call.at(1), _("A unit is needed here."))
    if analyte and not units.is_known_analyte(analyte):
        message = _("The unit table has no analyte “%(name)s”.")
        compiler.problem(call.at(3), message % {"name": analyte})
    elif target and units.factor(target, target, analyte) is None:
        message = _("The unit table has no unit “%(name)s” for this analyte.")
        compiler.problem(call.at(2), message % {"name": target})
    number = compiler.converted(value, call.at(0), Type.NUMBER)
    node = _converted(number, unit.node, target, analyte)
    if value.reading is not None:
        compiler.conversions.append(Conversion(compiler.event, value.reading, node, target))
    return Expr(node, Type.NUMBER)


def _converted(number: Node, unit_node: Node, target: str, analyte: str) -> Node:
    def evaluate(scope: Scope) -> Value:
        value: Any = number(scope)
        unit = unit_node(scope)
        if isinstance(value, Unknown):
            return value
        if isinstance(unit, Unknown) and unit.reason is not Reason.MISSING:
            return unit
        names = [unit.label, unit.code] if isinstance(unit, Code) else [unit]
        named = (n for n in names if isinstance(n, str) and n)
        found = (units.convert(value, name, target, analyte) for name in named)
        return next((one for one in found if one is not None), Unknown(Reason.UNIT_MISSING))

    return evaluate


@operator("redcap", least=1, most=1)
def build_redcap(compiler: Compiler, call: Call) -> Expr:
    """A condition in REDCap's own logic, e.g. "[age] < 18 and [consent(1)] = '1'"."""
    text = compiler.as_text_literal(compiler.argument(call, 0), call.at(0))
    try:
        logic = parse_logic(text)
    except RuleError as error:
        return compiler.problem(call.path, str(error))
    for ref in logic.refs:
        _check_reference(compiler, ref, call.path)

    def evaluate(scope: Scope) -> Value:
        found = truth(logic.node(RowView(scope.row, visibility, is_rule=True)))
        if not isinstance(found, Open):
            return found
        return Unknown(None, found.note) if found.note else Unknown(found.reason)

    return Expr(evaluate, Type.FLAG)


def _check_reference(compiler: Compiler, ref: Ref, path: str) -> None:
    """Note what no row can answer, and what the logic reads, where it stands or elsewhere."""
    is_literal = ref.event not in {"", HERE, *RELATIVE_EVENTS}
    if is_literal:
        _check_event(compiler, ref.event, path)
    unanswered = _("No export answers the smart variable “%(name)s”.")
    if ref.instance and not (ref.instance.isdigit() or ref.instance in INSTANCES):
        compiler.problem(path, unanswered % {"name": ref.instance})
    if "-" in ref.name:
        if ref.name not in SMART:
            compiler.problem(path, unanswered % {"name": ref.name})
        return
    name = ref.column
    column = compiler.context.column(name)
    if column is None:
        message = _("“%(name)s” is not a column of the data dictionary.")
        compiler.problem(path, message % {"name": name})
    elif column.kind is Kind.TICKS:
        message = _("“%(name)s” is a checkbox; name one of its codes in parentheses.")
        compiler.problem(path, message % {"name": name})
    elif ref.instance or ref.event in RELATIVE_EVENTS:
        compiler.looks_for[(ref, compiler.event)] = None
    else:
        compiler.reads[(name, ref.event if is_literal else compiler.event)] = None

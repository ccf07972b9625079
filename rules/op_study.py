"""var, across_events, to_unit, today: what reaches into the record and the study."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from rules import units
from rules.arithmetic import compute, divide, multiply, to_number
from rules.compiler import Compiler, operator
from rules.convert import Reading
from rules.expression import NOT_EXPORTED, Conversion, Expr, Node, Scope, Type, type_of
from rules.text import translate as _
from rules.values import Code, Reason, Unknown, Value


@operator("var", least=1, most=2)
def build_var(compiler: Compiler, arguments: Sequence[Any], path: str) -> Expr:
    """A column by its written name. A default is no observation: it never stands in for a blank
    or an absent value, so a missing datum stays missing."""
    if len(arguments) == 2:
        compiler.compile(arguments[1], f"{path}/1")
    return variable(compiler, arguments[0], path)


def variable(compiler: Compiler, name: Any, path: str) -> Expr:
    """The expression for a column, or for the element inside an array operator."""
    if compiler.elements is not None:
        element = compiler.elements.get("" if name is None else str(name))
        message = _("Inside an array operator only its element can be read, not “%(name)s”.")
        return element or compiler.problem(path, message % {"name": name})
    column = compiler.context.column(name) if isinstance(name, str) and name else None
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
def build_across_events(compiler: Compiler, arguments: Sequence[Any], path: str) -> Expr:
    """The expression on that event's base row of the same record; no such row: not exported.

    An event the study does not have is refused on saving; a rule that is there is run.
    """
    event = compiler.as_text_literal(compiler.compile(arguments[0], f"{path}/0"), f"{path}/0")
    mapping = compiler.context.forms_by_event
    if compiler.is_saving and event and mapping and event not in mapping:
        compiler.problem(f"{path}/0", _("Unknown event “%(name)s”.") % {"name": event})
    outer, compiler.event = compiler.event, event
    inner = compiler.compile(arguments[1], f"{path}/1")
    compiler.event = outer
    return Expr(
        _at_event(inner.node, event),
        inner.type,
        inner.column,
        reading=_reading_at_event(inner, event) if inner.reading else None,
        branches=(inner,),
        element=inner.element,
    )


def _at_event(node: Node, event: str) -> Node:
    def evaluate(scope: Scope) -> Value:
        row = scope.record.base_row(event)
        return NOT_EXPORTED if row is None else node(scope.at(row))

    return evaluate


def _reading_at_event(inner: Expr, event: str) -> Any:
    def evaluate(scope: Scope) -> Reading | None:
        row = scope.record.base_row(event)
        return inner.reading(scope.at(row)) if row and inner.reading else None

    return evaluate


@operator("today", least=0, most=0)
def build_today(_compiler: Compiler, _arguments: Sequence[Any], _path: str) -> Expr:
    """The day of the run in the project's time zone."""
    return Expr(lambda scope: scope.record.today_value, Type.DATE)


@operator("to_unit", least=4, most=4)
def build_to_unit(compiler: Compiler, arguments: Sequence[Any], path: str) -> Expr:
    """A laboratory value in the target unit. The unit is a text, or a choice whose label (or code)
    names it; a blank unit, or one the table can't convert, is UNKNOWN unit_missing."""
    value, unit, target_expr, analyte_expr = compiler.compile_all(arguments, path)
    value = compiler.as_number(value, f"{path}/0")
    target = compiler.as_text_literal(target_expr, f"{path}/2")
    analyte = compiler.as_text_literal(analyte_expr, f"{path}/3")
    if unit.type not in {Type.TEXT, Type.RAW, Type.CODE, Type.ANY, Type.NULL}:
        compiler.problem(f"{path}/1", _("A unit is needed here."))
    if analyte and not units.is_known_analyte(analyte):
        message = _("The unit table has no analyte “%(name)s”.")
        compiler.problem(f"{path}/3", message % {"name": analyte})
    elif target and units.factor(target, target, analyte) is None:
        message = _("The unit table has no unit “%(name)s” for this analyte.")
        compiler.problem(f"{path}/2", message % {"name": target})
    node = _converted(value.node, unit.node, target, analyte)
    if value.reading is not None:
        compiler.conversions.append(Conversion(compiler.event, value.reading, node, target))
    return Expr(node, Type.NUMBER)


def _converted(value_node: Node, unit_node: Node, target: str, analyte: str) -> Node:
    def evaluate(scope: Scope) -> Value:
        value, unit = to_number(scope.record, value_node(scope)), unit_node(scope)
        if isinstance(value, Unknown):
            return value
        if isinstance(unit, Unknown) and unit.reason is not Reason.MISSING:
            return unit
        names = [unit.label, unit.code] if isinstance(unit, Code) else [unit]
        factors = (units.factor(n, target, analyte) for n in names if isinstance(n, str) and n)
        factor = next((found for found in factors if found is not None), None)
        if factor is None:
            return Unknown(Reason.UNIT_MISSING)
        scaled = compute(multiply, value, factor.numerator)
        return compute(divide, scaled, Decimal(factor.denominator))

    return evaluate

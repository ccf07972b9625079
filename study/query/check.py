"""A parsed query against a study: names, types and places that do not fit are refused."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import cast

from django.utils.translation import gettext as _

from core.rules.values import Items, Moment
from study.query import literals
from study.query.errors import QueryError, unknown
from study.query.names import Names
from study.query.schema import AllOf, AnyOf, FieldOperand, Op, RefOperand, StudyQuery
from study.query.schema import Condition as Asked
from study.query.schema import Place as AskedPlace
from study.query.schema import Test as AskedTest
from study.query.tree import (
    PROJECT,
    Condition,
    Constant,
    FormItem,
    Item,
    Joint,
    Key,
    Operand,
    Period,
    Places,
    Plan,
    Read,
    Ref,
    Source,
    Span,
    Test,
    Type,
)

_BARE = frozenset({"blank", "filled", "missing_code"})
_NUMERIC = frozenset({Type.NUMBER, Type.CODE})


class Checker:
    """Checks one query for one study and day."""

    def __init__(self, names: Names, today: date) -> None:
        self.names = names
        self.today = today

    def plan(self, query: StudyQuery) -> Plan:
        """The query as it can be run. Raises QueryError."""
        items = tuple(self._item(asked, f"select[{n}]") for n, asked in enumerate(query.select))
        where = self.all_of(query.where, "where")
        where, span, listed = self._period(query, where)
        by = tuple(self._key(name, f"by[{n}]") for n, name in enumerate(query.by))
        plan = Plan(
            where=where,
            of=self.all_of(query.of, "of"),
            items=items,
            by=by,
            subjects=query.subjects,
            rows=query.rows,
            place=self._place(query.place, "place"),
            period=span,
            listed=listed,
            aggregate=query.aggregate,
            order=query.order,
            order_item=self._order(query, items),
            limit=query.limit,
        )
        self._fits(query, plan)
        return plan

    def all_of(self, asked: Iterable[Asked], at: str) -> Joint:
        """Conditions that must all hold."""
        parts = (self.condition(one, f"{at}[{n}]") for n, one in enumerate(asked))
        return Joint("all", tuple(parts))

    def condition(self, asked: Asked, at: str) -> Condition:
        """One condition of `where` or `of`."""
        if isinstance(asked, AskedTest):
            left = self._named(asked.field, f"{at}.field")
            right = self._right(asked, left, f"{at}.value")
            self._operator(asked.op, left, right, at)
            return Test(left, asked.op, right, asked.holds == "every")
        if isinstance(asked, AnyOf):
            return Joint("any", self.all_of(asked.any, f"{at}.any").parts)
        if isinstance(asked, AllOf):
            return self.all_of(asked.all, f"{at}.all")
        return Joint("none", self.all_of(asked.none, f"{at}.none").parts)

    # --- conditions -------------------------------------------------------------------------------

    def _right(self, asked: AskedTest, left: Read, at: str) -> tuple[Operand, ...]:
        op, value = asked.op, asked.value
        if op in _BARE:
            if value is not None:
                raise QueryError(at, _("“%(op)s” takes no value.") % {"op": op})
            return ()
        if value is None:
            raise QueryError(at, _("“%(op)s” needs a value.") % {"op": op})
        if op == "between" and not (isinstance(value, tuple) and len(value) == 2):
            raise QueryError(at, _("“between” needs a list of two values."))
        if not isinstance(value, tuple):
            if op == "in":
                raise QueryError(at, _("“in” needs a list of values."))
            return (self._value(value, left, op, at),)
        # A list is equal to a checkbox only.
        if op not in {"between", "in"} and (op not in {"=", "!="} or left.type is not Type.CODES):
            raise QueryError(at, _("One value is needed here, not a list."))
        found = tuple(self._value(v, left, op, f"{at}[{n}]") for n, v in enumerate(value))
        if op in {"between", "in"}:
            return found
        items = tuple(one.value for one in found if isinstance(one, Constant))
        return (Constant(Items(items)),)

    def _value(self, asked: object, left: Read, op: str, at: str) -> Operand:
        if isinstance(asked, RefOperand):
            return self._ref(asked, left.type, at)
        if isinstance(asked, FieldOperand):
            right = self._named(asked, at)
            if not _comparable(left.type, right.type, op):
                told = _("“%(a)s” and “%(b)s” cannot be compared.")
                raise QueryError(at, told % {"a": left.source.name, "b": right.source.name})
            return right
        if not isinstance(asked, bool | int | float | str):
            raise QueryError(at, _("A value is needed here."))
        return Constant(literals.literal(asked, left.source, left.type, op, self.today, at))

    def _operator(self, op: str, left: Read, right: tuple[Operand, ...], at: str) -> None:
        kind, name = left.type, left.source.name
        if op in _BARE and left.minus is not None:
            told = _("“%(op)s” asks for a field, not for what is computed.")
            raise QueryError(f"{at}.op", told % {"op": op})
        if op == "contains" and kind not in {Type.TEXT, Type.CODES}:
            raise QueryError(f"{at}.op", _("“contains” needs a text or a checkbox."))
        if kind is Type.CODES and op in literals.ORDERED:
            raise QueryError(
                f"{at}.op", _("The choices of “%(name)s” have no order.") % {"name": name}
            )
        is_list = [isinstance(r, Constant) and isinstance(r.value, Items) for r in right]
        if kind is Type.CODES and op in {"=", "!="} and not all(is_list):
            told = _("“%(name)s” is a checkbox: ask what it contains, or give a list.")
            raise QueryError(f"{at}.op", told % {"name": name})
        if kind is Type.CODE and op in literals.ORDERED and not literals.whole_numbers(left.source):
            raise QueryError(
                f"{at}.op", _("The choices of “%(name)s” have no order.") % {"name": name}
            )

    # --- operands ---------------------------------------------------------------------------------

    def _named(self, asked: str | FieldOperand, at: str) -> Read:
        if isinstance(asked, str):
            return Read(self.names.source(asked, at))
        source = self.names.source(asked.field, f"{at}.field")
        place = self._place(asked.place, f"{at}.place")
        read = Read(source, place, asked.rows)
        if asked.minus is None:
            if asked.how is not None:
                raise QueryError(f"{at}.as", _("“as” goes with “minus”."))
            return read
        dates = source.type is Type.DATE
        minus = self._minus(asked, read, f"{at}.minus")
        dates = dates or (isinstance(minus, Read) and minus.type is Type.DATE)
        how = asked.how or ("days" if dates or _is_moment(minus) else "diff")
        self._computable(read, minus, how, at)
        return Read(source, place, asked.rows, minus, "days" if dates and how == "diff" else how)

    def _minus(self, asked: FieldOperand, left: Read, at: str) -> Operand:
        value = asked.minus
        if isinstance(value, RefOperand):
            return self._ref(value, left.type, at)
        if isinstance(value, FieldOperand):
            return self._named(value, at)
        if not isinstance(value, bool | int | float | str):
            raise QueryError(at, _("A value is needed here."))
        kind = left.type if left.type in {Type.DATE, Type.TEXT} else Type.NUMBER
        return Constant(literals.literal(value, left.source, kind, ">", self.today, at))

    def _ref(self, asked: RefOperand, kind: Type, at: str) -> Ref:
        if kind not in {Type.NUMBER, Type.TEXT}:
            raise QueryError(at, _("Only numbers have a reference range."))
        return Ref(asked.ref, Decimal(str(asked.times)))

    def _computable(self, left: Read, minus: Operand, how: str, at: str) -> None:
        kinds = [left.type] + ([minus.type] if isinstance(minus, Read) else [])
        wanted = {Type.DATE, Type.TEXT} if how == "days" else {Type.NUMBER, Type.CODE, Type.TEXT}
        dates = Type.DATE in kinds or _is_moment(minus)
        if how == "diff" and dates:
            wanted = {Type.DATE, Type.TEXT}
        fits = all(kind in wanted for kind in kinds)
        if how == "days" and not dates and Type.TEXT not in kinds:
            fits = False
        if isinstance(minus, Ref | Constant) and how == "days" and not _is_moment(minus):
            fits = False
        coded = [r for r in (left, minus) if isinstance(r, Read) and r.type is Type.CODE]
        if not fits or not all(literals.whole_numbers(read.source) for read in coded):
            raise QueryError(at, _("This cannot be computed: the types do not fit."))

    def _place(self, asked: AskedPlace | None, at: str) -> Places | None:
        if asked is None:
            return None
        return self.names.places((asked,) if isinstance(asked, str) else asked, at)

    # --- the rest of a query ----------------------------------------------------------------------

    def _item(self, asked: str | FieldOperand, at: str) -> Item:
        if isinstance(asked, FieldOperand):
            return self._named(asked, at)
        found = self.names.item(asked, at)
        return found if isinstance(found, FormItem) else Read(found)

    def _period(self, query: StudyQuery, where: Joint) -> tuple[Joint, Span | None, Span | None]:
        asked = query.period
        if asked is None:
            return where, None, None
        first, last = (
            literals.date_of(text, self.today, f"period.{key}").days if text is not None else None
            for key, text in (("from", asked.first), ("to", asked.last))
        )
        span = Span(first[0] if first else None, last[1] if last else None)
        if asked.field is None:
            return where, span, span
        source = self._date(asked.field, "period.field")
        bounds: dict[Op, int | None] = {">=": span.first, "<=": span.last}
        tests = tuple(
            Test(Read(source), op, (Constant(literals.midnight(date.fromordinal(end))),))
            for op, end in bounds.items()
            if end is not None
        )
        return Joint("all", (*where.parts, *tests)), None, span

    def _date(self, name: str, at: str) -> Source:
        source = self.names.source(name, at)
        dated = set(self.names.design.form_dates.values())
        if source.type is not Type.DATE and source.name not in dated:
            raise QueryError(at, _("“%(name)s” is no date.") % {"name": name})
        return source

    def _key(self, name: str, at: str) -> Key:
        if name == "event":
            return Key("event")
        if name == "@subject":
            return Key("subject")
        kind, separator, column = name.partition(":")
        if separator:
            if kind not in {"month", "week", "quarter"}:
                raise unknown(at, name, {f"{w}:": f"{w}:" for w in ("month", "week", "quarter")})
            source = self._date(column, at)
            return Key(cast(Period, kind), source)
        source = self.names.source(name, at)
        if source.type not in {Type.CODE, Type.TEXT if source.column is None else Type.CODES}:
            raise QueryError(at, _("“%(name)s” is no coded field.") % {"name": name})
        return Key("column", source)

    def _order(self, query: StudyQuery, items: tuple[Item, ...]) -> int | None:
        """Which item of `select` orders; None for the aggregate's value."""
        if query.order is None:
            return None
        name = query.order.by
        if name == "value":
            return 0 if items else None
        for number, asked in enumerate(query.select):
            if name == (asked if isinstance(asked, str) else asked.field):
                return number
        source = self.names.source(name, "order.by")
        for number, item in enumerate(items):
            if isinstance(item, Read) and item.source == source:
                return number
        told = _("“%(name)s” is not selected.") % {"name": name}
        raise QueryError("order.by", told, [i.source.name for i in items if isinstance(i, Read)])

    def _fits(self, query: StudyQuery, plan: Plan) -> None:
        """What an aggregate can be made of."""
        if query.of and query.aggregate != "share":
            raise QueryError("of", _("“of” goes with “share”."))
        if query.by and query.aggregate is None:
            raise QueryError("by", _("“by” goes with an aggregate."))
        if query.aggregate is None or query.aggregate in {"count", "share"}:
            return
        if not plan.items:
            raise QueryError("select", _("“%(name)s” needs a field.") % {"name": query.aggregate})
        if query.by and len(plan.items) > 1:
            raise QueryError("select[1]", _("A group has one value: ask for one field at a time."))
        for number, item in enumerate(plan.items):
            self._summable(query.aggregate, item, f"select[{number}]")

    def _summable(self, aggregate: str, item: Item, at: str) -> None:
        if not isinstance(item, Read) or item.source.form == PROJECT:
            raise QueryError(at, _("“%(name)s” needs a field.") % {"name": aggregate})
        kind = item.type
        if kind is Type.CODE and not literals.whole_numbers(item.source):
            told = _("The choices of “%(name)s” have no order.") % {"name": item.source.name}
            raise QueryError(at, told)
        dated = kind is Type.DATE or item.source.name in self.names.design.form_dates.values()
        dates = dated and aggregate in {"min", "max"}
        if kind not in _NUMERIC and not dates:
            raise QueryError(at, _("“%(name)s” needs numbers.") % {"name": aggregate})


def _is_moment(operand: Operand) -> bool:
    return isinstance(operand, Constant) and isinstance(operand.value, Moment)


def _comparable(left: Type, right: Type, op: str) -> bool:
    """Whether two columns can stand on the sides of `op`."""
    if Type.CODES in {left, right}:
        return False
    if op == "contains":
        return left is right is Type.TEXT
    if left is right:
        return left is not Type.TEXT or op not in literals.ORDERED
    if Type.TEXT in {left, right}:
        return True
    return {left, right} <= {Type.NUMBER, Type.CODE}

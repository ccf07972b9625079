"""Queries that are compiled once (`house.statements` says why)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Model, QuerySet
from django.db.models.query import get_related_populators

from house.instances import stored_row
from house.statements import (
    Rows,
    adapted,
    db,
    run,
)

M = TypeVar("M", bound=Model)


@dataclass(frozen=True)
class _Built:
    """What Django makes of a query before it runs, and where its arguments go."""

    sql: str
    params: tuple[Any, ...]
    holes: tuple[tuple[int, int], ...]
    compiler: Any
    names: list[str]
    span: slice
    related: list[Any]
    converters: dict[int, Any]


class Prepared(Generic[M]):
    """A query with arguments, compiled by Django at its first use.

    `make` gets one stand-in an argument, of the kind that `kinds` says (str, int, UUID, datetime), and may put
    it where a value goes: into a filter or an annotation. None as an argument finds nothing, as in SQL.
    """

    def __init__(self, make: Callable[..., QuerySet[M]], *kinds: type) -> None:
        """Nothing is compiled before the first call."""
        self._make = make
        self._kinds = kinds
        self._made: _Built | None = None

    def __call__(self, *values: Any) -> list[M]:
        """The query's objects."""
        built, rows = self._found(values)
        return [_object(built, row) for row in rows]

    def rows(self, *values: Any) -> Rows:
        """The rows of a query with `values_list`."""
        return [tuple(row) for row in self._found(values)[1]]

    def _found(self, values: Sequence[Any]) -> tuple[_Built, Any]:
        built = self._made = self._made or self._build()
        params = [*built.params]
        for place, number in built.holes:
            params[place] = adapted(values[number])
        rows: Any = run(built.sql, params, answers=True)[0]
        if rows and built.converters:
            rows = built.compiler.apply_converters(rows, built.converters)
        return built, rows

    def _build(self) -> _Built:
        marks = [_mark(kind, number) for number, kind in enumerate(self._kinds)]
        compiler = self._make(*marks).query.get_compiler(connection=db())
        sql, params = compiler.as_sql()
        known = [adapted(mark) for mark in marks]
        made = compiler.klass_info
        span = slice(*_ends(made["select_fields"])) if made else slice(0)
        return _Built(
            sql=sql,
            params=tuple(params),
            holes=tuple((at, known.index(one)) for at, one in enumerate(params) if one in known),
            compiler=compiler,
            names=[column[0].target.attname for column in compiler.select[span]],
            span=span,
            related=_populators(compiler) if made else [],
            converters=compiler.get_converters([column[0] for column in compiler.select]),
        )


def _populators(compiler: Any) -> list[Any]:
    make: Any = get_related_populators
    made: list[Any] = make(compiler.klass_info, compiler.select, DEFAULT_DB_ALIAS)
    return made


def _ends(places: list[int]) -> tuple[int, int]:
    return places[0], places[-1] + 1


def _object(built: _Built, row: Sequence[Any]) -> Any:
    """As `ModelIterable` does it."""
    made = stored_row(built.compiler.klass_info["model"], built.names, row[built.span])
    for populator in built.related:
        populator.populate(row, made)
    for name, place in built.compiler.annotation_col_map.items():
        setattr(made, name, row[place])
    return made


def _mark(kind: type, number: int) -> Any:
    """A value that stands for an argument while the query is compiled."""
    if kind is UUID:
        return UUID(int=number + 1)
    if kind is datetime:
        return datetime(2000 + number, 1, 1, tzinfo=UTC)
    return 2_000_000_000 + number if kind is int else f"\x01argument {number}"

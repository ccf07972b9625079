"""Statements of the paths that run for every subject: built once, executed many times.

The ORM builds each statement anew, which takes longer than the database needs to answer it, and on PostgreSQL
sends it with its values inside, so that it is parsed and planned each time. Here the text is made once, from
the models, and values are bound by the server, which keeps the plan. Fields convert values as they always do
(encryption, JSON, UUIDs on SQLite). One code for both databases; everything else of Django stays in force:
transactions, execute wrappers, the query log. Queries are in `house.prepared`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from itertools import count
from typing import Any
from uuid import UUID

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections, models

SEEN_BEFORE = 2
"""So often a statement is executed before PostgreSQL keeps its plan."""
FEW = 25
"""More rows than this are left to `bulk_create`, which knows how much fits into one statement."""
TEXTS = 1024
"""So many statements of several parts are kept: their number grows with each part's numbers of rows."""
Rows = list[tuple[Any, ...]]
AnyField = models.Field[Any, Any]


def db() -> Any:
    """This thread's connection. Not `django.db.connection`: that looks it up for each of its attributes."""
    return connections[DEFAULT_DB_ALIAS]


@cache
def is_postgresql() -> bool:
    """Which of the two databases this process has."""
    return bool(db().vendor == "postgresql")


def run(sql: str, values: Sequence[Any], *, answers: bool) -> tuple[Rows, int]:
    """Execute a statement; its rows if it `answers` with some, and how many it touched."""
    connection = db()
    if not is_postgresql():
        with connection.cursor() as plain:
            plain.execute(sql, values)
            return plain.fetchall() if answers else [], plain.rowcount
    connection.ensure_connection()
    driver = connection.connection
    # Only here: Django's own statements carry their values and are hardly ever the same again.
    driver.prepare_threshold = SEEN_BEFORE
    try:
        with connection._prepare_cursor(psycopg.RawCursor(driver)) as cursor:
            cursor.execute(_numbered(sql), values)
            return cursor.fetchall() if answers else [], cursor.rowcount
    finally:
        driver.prepare_threshold = None


@lru_cache(maxsize=TEXTS)
def _numbered(sql: str) -> str:
    """The statement with its places as PostgreSQL numbers them; psycopg would read a long one each time."""
    numbers = count(1)
    return re.sub("%s|%%", lambda found: f"${next(numbers)}" if found[0] == "%s" else "%", sql)


def fetch(sql: str, *values: Any) -> Rows:
    """Execute a statement; its rows as the driver gives them."""
    return run(sql, [adapted(value) for value in values], answers=True)[0]


def adapted(value: Any) -> Any:
    """A value that belongs to no field, as the driver takes it."""
    if is_postgresql():
        return value
    if isinstance(value, datetime):
        return db().ops.adapt_datetimefield_value(value)
    return value.hex if isinstance(value, UUID) else value


def insert(rows: Sequence[models.Model], *, ignore: bool = False, number: bool = False) -> None:
    """Insert rows of one model by one statement.

    With `ignore` rows whose unique key is taken are left out; with `number` the numbers that the database
    gives are set on the rows. With both, of one row: without a number it was left out.
    """
    if not rows:
        return
    model = type(rows[0])
    if len(rows) > FEW:
        model._default_manager.bulk_create(rows, ignore_conflicts=ignore)
        return
    sql = _insert(model, rows[0].pk is None, ignore, number, len(rows))
    given, _count = run(sql, _values(rows), answers=number)
    for row, (pk,) in zip(rows, given, strict=False):
        row.pk = pk
    _are_stored(rows)


Group = tuple[Sequence[models.Model], bool]
"""Rows of one model, and whether those whose unique key is taken are left out."""


@dataclass(frozen=True)
class Condition:
    """A condition as SQL, with its values."""

    sql: str
    values: tuple[Any, ...]


def holds(asked: Condition) -> bool:
    """Whether a condition holds now."""
    return bool(fetch(f"SELECT {asked.sql}", *asked.values)[0][0])


def insert_all(
    groups: Sequence[Group],
    numbered: models.Model | None = None,
    asked: Condition | None = None,
    ignore: bool = False,
) -> bool:
    """Insert the rows of several models, and one more, on which its number is set.

    With `ignore` that one is left out where its unique key is taken, and has no number then. Whether what is
    `asked` holds, or may hold where the row was left out; together with that row. PostgreSQL takes all of it as
    one statement: keys that point at rows of another group hold at the commit.
    """
    if not is_postgresql() or _are_many(groups):
        for rows, left_out in groups:
            insert(rows, ignore=left_out)
        insert([numbered] if numbered else [], ignore=ignore, number=True)
        return asked is not None and holds(asked)
    texts, values = _parts(groups)
    if numbered:
        texts.append(_insert(type(numbered), True, ignore, True, 1))
        values += _values([numbered])
    if asked:
        texts[-1] += f", {asked.sql}"
        values += [adapted(value) for value in asked.values]
    if not texts:
        return False
    given, _count = run(_as_one(tuple(texts)), values, answers=numbered is not None)
    for rows, _left_out in groups:
        _are_stored(rows)
    if numbered and given:
        numbered.pk = given[0][0]
        _are_stored([numbered])
    return asked is not None and (not given or bool(given[0][1]))


def insert_after(
    update: str,
    given: Sequence[Any],
    rows: Sequence[models.Model],
    before: Sequence[Group] = (),
) -> bool:
    """Insert rows of one model if the `update` with the values `given` touches a row; whether it did.

    `update` ends with its condition. The rows of `before` are inserted first and in any case. PostgreSQL takes
    all of it as one statement, and locks what it updates when the rows of `before` are in: who waits for the
    lock must not be who holds one of their keys.
    """
    values = [adapted(value) for value in given]
    if not is_postgresql() or _are_many([*before, (rows, False)]):
        insert_all(before)
        done = run(update, values, answers=False)[1] > 0
        if done:
            insert(rows)
        return done
    texts, first = _parts(before)
    sql = _insert_after(tuple(texts), update, type(rows[0]), rows[0].pk is None, len(rows))
    done = run(sql, first + values + _values(rows), answers=False)[1] > 0
    for others, _ignore in before:
        _are_stored(others)
    if done:
        _are_stored(rows)
    return done


def _are_many(groups: Sequence[Group]) -> bool:
    return any(len(rows) > FEW for rows, _ignore in groups)


def _parts(groups: Sequence[Group]) -> tuple[list[str], list[Any]]:
    """A statement for each group, and the values of all of them."""
    texts = [
        _insert(type(rows[0]), rows[0].pk is None, ignore, False, len(rows))
        for rows, ignore in groups
    ]
    return texts, [value for rows, _ignore in groups for value in _values(rows)]


@lru_cache(maxsize=TEXTS)
def _insert_after(
    before: tuple[str, ...], update: str, model: type[models.Model], numbered: bool, rows: int
) -> str:
    meta, names = model._meta, [name for name, _field in _fields(model, numbered)]
    kinds = [meta.get_field(name).db_type(db()) for name in names]  # a SELECT takes no other hint
    row = f"({', '.join(f'%s::{kind}' for kind in kinds)})"
    columns = ", ".join(_column(model, name) for name in names)
    into = f"INSERT INTO {_quoted(meta.db_table)} ({columns})"
    new = f"(VALUES {', '.join([row] * rows)}) AS new"
    parts = [f"w{number}" for number in range(len(before))]
    first = [f"{part} AS ({text} RETURNING 1)," for part, text in zip(parts, before, strict=True)]
    # Only a look at what they return makes PostgreSQL insert them before it updates; the last ones first, as
    # it does by itself (`_as_one`): who inserts the same keys in another order waits for ever.
    seen = [" ".join(("AND (SELECT count(*) FROM", part, ") >= 0")) for part in reversed(parts)]
    done = " ".join(("done AS (", update, *seen, "RETURNING 1)"))
    return " ".join(("WITH", *first, done, into, "SELECT new.* FROM done,", new))


@lru_cache(maxsize=TEXTS)
def _as_one(texts: tuple[str, ...]) -> str:
    *first, last = texts
    parts = ", ".join(f"w{number} AS ({text})" for number, text in enumerate(first))
    return f"WITH {parts} {last}" if parts else last


def _values(rows: Sequence[models.Model]) -> list[Any]:
    """What the columns of the rows get, a row after the other."""
    connection = db()
    fields = _fields(type(rows[0]), rows[0].pk is None)
    return [
        field.get_db_prep_save(field.pre_save(row, True), connection)
        if field
        else getattr(row, name)
        for row in rows
        for name, field in fields
    ]


def _are_stored(rows: Sequence[models.Model]) -> None:
    for row in rows:
        row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS


@dataclass(frozen=True)
class Change:
    """New `values` of the columns of a model's rows that have the values of `where`, and meet `also`."""

    model: type[models.Model]
    values: Mapping[str, Any]
    where: Mapping[str, Any]
    also: Condition | None = None


def change(what: Change) -> int:
    """Set columns; how many rows there were."""
    return run(*_changing(what), answers=False)[1]


def change_both(first: Change, second: Change, asked: Condition) -> bool | None:
    """Set columns of the second's rows if the first found some; None if one of them found none.

    Otherwise whether what is `asked` holds. PostgreSQL takes all of it as one statement; the first's rows are
    locked first.
    """
    if not is_postgresql():
        done = change(first) > 0 and change(second) > 0
        return holds(asked) if done else None
    one, values = _changing(first)
    other, more = _changing(second)
    sql = (
        "WITH done AS (",
        one,
        "RETURNING 1)",
        other,
        "AND EXISTS (SELECT 1 FROM done) RETURNING",
    )
    last = [adapted(value) for value in asked.values]
    told, _count = run(" ".join((*sql, asked.sql)), values + more + last, answers=True)
    return bool(told[0][0]) if told else None


def _changing(what: Change) -> tuple[str, list[Any]]:
    connection = db()
    named: dict[str, Any] = what.model._meta._forward_fields_map  # type: ignore[attr-defined]
    new = [named[name].get_db_prep_save(value, connection) for name, value in what.values.items()]
    old = [named[name].get_db_prep_value(value, connection) for name, value in what.where.items()]
    sql = _change(what.model, tuple(what.values), tuple(what.where))
    if what.also is None:
        return sql, new + old
    return f"{sql} AND {what.also.sql}", new + old + [adapted(value) for value in what.also.values]


@cache
def _fields(model: type[models.Model], numbered: bool) -> tuple[tuple[str, AnyField | None], ...]:
    """The columns of an INSERT: attribute names, and fields where they do something to the value."""
    return tuple(
        (field.attname, None if _is_plain(field) else field)
        for field in model._meta.local_concrete_fields
        if not (numbered and field.primary_key)
    )


_PLAIN = (models.CharField, models.TextField, models.BooleanField, models.PositiveIntegerField)
_PLAIN_ON_POSTGRESQL = (models.UUIDField, models.BigAutoField)


def _is_plain(field: AnyField) -> bool:
    """Whether the field gives its value to the driver as it is. Subclasses may do what they like."""
    if isinstance(field, models.ForeignKey):
        return _is_plain(field.target_field)
    if type(field) in _PLAIN:
        return True
    if not is_postgresql():
        return False
    if type(field) is models.DateTimeField:
        return not (field.auto_now or field.auto_now_add)
    return type(field) in _PLAIN_ON_POSTGRESQL


@cache
def _insert(
    model: type[models.Model], numbered: bool, ignore: bool, number: bool, rows: int
) -> str:
    names = [name for name, _field in _fields(model, numbered)]
    columns = ", ".join(_column(model, name) for name in names)
    places = ", ".join([f"({', '.join(['%s'] * len(names))})"] * rows)
    into = f"INSERT INTO {_quoted(model._meta.db_table)} ({columns})"  # names of the models' own
    ending = " ON CONFLICT DO NOTHING" if ignore else ""
    if number:
        ending += f" RETURNING {_column(model, 'pk')}"
    return f"{into} VALUES {places}{ending}"


@cache
def _change(model: type[models.Model], values: tuple[str, ...], where: tuple[str, ...]) -> str:
    def all_of(names: tuple[str, ...], link: str) -> str:
        return link.join(f"{_column(model, name)} = %s" for name in names)

    update = f"UPDATE {_quoted(model._meta.db_table)} SET"
    return f"{update} {all_of(values, ', ')} WHERE {all_of(where, ' AND ')}"


def _column(model: type[models.Model], name: str) -> str:
    meta = model._meta
    field: Any = meta.pk if name == "pk" else meta.get_field(name)
    return _quoted(field.column)


def _quoted(name: str) -> str:
    return str(db().ops.quote_name(name))

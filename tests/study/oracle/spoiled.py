"""StudyQueries that must be refused, each with the place that the error names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tests.study.oracle.cells import CHOICE, DATE, NUMBER, TEXT
from tests.study.oracle.queries import Random


def spoiled(make: Random, count: int) -> Iterator[tuple[dict[str, Any], str]]:
    """(query, at): a valid query with one thing in it that cannot be."""
    ways: list[Callable[[Random, dict[str, Any]], str]] = [
        _key,
        _field,
        _select,
        _by,
        _place,
        _operator,
        _number_as_text,
        _no_choice,
        _limit,
        _aggregate,
        _contains_number,
        _mean_of_text,
        _by_number,
        _later,
        _order,
        _no_value,
        _odd_rows,
        _of_without_share,
    ]
    for number in range(count):
        query = make.query()
        at = ways[number % len(ways)](make, query)
        yield query, at


def unknown_name(make: Random) -> str:
    """A name that no study has."""
    return "zz_" + "".join(make.rng.choice("qxkvw") for _ in range(6))


def _key(make: Random, query: dict[str, Any]) -> str:
    query["selects"] = ["alt"]
    return "selects"


def _first(query: dict[str, Any], condition: dict[str, Any]) -> str:
    query["where"] = [condition, *query.get("where", [])]
    return "where[0]"


def _field(make: Random, query: dict[str, Any]) -> str:
    return _first(query, {"field": unknown_name(make), "op": "blank"}) + ".field"


def _select(make: Random, query: dict[str, Any]) -> str:
    query["select"] = [unknown_name(make)]
    query.pop("order", None)
    return "select[0]"


def _by(make: Random, query: dict[str, Any]) -> str:
    _only_count(query)
    query["by"] = [unknown_name(make)]
    return "by[0]"


def _only_count(query: dict[str, Any]) -> None:
    for key in ("select", "of", "rows", "order", "by"):
        query.pop(key, None)
    query["aggregate"] = "count"


def _place(make: Random, query: dict[str, Any]) -> str:
    query["place"] = unknown_name(make)
    return "place"


def _operator(make: Random, query: dict[str, Any]) -> str:
    return _first(query, {"field": make.of_type(NUMBER), "op": "like", "value": 3}) + ".op"


def _number_as_text(make: Random, query: dict[str, Any]) -> str:
    return _first(query, {"field": make.of_type(NUMBER), "op": ">", "value": "viel"}) + ".value"


def _no_choice(make: Random, query: dict[str, Any]) -> str:
    return _first(query, {"field": make.of_type(CHOICE), "op": "=", "value": "77"}) + ".value"


def _limit(make: Random, query: dict[str, Any]) -> str:
    query["limit"] = make.rng.choice((0, 201, "10", 1.5, True))
    return "limit"


def _aggregate(make: Random, query: dict[str, Any]) -> str:
    query["aggregate"] = "average"
    return "aggregate"


def _contains_number(make: Random, query: dict[str, Any]) -> str:
    return _first(query, {"field": make.of_type(NUMBER), "op": "contains", "value": "1"}) + ".op"


def _mean_of_text(make: Random, query: dict[str, Any]) -> str:
    _only_count(query)
    query |= {"aggregate": "mean", "select": [make.of_type(DATE)]}
    return "select[0]"


def _by_number(make: Random, query: dict[str, Any]) -> str:
    _only_count(query)
    query["by"] = [make.of_type(NUMBER)]
    return "by[0]"


def _later(make: Random, query: dict[str, Any]) -> str:
    query["as_of"] = "2026-13-01"
    return "as_of"


def _order(make: Random, query: dict[str, Any]) -> str:
    query["order"] = {"by": unknown_name(make)}
    return "order.by"


def _no_value(make: Random, query: dict[str, Any]) -> str:
    return _first(query, {"field": make.of_type(TEXT), "op": "="}) + ".value"


def _odd_rows(make: Random, query: dict[str, Any]) -> str:
    query["rows"] = "newest"
    return "rows"


def _of_without_share(make: Random, query: dict[str, Any]) -> str:
    _only_count(query)
    query["of"] = [{"field": make.of_type(NUMBER), "op": "filled"}]
    return "of"

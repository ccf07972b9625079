"""Every route and method of the API for every kind of person: nothing foreign is read, told apart, or written.

Routes, methods, fields and filters are those that are declared: a new one is tried by itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from rest_framework import serializers

from tests.skills.graphs import graph, human
from tests.support import addresses, contents, foreign
from tests.support.addresses import Address
from tests.support.answers import ABSENT, Answer, absent
from tests.support.foreign import IDENTITIES, PEOPLE, House, allowed
from tests.support.quiet import quiet

ROUTES = [one for one in addresses.addresses() if one.path.startswith("/api/")]
OF_A_ROW = [one for one in ROUTES if one.parameters]
OF_NONE = [one for one in ROUTES if not one.parameters]
METHODS = ("get", "post", "put", "patch", "delete")
ROOT = "admin"


@pytest.fixture
def house(study: Any) -> Iterator[House]:
    """The log would be full of refusals."""
    with quiet():
        yield foreign.build(study)


def send(house: House, name: str, method: str, path: str, content: Any) -> Any:
    if method == "get":
        return house.client(name).get(path, content)
    body = json.dumps(content, default=str)
    return house.client(name).generic(method.upper(), path, body, "application/json")


@pytest.mark.full
@pytest.mark.each_person
@pytest.mark.parametrize("name", IDENTITIES)
def test_a_person_reads_what_is_theirs_and_nothing_else(name: str, house: House) -> None:
    forbidden = house.forbidden(name)
    leaks: list[Any] = []
    met: set[str] = set()
    for one in ROUTES:
        rows = house.canaries.rows[one.model] if one.model and one.parameters else {"": None}
        for row in foreign.some(rows, {"", *allowed(name)}, name):
            answer = Answer.of(send(house, name, "get", one.of(getattr(row, "pk", "")), {}))
            leaks += [(one.path, found) for found in set(forbidden.findall(answer.text))]
            met |= house.met(answer.body)
    assert leaks == []
    assert met == allowed(name)


@pytest.mark.full
@pytest.mark.each_person
@pytest.mark.parametrize("name", IDENTITIES)
def test_a_foreign_row_is_like_one_that_is_not_there(name: str, house: House) -> None:
    _own, _root = house.client(name), house.client(ROOT)
    before = contents.snapshot()
    told: list[Any] = []
    for one in OF_A_ROW:
        for mark, row in foreign.targets(house, name, one):
            for method in METHODS:
                for sent in sent_by_root(house, one, mark, row, method):
                    none = absent(row.pk)
                    there = Answer.of(send(house, name, method, one.of(row.pk), sent), row.pk)
                    gone = Answer.of(send(house, name, method, one.of(none), sent), none)
                    told += there.unlike(gone, method, one.path, mark)
    assert told == [], "\n".join(map(str, told[:40]))
    assert contents.changed(before) == {}


def sent_by_root(
    house: House, one: Address, mark: str, row: Any, method: str
) -> list[dict[str, Any]]:
    """What a route of a row takes, from the row as it stands, each time with another change."""
    if method == "get":
        return [{}]
    if method not in ("put", "patch"):
        return [fields_of(one, foreign.named(house, mark)) | foreign.shown_with(row)]
    reply = send(house, ROOT, "get", one.of(row.pk), {})
    shown = reply.json() if reply.status_code == 200 else {}
    taken = {key: shown[key] for key in fields_of(one, {}) if key in shown}
    texts = [key for key, value in taken.items() if isinstance(value, str)]
    return [taken | {key: f"{taken[key]}x"} for key in texts] or [taken]


def fields_of(one: Address, given: dict[str, Any]) -> dict[str, Any]:
    """What the route's own fields take, with values of a place where it has them."""
    kind = getattr(one.callback, "initkwargs", {}).get("serializer_class") or getattr(
        one.callback.cls, "serializer_class", None
    )
    fields = kind().fields if kind else {}
    return {
        name: given.get(name, _sample(field))
        for name, field in fields.items()
        if not field.read_only
    }


def _sample(field: Any) -> Any:
    if isinstance(field, serializers.ChoiceField):
        return next(iter(field.choices))
    if isinstance(field, serializers.BooleanField):
        return False
    if isinstance(field, serializers.IntegerField):
        return 1
    if isinstance(field, serializers.DateField):
        return "2026-12-01"
    if field.field_name == "assignee":
        return ""
    if isinstance(field, serializers.JSONField):
        return graph(a=human(on_approve="end_success", on_reject="end_rejected"))
    return "sample"


def test_what_is_sent_to_a_foreign_row_writes_where_somebody_may(house: House) -> None:
    """Else the test above would send what nobody could do anything with."""
    idle = [
        (one.path, method)
        for one in OF_A_ROW
        for method in {*METHODS[1:]} & {*getattr(one.callback, "actions", {})}
        if method in one.callback.cls.http_method_names and not written(house, one, method)
    ]
    assert idle == []


def written(house: House, one: Address, method: str) -> bool:
    """Whether anybody's request to any row of the route writes something."""
    return any(
        contents.writes(partial(send, house, name, method, one.of(row.pk), sent))
        for mark, row in (house.canaries.rows[one.model].items() if one.model else ())
        for sent in sent_by_root(house, one, mark, row, method)
        for name in (ROOT, *PEOPLE)
    )


@pytest.mark.full
@pytest.mark.each_person
@pytest.mark.parametrize("name", IDENTITIES)
def test_a_foreign_value_is_like_one_that_is_not_there(name: str, house: House) -> None:
    """In what a list is narrowed by, and in what is ordered or made."""
    _own = house.client(name)
    before = contents.snapshot()
    told: list[Any] = []
    for mark in foreign.far(house, name):
        there, gone = foreign.named(house, mark), foreign.nowhere(house, mark)
        for one in OF_NONE:
            pairs = [("get", pair) for pair in narrowed(house, one, mark)]
            pairs.append(("post", (fields_of(one, there), fields_of(one, gone))))
            for method, (mine, theirs) in pairs:
                if mine == theirs:  # nothing of what it takes belongs to a place
                    continue
                a = Answer.of(send(house, name, method, one.path, mine), *mine.values())
                b = Answer.of(send(house, name, method, one.path, theirs), *theirs.values())
                told += a.unlike(b, method, one.path, str(mine)[:200])
    assert told == [], "\n".join(map(str, told[:40]))
    assert contents.changed(before) == {}


def narrowed(
    house: House, one: Address, mark: str
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each parameter of a list with what stands in a foreign row, and with what stands in none."""
    there, gone = foreign.named(house, mark), foreign.nowhere(house, mark)
    kind = one.callback.cls
    made = getattr(kind, "filterset_class", None)
    named = made.base_filters if made else getattr(kind, "filterset_fields", ("record_id",))
    row = house.canaries.at(one.model, mark) if one.model else None
    for parameter in ("project", *named):
        column = parameter.rpartition("__")[2]
        if column in there:
            pair = there[column], gone[column]
        else:
            held = str(getattr(row, parameter, ""))
            pair = held if mark in house.met(held) else ABSENT, ABSENT
        if pair[0] != pair[1]:
            yield {parameter: pair[0]}, {parameter: pair[1]}

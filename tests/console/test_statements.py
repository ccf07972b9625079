"""How many SQL statements a page takes: the same with 3 rows and with 30, and few (issue 18, Must show 4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.support import addresses, foreign
from tests.support.addresses import Address
from tests.support.foreign import House
from tests.support.quiet import quiet

LIST, COMPOSED = 15, 30
MORE = 27
WHO = ("wanghushi", "chief", "zhangyi", "watcher")
PAGES = addresses.console_pages()


@pytest.fixture
def house(study: Any) -> Iterator[House]:
    """Everyone with the one study, and a row of every table. The log would be full of refusals."""
    with quiet():
        yield foreign.build(study)


# Lists that show what a query of the study says of each row, and so read its settings.
TOLD = {"study_subject_changelist"}


def limit(one: Address) -> int:
    return LIST if one.name.endswith("_changelist") and one.name not in TOLD else COMPOSED


def paths(house: House, name: str) -> dict[str, int]:
    """The addresses that a person opens, and how many statements each may take."""
    found = {}
    for one in PAGES:
        if not one.parameters:
            found[one.path] = limit(one)
        elif one.model in house.canaries.rows:
            rows = foreign.some(house.canaries.rows[one.model], foreign.allowed(name), name)
            found |= {one.of(row.pk): limit(one) for row in rows[:1]}
    return found


def statements(house: House, name: str, path: str) -> list[str] | None:
    """What a page asks the database, after it was opened once; None where it does not open."""
    client = house.client(name)
    client.raise_request_exception = False
    if client.get(path).status_code != 200:
        return None
    with CaptureQueriesContext(connection) as told:
        client.get(path)
    # Where no test holds a transaction, these are none of the page's.
    return [
        one["sql"]
        for one in told.captured_queries
        if not one["sql"].startswith(("SAVEPOINT", "RELEASE"))
    ]


@pytest.mark.slow
@pytest.mark.each_person
@pytest.mark.parametrize("name", WHO)
def test_a_page_takes_few_statements_whatever_the_rows(name: str, house: House) -> None:
    before = {path: statements(house, name, path) for path in paths(house, name)}
    house.canaries.more(MORE)
    faults = []
    for path, most in paths(house, name).items():
        few, many = before[path], statements(house, name, path)
        if few is None or many is None:
            continue
        if len(many) > len(few):  # once a minute a session is renewed, by whatever page comes then
            many = statements(house, name, path) or []
        if len(many) > len(few):
            faults.append(f"{path}: {len(few)} with few rows, {len(many)} with many")
        elif len(many) > most:
            faults.append(f"{path}: {len(many)} statements")
    assert faults == [], "\n" + "\n".join(faults)

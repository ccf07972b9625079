"""People come out of the members' rows of before; where those disagree, nobody gets a login by it."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

UPGRADE = importlib.import_module("projects.migrations.0009_people")


class Rows:
    """The rows of one table, as the migration asks for them."""

    def __init__(self, *rows: Any) -> None:
        self.rows = [*rows]

    def order_by(self, *_: str) -> Iterator[Any]:
        return iter(self.rows)

    def create(self, **fields: Any) -> Any:
        self.rows.append(
            SimpleNamespace(
                **({"pk": len(self.rows), "wecom_userid": None, "user_id": None} | fields)
            )
        )
        return self.rows[-1]


def member(project: str, userid: str, user: int | None) -> Any:
    return SimpleNamespace(
        project_id=project,
        wecom_userid=userid,
        user_id=user,
        is_active=True,
        person=None,
        save=lambda: None,
    )


def upgraded(*rows: Any) -> list[tuple[str | None, int | None, bool]]:
    """Whom each row is of now: userid, login, whether the row still counts."""
    tables = {"Member": Rows(*rows), "Person": Rows()}
    models = {name: SimpleNamespace(objects=table) for name, table in tables.items()}
    UPGRADE.gather(SimpleNamespace(get_model=lambda _app, name: models[name]), None)
    return [(row.person.wecom_userid, row.person.user_id, row.is_active) for row in rows]


@pytest.mark.parametrize(
    ("rows", "people"),
    [
        ([("A", "pi", 1)], [("pi", 1, True)]),
        ([("A", "pi", None)], [("pi", None, True)]),
        ([("A", "", 1)], [(None, 1, True)]),
        ([("A", "", None), ("B", "", None)], [(None, None, True), (None, None, True)]),
        # The same person in two studies; a row that names no login takes nothing away.
        ([("A", "pi", 1), ("B", "pi", None)], [("pi", 1, True), ("pi", 1, True)]),
        ([("A", "pi", 1), ("B", "", 1)], [("pi", 1, True), ("pi", 1, True)]),
        # Another study's administrator claimed the userid for a login of hers, or a login for a userid.
        ([("A", "pi", 1), ("B", "pi", 2)], [("pi", None, True), ("pi", None, True)]),
        ([("A", "pi", 1), ("B", "x", 1)], [("pi", None, True), ("x", None, True)]),
        ([("A", "pi", 1), ("B", "x", 1), ("C", "", 1)][1:], [("x", 1, True), ("x", 1, True)]),
        (
            [("A", "pi", 1), ("B", "x", 1), ("C", "", 1)],
            [("pi", None, True), ("x", None, True), (None, None, True)],
        ),
        # Twice in a study.
        ([("A", "pi", 1), ("A", "", 1)], [("pi", 1, True), (None, None, False)]),
    ],
)
def test_a_login_is_whose_all_rows_say(
    rows: list[tuple[str, str, int | None]], people: list[tuple[str | None, int | None, bool]]
) -> None:
    assert upgraded(*(member(*row) for row in rows)) == people

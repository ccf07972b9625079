"""A process remembers where it left a chain; whoever else wrote to it is noticed (decisions.md, "audit")."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, connection, connections

from core.house.db import atomic
from projects import audit
from projects.models import AuditEntry, AuditHead, Project
from tests.house.kit import make_project, together

pytestmark = pytest.mark.django_db(transaction=True)


def say(*projects: Project | None, fail: bool = False) -> None:
    with atomic():
        for project in projects:
            audit.record("login", actor="zhangyi", project=project)
        if fail:
            raise RuntimeError


def sound(expected: int) -> None:
    assert [*audit.verify()] == []
    assert AuditEntry.objects.count() == expected


def test_a_transaction_that_failed_left_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    project = make_project()
    say(project)

    def broken(*_given: object) -> None:
        raise DatabaseError

    with monkeypatch.context() as patch:
        patch.setattr(connections["default"], "_commit", broken)
        with pytest.raises(DatabaseError):
            say(project)
    say(project)
    sound(2)


@pytest.mark.full
def test_two_processes_write_to_one_chain_in_turn() -> None:
    """Each has an end of its own in mind; the other's entries make it outdated."""
    project, ends = make_project(), ({}, {})  # type: ignore[var-annotated]
    for number in range(6):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(audit, "_ends", ends[number % 2])
            say(project)
            say(project, None)
    sound(18)


@pytest.mark.full
def test_a_chain_that_was_set_back_is_read_again() -> None:
    """As after the database was restored: the length may fit, the claim does not."""
    project = make_project()
    say(project)
    AuditHead.objects.filter(pk=str(project.pk)).update(claim=None)
    say(project)
    sound(2)


@pytest.mark.full
def test_chains_in_any_order_at_once() -> None:
    one, other = make_project("ALPHA"), make_project("BETA")
    say(one, other, None)

    def many(*order: Project | None) -> None:
        for _time in range(8):
            say(*order)

    results = together(lambda: many(one, None, other), lambda: many(None, other, one))
    assert results == [None, None], results
    sound(3 + 48)


@pytest.mark.full
def test_one_chain_takes_no_more_than_its_head_and_its_entries() -> None:
    project = make_project()
    say(project)
    seen: list[str] = []

    def note(execute: object, sql: str, *given: object) -> object:
        seen.append(sql.split(None, 1)[0])
        return execute(sql, *given)  # type: ignore[operator]

    with connection.execute_wrapper(note):
        say(project, project)
    expected = ["UPDATE", "INSERT"]
    assert [word for word in seen if word not in {"BEGIN"}] == expected
    sound(3)

"""Writers of several chains neither deadlock nor tear a chain (decisions.md, "audit")."""

from __future__ import annotations

import pytest

from core.house.db import atomic
from projects import audit
from projects.models import AuditEntry, AuditHead, Project
from tests.house.kit import make_project, together

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = 25


def writer(*chains: Project | None, actor: str) -> object:
    def write() -> int:
        for number in range(ROUNDS):
            with atomic():
                for project in chains:
                    audit.record("login", actor=actor, project=project, reason=str(number))
        return ROUNDS

    return write


@pytest.mark.full
@pytest.mark.parametrize("writers", [2, 4])
def test_chains_touched_in_different_order_do_not_deadlock(writers: int) -> None:
    first, second = make_project("FIRST"), make_project("SECOND")
    orders = [
        (first, None, second),
        (second, None, first),
        (None, first, second),
        (second, first, None),
    ]
    calls = [writer(*order, actor=f"w{index}") for index, order in enumerate(orders[:writers])]
    assert together(*calls) == [ROUNDS] * writers  # type: ignore[arg-type]
    assert [*audit.verify()] == []
    lengths = dict(AuditHead.objects.values_list("chain", "length"))
    assert set(lengths.values()) == {ROUNDS * writers}
    assert AuditEntry.objects.count() == 3 * ROUNDS * writers


@pytest.mark.full
def test_the_first_entry_of_a_chain_may_be_written_by_two_at_once() -> None:
    for number in range(8):
        project = make_project(f"NEW{number}")

        def start(project: Project = project) -> bool:
            with atomic():
                audit.record("project.create", actor="admin", project=project)
            return True

        assert together(start, start) == [True, True]
    assert [*audit.verify()] == []
    assert set(AuditHead.objects.values_list("length", flat=True)) == {2}


def test_a_transaction_that_fails_leaves_no_gap_for_the_others() -> None:
    project = make_project()

    def failing() -> str:
        for number in range(ROUNDS):
            try:
                with atomic():
                    audit.record("login", actor="failing", project=project)
                    if number % 2:
                        raise ZeroDivisionError
            except ZeroDivisionError:
                continue
        return "done"

    outcomes = together(failing, writer(project, actor="steady"))  # type: ignore[arg-type]
    assert outcomes == ["done", ROUNDS]
    assert [*audit.verify()] == []
    assert AuditEntry.objects.filter(actor="failing").count() == (ROUNDS + 1) // 2

"""An entry is written in the transaction of what it records, or not at all (design.md 9.9)."""

from __future__ import annotations

import math
from datetime import date

import pytest
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings
from hypothesis import strategies as st

from core.house import db
from projects import audit
from projects.models import AuditEntry, AuditHead, Project
from tests.house.kit import failing, make_member, make_project

pytestmark = pytest.mark.django_db


def labels() -> list[str]:
    return [*AuditEntry.objects.order_by("chain", "number").values_list("reason", flat=True)]


def note(reason: str, project: Project | None = None) -> None:
    audit.record("login", actor="zhangyi", project=project, reason=reason)


def test_work_and_entry_arrive_together() -> None:
    with db.atomic():
        make_project()
        note("one")
        assert labels() == []
    assert labels() == ["one"]


def test_a_failure_takes_work_and_entry_along() -> None:
    with failing():
        make_project()
        note("one")
    assert labels() == []
    assert not Project.objects.exists()
    with db.atomic():
        note("two")
    assert labels() == ["two"]


def test_an_entry_that_cannot_be_written_takes_the_work_along() -> None:
    def work() -> None:
        with db.atomic():
            make_project()
            note("one")
            db.current().entries[0].action = None

    with pytest.raises(DatabaseError):
        work()
    assert not Project.objects.exists()
    assert not AuditHead.objects.exists()


def test_an_inner_block_that_fails_drops_its_own_entries_only() -> None:
    with db.atomic():
        note("before")
        with failing():
            make_project("INNER")
            note("inner")
            with db.atomic():
                note("innermost")
        note("after")
    assert labels() == ["before", "after"]
    assert not Project.objects.exists()


def test_an_inner_block_that_succeeds_goes_with_the_outer_one() -> None:
    with failing(), db.atomic():
        note("inner")
    assert labels() == []


def test_outside_of_a_transaction_nothing_is_recorded() -> None:
    with pytest.raises(db.OutsideTransaction):
        note("one")
    with transaction.atomic(), pytest.raises(db.OutsideTransaction):
        note("two")


def test_an_action_that_nobody_registered_is_a_typing_error() -> None:
    with db.atomic(), pytest.raises(audit.UnknownAction):
        audit.record("lgoin", actor="zhangyi")


def test_who_what_when_old_new_why() -> None:
    project = make_project()
    member = make_member(project, "wanghushi")
    with db.atomic():
        audit.record(
            "member.change",
            actor=member,
            project=project,
            subject=member,
            record_id="P001",
            old={"day": date(2026, 1, 6)},
            new={"site": "site_b"},
            reason="调动",
        )
    entry = AuditEntry.objects.exclude(project=None).get()
    assert (entry.chain, entry.number, entry.project) == (str(project.pk), 1, project)
    assert (entry.actor, entry.action, entry.reason) == ("wanghushi", "member.change", "调动")
    assert (entry.object_type, entry.object_id, entry.label) == (
        "member",
        str(member.pk),
        str(member),
    )
    assert (entry.record_id, entry.old, entry.new) == (
        "P001",
        {"day": "2026-01-06"},
        {"site": "site_b"},
    )
    assert entry.at.utcoffset() is not None


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("member", "wanghushi"),
        ("user", "wanghushi"),
        ("job", "system_daily_job"),
        ("nobody", "anonymous"),
    ],
)
def test_how_actors_are_named(kind: str, name: str) -> None:
    from django.contrib.auth.models import AnonymousUser

    member = make_member(make_project(), "wanghushi")
    actors = {
        "member": member,
        "user": member.user,
        "job": "system_daily_job",
        "nobody": AnonymousUser(),
    }
    assert audit.actor_name(actors[kind]) == name


def test_entries_without_a_project_have_a_chain_of_their_own() -> None:
    project = make_project()
    with db.atomic():
        note("p1", project)
        note("h1")
        note("p2", project)
    heads = dict(AuditHead.objects.values_list("chain", "length"))
    assert heads == {str(project.pk): 2, audit.HOUSE: 1}


@pytest.mark.parametrize(("less", "more"), [(1, 25), (26, 50)])
def test_however_many_entries_a_chain_costs_one_claim_and_one_insert(less: int, more: int) -> None:
    def many(number: int) -> int:
        with CaptureQueriesContext(connection) as queries, db.atomic():
            for _time in range(number):
                note("x")
        return len(queries)

    many(1)
    assert many(less) == many(more) <= 4  # with the savepoint that pytest puts around
    assert [*audit.verify()] == []


def test_entries_are_the_last_statements_of_the_transaction() -> None:
    with CaptureQueriesContext(connection) as queries, db.atomic():
        note("first")
        make_project()
    written = [query["sql"] for query in queries if query["sql"].startswith(("INSERT", "UPDATE"))]
    assert "iit_projects" in written[0]
    assert "iit_audit_log" in written[-1]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(codec=None)), inner, max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.full
@settings(max_examples=150)
@given(JSON, st.text(st.characters(codec=None), max_size=60))
def test_whatever_is_recorded_keeps_its_hash_in_the_database(value: object, reason: str) -> None:
    """PostgreSQL rewrites some numbers and refuses NUL, NaN and lone surrogates."""
    with transaction.atomic():
        with db.atomic():
            audit.record("login", actor=reason, old=value, new={"value": value}, reason=reason)
        assert [*audit.verify()] == []
        transaction.set_rollback(True)


@pytest.mark.parametrize("number", [1e16, 1e23, -0.0, 1.5e-7, 1e300, 0.1, 10**30])
def test_numbers_survive(number: float) -> None:
    with db.atomic():
        audit.record("login", actor="x", new=number)
    assert AuditEntry.objects.get().new == pytest.approx(number)
    assert [*audit.verify()] == []


def test_what_json_has_no_number_for_is_kept_as_text() -> None:
    with db.atomic():
        audit.record("login", actor="x", new=[math.nan, math.inf, -math.inf])
    assert AuditEntry.objects.get().new == ["NaN", "Infinity", "-Infinity"]


def test_what_must_happen_after_the_commit_waits_for_it(
    django_capture_on_commit_callbacks: object,
) -> None:
    seen: list[int] = []
    with django_capture_on_commit_callbacks(execute=True) as calls, db.atomic():  # type: ignore[operator]
        db.after_commit(lambda: seen.append(1))
        assert seen == []
    assert len(calls) == 1
    assert seen == [1]

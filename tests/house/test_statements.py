"""Statements built once: the same rows, values and refusals as the ORM's, on either database."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, OuterRef
from django.utils.timezone import now
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from house.db import (
    atomic,
    later,
    note,
    write_now,
)
from house.prepared import Prepared
from house.statements import (
    FEW,
    Change,
    Condition,
    change,
    change_both,
    fetch,
    insert,
    insert_after,
)
from projects import audit
from projects.access import sees
from projects.models import AuditEntry, Member, Project
from skills.models import FieldMapping, Skill
from study.models import Subject
from study.subjects import with_identifiers, with_site
from tests.house.kit import make_member, make_project, make_subject

pytestmark = pytest.mark.django_db


def mapping(project: Project, alias: str, actual: str = "age") -> FieldMapping:
    return FieldMapping(project=project, alias_name=alias, actual_name=actual)


def subject(project: Project, record: str, **more: str) -> Subject:
    return Subject(project=project, record_id=record, synced_at=now(), **more)


def aliases() -> list[str]:
    return sorted(FieldMapping.objects.values_list("alias_name", flat=True))


@pytest.mark.parametrize("count", [1, 3, FEW + 2])
def test_rows_are_stored_as_the_orm_stores_them(count: int) -> None:
    project = make_project()
    rows = [
        subject(project, f"P{n}", site="a'%s\"", identifiers=f'{{"n": "张{n}"}}')
        for n in range(count)
    ]
    insert(rows)

    stored = Subject.objects.order_by("synced_at", "pk")
    assert [(row.site, row.identifiers) for row in stored] == [
        (row.site, row.identifiers) for row in rows
    ]
    assert not rows[0]._state.adding
    with connection.cursor() as cursor:
        cursor.execute("SELECT identifiers FROM iit_subjects")
        assert all("张" not in text for (text,) in cursor.fetchall()), "encrypted at rest"


def test_json_uuids_times_and_blanks_come_back() -> None:
    project = make_project()
    skill = Skill(project=project, skill_type="qc", name="x", config={"a": [1, None, "张"]})
    insert([skill])

    stored = Skill.objects.get(pk=skill.pk)
    assert (stored.config, stored.cron_schedule, stored.project_id) == (
        {"a": [1, None, "张"]},
        None,
        project.pk,
    )
    assert stored.created_at == skill.created_at


def test_the_database_numbers_rows_where_that_is_asked_for() -> None:
    project = make_project()
    rows = [subject(project, "P1"), subject(project, "P2")]
    insert(rows, number=True)

    assert [Subject.objects.get(pk=row.pk).record_id for row in rows] == ["P1", "P2"]


def test_a_taken_key_is_an_error_or_left_out() -> None:
    project = make_project()
    insert([mapping(project, "a")])
    with pytest.raises(IntegrityError), transaction.atomic():
        insert([mapping(project, "a", "other")])
    insert([mapping(project, "a", "other"), mapping(project, "b")], ignore=True)
    twice = subject(project, "P1")
    insert([twice], ignore=True, number=True)
    again = subject(project, "P1")
    insert([again], ignore=True, number=True)

    assert aliases() == ["a", "b"]
    assert FieldMapping.objects.get(alias_name="a").actual_name == "age"
    assert twice.pk
    assert again.pk is None


def test_a_change_says_how_many_rows_it_found() -> None:
    one, other = make_project("ALPHA"), make_project("BETA")
    new = {"name": "neu", "synonyms": {"a": ["b"]}}
    found = change(Change(Project, new, {"id": one.pk, "code": "ALPHA"}))
    missed = change(Change(Project, {"name": "x"}, {"id": other.pk, "code": "ALPHA"}))
    but = Condition("id <> %s", (one.pk,))
    guarded = change(Change(Project, {"name": "x"}, {"code": "ALPHA"}, but))

    assert (found, missed, guarded) == (1, 0, 0)
    one.refresh_from_db()
    assert (one.name, one.synonyms) == ("neu", {"a": ["b"]})


def test_the_second_of_two_changes_needs_the_first() -> None:
    one, other = make_project("ALPHA"), make_project("BETA")

    def both(first: Any, second: Any, asked: str = "BETA") -> bool | None:
        there = "EXISTS (SELECT 1 FROM iit_projects WHERE code = %s)"
        but = Condition("id <> %s", (one.pk,))
        return change_both(
            Change(Project, {"name": "first"}, {"code": first}),
            Change(Project, {"name": "second"}, {"code": second}, but),
            Condition(there, (asked,)),
        )

    assert both("NONE", "BETA") is None
    assert both("BETA", "NONE") is None
    for project in (one, other):
        project.refresh_from_db()
    assert (one.name, other.name) == ("研究 ALPHA", "first")
    for _time in range(4):  # PostgreSQL keeps the plan from the third time on
        assert both("ALPHA", "BETA") is True
        assert both("ALPHA", "BETA", "GAMMA") is False
    assert both("BETA", "ALPHA") is None, "its further condition does not hold"
    for project in (one, other):
        project.refresh_from_db()
    assert (one.name, other.name) == ("first", "first")


@pytest.mark.django_db(transaction=True)
def test_an_error_leaves_the_plans_in_order() -> None:
    """PostgreSQL keeps plans from the third time on; a transaction that failed must not lose any."""
    project = make_project()
    insert([mapping(project, "a")])

    def fail() -> None:
        with transaction.atomic():
            insert([mapping(project, "b")])
            insert([mapping(project, "a")])

    for _time in range(5):
        with pytest.raises(IntegrityError):
            fail()
        assert change(Change(Project, {"name": "x"}, {"id": project.pk})) == 1
    insert([mapping(project, "c")])

    assert aliases() == ["a", "c"]


def test_a_prepared_query_finds_what_the_query_finds() -> None:
    alpha, beta = make_project("ALPHA"), make_project("BETA")
    for project in (alpha, beta):
        make_member(project, "zhangyi", site="a")
    make_subject(alpha, "P1", "a")

    def people(project: UUID, userid: str, record: str) -> object:
        rows = Member.objects.filter(project=project, wecom_userid=userid)
        here = Subject.objects.filter(project=OuterRef("project"), record_id=record)
        return rows.select_related("project").annotate(has=Exists(here))

    query: Prepared[Member] = Prepared(people, UUID, str, str)  # type: ignore[arg-type]
    for _time in range(4):
        (found,) = query(alpha.pk, "zhangyi", "P1")
        assert (found.project, found.site, found.has) == (alpha, "a", True)  # type: ignore[attr-defined]
        (found,) = query(beta.pk, "zhangyi", "P1")
        assert (found.project.code, found.has) == ("BETA", False)  # type: ignore[attr-defined]
        assert query(alpha.pk, "zhangyi' OR 1=1 --", "P1") == []
        assert query(alpha.pk, None, "P1") == []


def test_a_prepared_query_gives_rows() -> None:
    project = make_project("ALPHA")
    make_subject(project, "P1", "a")
    make_subject(project, "P2", "b")

    def since(project: UUID, at: datetime) -> object:
        rows = Subject.objects.filter(project=project, synced_at__gte=at).order_by("record_id")
        return rows.values_list("record_id", "project", "synced_at")

    query: Prepared[Any] = Prepared(since, UUID, datetime)  # type: ignore[arg-type]
    first, second = Subject.objects.order_by("record_id")
    assert query.rows(project.pk, first.synced_at) == [
        ("P1", project.pk, first.synced_at),
        ("P2", project.pk, second.synced_at),
    ]
    assert query.rows(project.pk, now() + timedelta(hours=1)) == []
    assert query.rows(None, first.synced_at) == []


def test_a_prepared_query_leaves_out_what_is_deferred() -> None:
    make_project("ALPHA", synopsis="lang")
    query: Prepared[Project] = Prepared(
        lambda code: Project.objects.filter(code=code).defer("synopsis"), str
    )
    (found,) = query("ALPHA")

    assert found.get_deferred_fields() == {"synopsis"}
    assert found.synopsis == "lang"


def test_later_rows_are_written_at_the_end_in_their_order() -> None:
    project = make_project()
    with atomic():
        later(subject(project, "P2"))
        later(mapping(project, "a"), ignore=True)
        later(subject(project, "P1"))
        later(mapping(project, "a", "other"), ignore=True)
        assert not Subject.objects.exists()

    assert [*Subject.objects.order_by("pk").values_list("record_id", flat=True)] == ["P2", "P1"]
    assert FieldMapping.objects.get().actual_name == "age"


@pytest.mark.django_db(transaction=True)
def test_a_taken_key_at_the_end_undoes_the_transaction_and_only_it() -> None:
    """On PostgreSQL the rows of all tables are one statement."""
    project = make_project()
    make_subject(project, "taken", "site_a")

    def store(alias: str, *more: Subject) -> None:
        with atomic():
            mapping(project, f"{alias} at once").save()
            for row in (*more, mapping(project, alias)):
                later(row)
            audit.record("plan.change", actor="x", project=project)

    with pytest.raises(IntegrityError):
        store("lost", subject(project, "taken"))
    assert (aliases(), AuditEntry.objects.count()) == ([], 0)

    store("kept")
    assert (aliases(), AuditEntry.objects.count()) == (["kept", "kept at once"], 1)
    assert [*audit.verify()] == []


def test_a_row_whose_number_is_wanted_is_written_behind_those_that_waited() -> None:
    """The question to a person carries its number, and points at a run that waited."""
    project = Project(code="NEW", name="Neu", start_date=now().date())
    wanted = subject(project, "P2")
    with atomic():
        later(project)
        later(subject(project, "P1"))
        write_now(wanted)
        assert Subject.objects.get(pk=wanted.pk).record_id == "P2"
        assert not wanted._state.adding

    assert sorted(Subject.objects.values_list("record_id", flat=True)) == ["P1", "P2"]


def test_a_row_that_cannot_be_written_takes_the_waiting_ones_along() -> None:
    project = make_project()
    make_subject(project, "P1", "a")

    def store() -> None:
        with atomic():
            later(mapping(project, "lost"))
            write_now(subject(project, "P1"))

    with pytest.raises(IntegrityError):
        store()
    assert aliases() == []


@pytest.mark.parametrize("count", [1, 3, FEW + 2])
def test_rows_behind_a_change_are_written_only_with_it(count: int) -> None:
    project = make_project()
    update = "UPDATE iit_projects SET name = %s WHERE code = %s"

    def store(code: str, prefix: str) -> bool:
        rows = [
            subject(project, f"{prefix}{n}", site="100 %", identifiers='{"n": "张"}')
            for n in range(count)
        ]
        done = insert_after(update, ("neu", code), rows)
        assert rows[0]._state.adding is not done
        return done

    assert store("NONE", "lost") is False
    assert not Subject.objects.exists()
    for time in range(4):  # PostgreSQL keeps the plan from the third time on
        assert store(project.code, f"P{time}-") is True
    assert Subject.objects.count() == 4 * count
    stored = Subject.objects.get(record_id="P0-0")
    assert (stored.site, stored.identifiers) == ("100 %", '{"n": "张"}')
    project.refresh_from_db()
    assert project.name == "neu"


@pytest.mark.parametrize("met", [True, False])
def test_rows_before_a_change_are_written_in_any_case(met: bool) -> None:
    project = make_project()
    insert([mapping(project, "taken")])
    update = "UPDATE iit_projects SET name = %s WHERE code = %s"
    code = project.code if met else "NONE"
    for time in range(4):
        before: list[Any] = [
            ([mapping(project, "taken", "other"), mapping(project, f"free {time}")], True),
            ([Skill(project=project, skill_type=f"qc {time}", name="x", config={})], False),
        ]
        done = insert_after(update, ("neu", code), [subject(project, f"P{time}")], before)
        assert done is met

    assert aliases() == ["free 0", "free 1", "free 2", "free 3", "taken"]
    assert FieldMapping.objects.get(alias_name="taken").actual_name == "age"
    assert Skill.objects.count() == 4
    assert Subject.objects.count() == (4 if met else 0)


def test_a_percent_sign_of_a_statement_is_no_place() -> None:
    for _time in range(3):
        assert fetch("SELECT '100 %%', CAST(%s AS INTEGER)", 7) == [("100 %", 7)]


def test_outside_of_a_transaction_later_is_now() -> None:
    later(subject(make_project(), "P1"))
    assert Subject.objects.count() == 1
    assert note("x", list[int]) is not note("x", list[int])


@pytest.mark.parametrize("written", [False, True])
def test_a_savepoint_that_fails_takes_only_its_own_rows(written: bool) -> None:
    project = make_project()

    def fail() -> None:
        with atomic():
            later(subject(project, "lost"))
            if written:
                write_now()
            raise RuntimeError

    with atomic():
        later(subject(project, "before"))
        with pytest.raises(RuntimeError):
            fail()
        later(subject(project, "after"))

    assert [*Subject.objects.order_by("pk").values_list("record_id", flat=True)] == [
        "before",
        "after",
    ]


def test_notes_are_the_transactions_own() -> None:
    with atomic():
        note("x", list[int]).append(1)
        assert note("x", list[int]) == [1]
    with atomic():
        assert note("x", list[int]) == []


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    site=st.sampled_from(["", "a", "b"]),
    active=st.booleans(),
    record=st.sampled_from([None, "", "P1", "P2", "gone"]),
    owner=st.sampled_from(["me", "other"]),
)
def test_sees_is_what_the_queryset_shows(
    site: str, active: bool, record: str | None, owner: str
) -> None:
    """`projects.access` in Python and in SQL."""
    from engines.models import TaskRun

    with transaction.atomic():
        project = make_project()
        make_subject(project, "P1", "a")
        make_subject(project, "P2", "")
        member = make_member(project, "me", site=site, is_active=active)
        skill = Skill.objects.create(project=project, skill_type="qc", config={})
        run = TaskRun.objects.create(
            project=project,
            skill=skill,
            record_id=record,
            triggered_by=owner,
            skill_version=1,
            config={},
        )
        shown = TaskRun.objects.for_member(member).filter(pk=run.pk).exists()
        (read,) = with_site(Member.objects.filter(pk=member.pk), record)
        where: str | None = read.subject_site  # type: ignore[attr-defined]
        assert sees(member, record_id=record, site=where, owner=owner) == shown
        transaction.set_rollback(True)


def test_identifiers_come_along_as_they_are_stored() -> None:
    project = make_project()
    make_member(project, "me")
    insert([subject(project, "P1", identifiers='{"n": "张"}')])
    (read,) = with_identifiers(Member.objects.filter(project=project), "P1")

    from house.crypto import decrypt

    assert decrypt(read.subject_identifiers) == '{"n": "张"}'  # type: ignore[attr-defined]

"""`audit verify` finds what was changed, removed or inserted behind the house's back (design.md 9.9)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import F, QuerySet
from django.utils.timezone import now

from core.house import audit_guard
from core.house.db import atomic
from projects import audit
from projects.models import AuditEntry, AuditHead, Project
from tests.house.kit import make_project

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def project() -> Iterator[Project]:
    """A study with five entries and a house with two; somebody switched the triggers off."""
    project = make_project()
    for number in range(1, 6):
        with atomic():
            audit.record(
                "login", actor="zhangyi", project=project, new={"n": number}, reason=f"r{number}"
            )
    with atomic():
        audit.record("login", actor="admin", reason="h1")
        audit.record("login", actor="admin", reason="h2")
    audit_guard.remove(connection)
    yield project
    audit_guard.install(connection)


def row(number: int) -> QuerySet[AuditEntry]:
    return AuditEntry.objects.filter(chain=str(Project.objects.get(code="ALPHA").pk), number=number)


def breaks() -> list[tuple[int, str]]:
    return [(found.number, found.what) for found in audit.verify()]


def test_an_untouched_trail_holds(project: Project) -> None:
    assert breaks() == []


@pytest.mark.parametrize(
    "column", ["actor", "action", "reason", "label", "record_id", "object_type", "object_id"]
)
@pytest.mark.parametrize("number", [1, 3, 5])
def test_a_changed_column_is_found(project: Project, column: str, number: int) -> None:
    row(number).update(**{column: "forged"})
    assert breaks() == [(number, "changed")]


@pytest.mark.parametrize("column", ["old", "new"])
def test_changed_content_is_found(project: Project, column: str) -> None:
    row(2).update(**{column: {"n": 99}})
    assert breaks() == [(2, "changed")]


def test_a_changed_time_is_found(project: Project) -> None:
    row(2).update(at=F("at") + timedelta(microseconds=1))
    assert breaks() == [(2, "changed")]


def test_an_entry_moved_to_another_study_is_found(project: Project) -> None:
    row(2).update(project=make_project("OTHER"))
    assert breaks() == [(2, "changed")]


def test_a_forger_who_computes_the_hash_is_given_away_by_the_next_entry(project: Project) -> None:
    forged = row(3).get()
    forged.reason = "forged"
    forged.hash = audit.digest(forged)
    forged.save()
    assert breaks() == [(4, "changed")]


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (1, [(1, "missing"), (2, "changed")]),
        (3, [(3, "missing"), (4, "changed")]),
        (5, [(5, "missing")]),
    ],
)
def test_a_removed_entry_is_found(
    project: Project, number: int, expected: list[tuple[int, str]]
) -> None:
    row(number).delete()
    assert breaks() == expected


def test_a_cut_off_tail_is_found(project: Project) -> None:
    row(4).delete()
    row(5).delete()
    assert breaks() == [(4, "missing")]


def test_an_emptied_chain_is_found(project: Project) -> None:
    AuditEntry.objects.filter(project=project).delete()
    assert breaks() == [(1, "missing")]


def test_a_removed_head_hides_nothing(project: Project) -> None:
    AuditHead.objects.filter(chain=str(project.pk)).delete()
    assert breaks() == [(number, "inserted") for number in range(1, 6)]


def test_an_appended_entry_is_found(project: Project) -> None:
    last = row(5).get()
    forged = row(5).get()
    forged.pk, forged.number, forged.previous = None, 6, last.hash
    forged.hash = audit.digest(forged)
    forged.save()
    assert breaks() == [(6, "inserted")]


def test_an_entry_put_before_the_first_is_found(project: Project) -> None:
    forged = row(1).get()
    forged.pk, forged.number = None, 0
    forged.hash = audit.digest(forged)
    forged.save()
    assert (1, "inserted") in breaks()


def test_an_invented_chain_is_found(project: Project) -> None:
    forged = row(1).get()
    forged.pk, forged.chain = None, "nowhere"
    forged.hash = audit.digest(forged)
    forged.save()
    assert breaks() == [(1, "inserted")]


def test_two_swapped_entries_are_found(project: Project) -> None:
    first, second = row(2).get(), row(3).get()
    first.delete()
    second.number, second.pk = 2, None
    row(3).delete()
    second.save()
    assert (2, "changed") in breaks()
    assert (3, "missing") in breaks()


def test_the_chain_goes_on_after_a_break_and_the_break_stays(project: Project) -> None:
    row(2).update(reason="forged")
    with atomic():
        audit.record("login", actor="zhangyi", project=project)
    assert breaks() == [(2, "changed")]


def test_since_looks_at_the_end_only(project: Project) -> None:
    day_ago = now() - timedelta(days=1)
    row(1).update(reason="forged long ago")
    assert [found.number for found in audit.verify(row(3).get().at)] == []
    row(4).update(reason="forged")
    assert [found.number for found in audit.verify(row(3).get().at)] == [4]
    assert [found.number for found in audit.verify(day_ago)] == [1, 4]
    assert [*audit.verify(now() + timedelta(days=1))] == []


def test_since_sees_entries_that_were_recorded_earlier_but_written_later(project: Project) -> None:
    """Two transactions: the first to record is not the first to commit."""
    moment = row(3).get().at
    late = row(4).get()
    late.at = moment - timedelta(hours=1)
    late.hash = audit.digest(late)
    late.save()
    last = row(5).get()
    last.previous = late.hash
    last.hash = audit.digest(last)
    last.save()
    assert breaks() == []
    assert [*audit.verify(moment)] == []


def verify(*options: str, stderr: StringIO | None = None) -> tuple[int, str]:
    """What the command says where the triggers are back."""
    audit_guard.install(connection)
    out = StringIO()
    try:
        call_command("audit", "verify", *options, stdout=out, stderr=stderr)
    except SystemExit as end:
        return int(str(end.code)), out.getvalue()
    return 0, out.getvalue()


def test_the_command_counts_what_holds(project: Project) -> None:
    told = StringIO()
    assert verify(stderr=told) == (0, ""), "whoever reads faults line by line meets nothing else"
    assert told.getvalue() == "ok 7 entries\n"


def test_the_command_names_every_break(project: Project) -> None:
    row(2).update(reason="forged")
    AuditEntry.objects.get(chain=audit.HOUSE, number=2).delete()
    code, text = verify()
    assert code == 1
    assert [json.loads(line) for line in text.splitlines()] == [
        {"chain": str(project.pk), "seq": 2, "fault": "changed"},
        {"chain": audit.HOUSE, "seq": 2, "fault": "missing"},
    ]


def test_the_command_takes_a_time(project: Project) -> None:
    row(1).update(reason="forged")
    assert verify("--since", "2020-01-01")[0] == 1
    assert verify("--since", (now() + timedelta(days=1)).isoformat())[0] == 0
    with pytest.raises(CommandError, match="not a time"):
        verify("--since", "yesterday")

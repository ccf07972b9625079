"""`audit verify` names every tampering and its place, though all triggers were dropped before (design.md 9.9).

Who tampers has the database and the file of the anchors, and not the keys.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.db.models import F
from pytest_django import Settings

from core.house import audit_guard
from core.house.db import atomic
from projects import audit, audit_anchors
from projects.models import AuditEntry, AuditHead, Project
from tests.house.kit import make_project

pytestmark = [pytest.mark.django_db, pytest.mark.database]
Fault = tuple[str, int, str]
LENGTH = 6
STUDY, HOUSE, FILE = "study", audit.HOUSE, audit_anchors.FILE
COLUMNS: dict[str, Any] = {
    "actor": "forged",
    "login": "forged",
    "action": "member.add",
    "object_type": "forged",
    "object_id": "forged",
    "label": "forged",
    "record_id": "P099",
    "old": {"forged": True},
    "new": None,
    "reason": "",
    "previous": "0" * 64,
    "hash": "0" * 64,
    "at": F("at") - timedelta(days=1),
    "chain": "nowhere",
    "number": 99,
    "project": None,
    "unblinds": True,
}


def write(project: Project | None, count: int) -> None:
    for number in range(count):
        with atomic():
            audit.record(
                "member.change",
                actor="zhangyi",
                project=project,
                record_id="P001",
                old={"n": number},
                new={"n": number + 1},
                reason=f"r{number}",
            )


def trail() -> None:
    """Six entries of a study, anchored at two and at six; three of the house, anchored at three."""
    project = make_project()
    write(project, 2)
    audit_anchors.take()
    write(project, LENGTH - 2)
    write(None, 3)
    audit_anchors.take()


def chain() -> str:
    return str(Project.objects.only("pk").get(code="ALPHA").pk)


def rows() -> Any:
    return AuditEntry.objects.filter(chain=chain())


def row(number: int) -> Any:
    return rows().filter(number=number)


def verify() -> tuple[int, set[Fault]]:
    """The exit code and the faults, the study's chain by its name here."""
    out, code = StringIO(), 0
    try:
        call_command("audit", "verify", stdout=out)
    except SystemExit as end:
        code = int(str(end.code))
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    name = {chain(): STUDY}
    return code, {(name.get(f["chain"], f["chain"]), f["seq"], f["fault"]) for f in lines}


def sql(text: str, *values: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute(text, values)


def change(column: str) -> Callable[[], object]:
    return lambda: row(3).update(**{column: COLUMNS[column]})


def swap() -> None:
    row(3).update(number=77)
    row(4).update(number=3)
    row(77).update(number=4)


def swap_contents() -> None:
    one, other = row(3).get(), row(4).get()
    row(3).update(actor="other", reason=other.reason, old=other.old, new=other.new)
    row(4).update(reason=one.reason, old=one.old, new=one.new)


def cut(to: int = 4, *, head: bool = False, anchored: int | None = None) -> None:
    rows().filter(number__gt=to).delete()
    if head:
        AuditHead.objects.filter(chain=chain()).update(length=to, claim=None)
    if anchored is not None:
        AuditHead.objects.filter(chain=chain()).update(anchored=anchored)


def empty(*, head: bool) -> None:
    rows().delete()
    if head:
        AuditHead.objects.filter(chain=chain()).delete()


def empty_all() -> None:
    AuditEntry.objects.all().delete()
    AuditHead.objects.all().delete()


def truncate() -> None:
    if connection.vendor == "postgresql":
        sql("SET CONSTRAINTS ALL IMMEDIATE")
        sql("TRUNCATE iit_audit_log")
    else:
        sql("DELETE FROM iit_audit_log")


def replace() -> None:
    is_postgresql = connection.vendor == "postgresql"
    left_out = {"actor", "id"} if is_postgresql else {"actor"}
    columns = {field.column for field in AuditEntry._meta.concrete_fields} - left_out
    copied = ", ".join(sorted(columns))
    into = "INSERT INTO" if is_postgresql else "INSERT OR REPLACE INTO"
    ending = " ON CONFLICT (chain, number) DO UPDATE SET actor = 'forged'" if is_postgresql else ""
    sql(
        f"{into} iit_audit_log ({copied}, actor) SELECT {copied}, 'forged' FROM iit_audit_log"
        f" WHERE chain = %s AND number = 3{ending}",
        chain(),
    )


def in_clear(column: str) -> Callable[[], object]:
    """As one does it who has no keys."""
    return lambda: sql(
        f"UPDATE iit_audit_log SET {column} = 'forged' WHERE chain = %s AND number = 3", chain()
    )


def of_another(column: str) -> Callable[[], object]:
    """Ciphertext that the keys do open."""
    return lambda: sql(
        f"UPDATE iit_audit_log SET {column} ="
        f" (SELECT {column} FROM iit_audit_log WHERE chain = %s AND number = 4)"
        " WHERE chain = %s AND number = 3",
        chain(),
        chain(),
    )


def recompute(sign: Callable[[bytes], str]) -> None:
    """Edit an entry and make all hashes from there on anew, as well as one without the key can."""
    previous = row(2).get().hash
    for entry in rows().filter(number__gte=3).order_by("number"):
        entry.reason = "forged" if entry.number == 3 else entry.reason
        entry.previous = previous
        entry.hash = previous = sign(audit.hashed_content(entry))
        entry.save()


def with_a_key_of_the_database(text: bytes) -> str:
    return hmac.new(b"guessed", text, hashlib.sha256).hexdigest()


def insert(number: int) -> None:
    """Put a forged entry at a place; what stood there moves up, and the head with it."""
    for entry in rows().filter(number__gte=number).order_by("-number"):
        row(entry.number).update(number=entry.number + 1)
    forged = row(number - 1).get()
    forged.pk, forged.number, forged.actor = None, number, "forged"
    forged.hash = hashlib.sha256(audit.hashed_content(forged)).hexdigest()
    forged.save()
    AuditHead.objects.filter(chain=chain()).update(length=LENGTH + 1)


def repeat() -> None:
    """A genuine entry once more at the end."""
    forged = row(3).get()
    forged.pk, forged.number = None, LENGTH + 1
    forged.save()
    AuditHead.objects.filter(chain=chain()).update(length=LENGTH + 1)


def move_to_house() -> None:
    row(3).update(chain=HOUSE, number=4, project=None)
    AuditHead.objects.filter(chain=HOUSE).update(length=4)


def go_on(after: Callable[[], object]) -> Callable[[], None]:
    """The house writes on behind the tampering, as one that noticed nothing."""

    def run() -> None:
        after()
        write(Project.objects.get(code="ALPHA"), LENGTH)
        audit_anchors.take()

    return run


def lines(edit: Callable[[list[bytes]], list[bytes]]) -> Callable[[], None]:
    def run() -> None:
        file = audit_anchors.path()
        file.write_bytes(b"".join(edit(file.read_bytes().splitlines(keepends=True))))

    return run


def lowered(found: list[bytes]) -> list[bytes]:
    """The anchor of six says five, with the hash of five."""
    return [
        line.replace(b'"seq": 6', b'"seq": 5').replace(row(6).get().hash.encode(), b"0" * 64)
        for line in found
    ]


def cut_both() -> None:
    """The tail, its head, and the anchors that knew of it."""
    cut(head=True, anchored=2)
    lines(lambda found: found[:1])()


TAMPERINGS: dict[str, tuple[Callable[[], object], set[Fault]]] = {
    **{
        f"edit of {name}": (change(name), {(STUDY, 3, "changed")})
        for name in COLUMNS
        if name not in {"chain", "number"}
    },
    **{
        f"{name} in clear": (in_clear(name), {(STUDY, 3, "changed")})
        for name in ("label", "old", "new", "reason")
    },
    **{
        f"{name} of another entry": (of_another(name), {(STUDY, 3, "changed")})
        for name in ("old", "new", "reason")
    },
    "edit of chain": (change("chain"), {(STUDY, 3, "missing"), ("nowhere", 3, "inserted")}),
    "edit of number": (change("number"), {(STUDY, 3, "missing"), (STUDY, 99, "inserted")}),
    "delete of the first": (lambda: row(1).delete(), {(STUDY, 1, "missing")}),
    "delete of one": (lambda: row(3).delete(), {(STUDY, 3, "missing")}),
    "delete of the last": (lambda: row(LENGTH).delete(), {(STUDY, LENGTH, "missing")}),
    "swap": (swap, {(STUDY, 3, "changed"), (STUDY, 4, "changed")}),
    "swap of contents": (swap_contents, {(STUDY, 3, "changed"), (STUDY, 4, "changed")}),
    "cut tail": (cut, {(STUDY, 5, "missing")}),
    "cut tail and head": (lambda: cut(head=True), {(STUDY, 5, "missing")}),
    "cut tail, head and what the head knows of anchors": (
        lambda: cut(head=True, anchored=2),
        {(STUDY, 5, "missing")},
    ),
    "cut tail and head, then written on": (
        go_on(lambda: cut(head=True, anchored=2)),
        {(STUDY, LENGTH, "not as anchored")},
    ),
    "empty chain": (lambda: empty(head=False), {(STUDY, 1, "missing")}),
    "removed chain": (lambda: empty(head=True), {(STUDY, 1, "missing")}),
    "empty trail": (empty_all, {(STUDY, 1, "missing"), (HOUSE, 1, "missing")}),
    "TRUNCATE": (truncate, {(STUDY, 1, "missing"), (HOUSE, 1, "missing")}),
    "REPLACE": (replace, {(STUDY, 3, "changed")}),
    "hashes without a key": (
        lambda: recompute(lambda text: hashlib.sha256(text).hexdigest()),
        {(STUDY, 3, "changed"), (STUDY, LENGTH, "not as anchored")},
    ),
    "hashes with another key": (
        lambda: recompute(with_a_key_of_the_database),
        {(STUDY, 3, "changed"), (STUDY, LENGTH, "not as anchored")},
    ),
    "inserted entry": (lambda: insert(3), {(STUDY, 3, "changed")}),
    "appended entry": (lambda: insert(LENGTH + 1), {(STUDY, LENGTH + 1, "changed")}),
    "repeated entry": (repeat, {(STUDY, LENGTH + 1, "changed")}),
    "moved to another chain": (move_to_house, {(STUDY, 3, "missing"), (HOUSE, 4, "changed")}),
    "deleted head": (
        lambda: AuditHead.objects.filter(chain=chain()).delete(),
        {(STUDY, number, "inserted") for number in range(1, LENGTH + 1)},
    ),
    "shortened head": (
        lambda: AuditHead.objects.filter(chain=chain()).update(length=4),
        {(STUDY, 5, "inserted"), (STUDY, 6, "inserted")},
    ),
    "deleted anchors": (
        lambda: audit_anchors.path().unlink(),
        {(FILE, 3, "anchor missing"), (STUDY, LENGTH, "anchor missing")},
    ),
    "deleted anchors, then written on": (
        go_on(lambda: audit_anchors.path().unlink()),
        {(FILE, 1, "anchor missing")},
    ),
    "cut anchors": (
        lines(lambda found: found[:1]),
        {(FILE, 3, "anchor missing"), (STUDY, LENGTH, "anchor missing")},
    ),
    "cut anchors, then written on": (
        go_on(lines(lambda found: found[:1])),
        {(FILE, 2, "anchor missing")},
    ),
    "an anchor cut out": (lines(lambda found: found[1:]), {(FILE, 1, "anchor missing")}),
    "swapped anchors": (lines(lambda found: found[::-1]), {(FILE, 1, "anchor missing")}),
    "an edited anchor": (lines(lowered), {(FILE, 2, "anchor changed")}),
    "a line that is no anchor": (
        lines(lambda found: [*found, b"{}\n"]),
        {(FILE, 4, "anchor changed")},
    ),
    "cut anchors, tail and head": (cut_both, {(FILE, 3, "anchor missing")}),
}


@pytest.fixture
def unguarded() -> Iterator[None]:
    trail()
    audit_guard.remove(connection)
    yield
    audit_guard.install(connection)


@pytest.mark.parametrize("name", TAMPERINGS)
def test_a_tampering_is_found_with_its_place(unguarded: None, name: str) -> None:
    tamper, expected = TAMPERINGS[name]
    tamper()
    code, found = verify()
    assert code == 1
    assert expected <= found, found


def test_there_are_twenty() -> None:
    assert len(TAMPERINGS) >= 20


def test_every_column_is_edited() -> None:
    """A new column is covered as soon as it is there; its edit has to be in the list."""
    fields = {field.name for field in AuditEntry._meta.concrete_fields}
    assert fields - {"id"} == set(COLUMNS)


@pytest.mark.parametrize("trigger", audit_guard.TRIGGERS[connection.vendor])
def test_a_dropped_trigger_is_a_fault(trigger: str) -> None:
    trail()
    suffix = " ON iit_audit_log" if connection.vendor == "postgresql" else ""
    sql(f"DROP TRIGGER {trigger}{suffix}")
    assert verify() == (1, {("triggers", 0, f"trigger missing: {trigger}")})


WEAKENED = {
    "sqlite": [
        "DROP TRIGGER iit_audit_no_update",
        "CREATE TRIGGER iit_audit_no_update BEFORE UPDATE ON iit_audit_log WHEN 0 BEGIN SELECT 1; END",
    ],
    "postgresql": [
        "CREATE OR REPLACE FUNCTION iit_audit_refuse() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RETURN NULL; END $$",
    ],
}


def test_a_trigger_that_was_changed_or_switched_off_is_a_fault() -> None:
    trail()
    for statement in WEAKENED[connection.vendor]:
        sql(statement)
    assert (("triggers", 0, "trigger missing: iit_audit_no_update")) in verify()[1]
    audit_guard.install(connection)
    assert verify() == (0, set())
    if connection.vendor == "postgresql":
        sql("ALTER TABLE iit_audit_log DISABLE TRIGGER iit_audit_no_delete")
        assert verify() == (1, {("triggers", 0, "trigger missing: iit_audit_no_delete")})


def test_an_untouched_trail_holds() -> None:
    trail()
    assert verify() == (0, set())
    write(Project.objects.get(code="ALPHA"), 3)
    assert verify() == (0, set())
    audit_anchors.take()
    assert verify() == (0, set())


def test_a_trail_over_a_change_of_keys_holds(settings: Settings) -> None:
    trail()
    newer = base64.b64encode(b"n" * 32).decode()
    settings.FIELD_ENCRYPTION_KEYS = [newer, *settings.FIELD_ENCRYPTION_KEYS]
    write(Project.objects.get(code="ALPHA"), 3)
    audit_anchors.take()
    assert verify() == (0, set())
    settings.FIELD_ENCRYPTION_KEYS = [newer]
    with pytest.raises(SystemCheckError, match=r"iit\.E006"):
        call_command("audit", "verify", skip_checks=False)


def test_anchors_say_what_grew_and_nothing_when_nothing_did(caplog: Any) -> None:
    trail()
    before = audit_anchors.path().read_bytes()
    caplog.set_level("INFO")
    assert audit_anchors.take() == 0
    assert audit_anchors.path().read_bytes() == before
    write(None, 1)
    assert audit_anchors.take() == 1
    last = audit_anchors.path().read_bytes().removeprefix(before).decode().strip()
    assert json.loads(last)["seq"] == 4
    assert f"audit anchor {last}" in caplog.text

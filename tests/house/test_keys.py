"""FIELD_ENCRYPTION_KEYS lost, restored and rotated; a cell that no key opens."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from io import StringIO
from itertools import islice
from typing import Any

import pytest
from django.apps import apps
from django.core.cache import cache
from django.core.management import call_command
from django.core.management.base import CommandError, SystemCheckError
from django.db import connection, models, transaction
from django.db.models.functions import Cast
from django.test import Client, override_settings
from pytest_django import Settings

from core.house import crypto, key_ring, rekeying
from core.house.db import atomic
from core.house.encrypted_fields import Unopened, is_sealed, reading
from memory.hot import tombstones
from memory.models import MemoryTombstone
from projects import audit_anchors, audit_watch, checks
from projects.models import AuditEntry, Project
from study.models import Reading
from tests.engines.sop import doors
from tests.engines.sop.kit import run_qc
from tests.support.addresses import addresses
from tests.support.chat import chat, work
from tests.support.contents import changed, snapshot
from tests.support.study import Study
from tests.wechat.working import receive
from wechat.models import InboxMessage

LINE = "P001 讨厌早上开会"
pytestmark = pytest.mark.django_db


def new_key() -> str:
    return base64.b64encode(os.urandom(32)).decode()


RESTS_ON_READINGS = {"/api/v1/visits/"}
OTHERS = {
    "another key": lambda keys: [new_key()],
    "two other keys": lambda keys: [new_key(), new_key()],
    "rotated without the old one": lambda keys: [new_key(), *keys][:1],
}


@pytest.fixture(params=OTHERS)
def lost(request: pytest.FixtureRequest, settings: Settings, study: Study) -> list[str]:
    """The keys that were right; the house has others."""
    keys = [*settings.FIELD_ENCRYPTION_KEYS]
    key_ring.ring(fresh=True)
    settings.FIELD_ENCRYPTION_KEYS = OTHERS[request.param](keys)
    return keys


@pytest.mark.full
def test_nothing_starts_or_is_written_with_other_keys(
    lost: list[str], settings: Settings, client: Client, study: Study
) -> None:
    others, settings.FIELD_ENCRYPTION_KEYS = settings.FIELD_ENCRYPTION_KEYS, lost
    before = snapshot()
    settings.FIELD_ENCRYPTION_KEYS = others
    assert client.get("/readyz").json()["checks"]["database"] == "WrongKeys"
    assert client.get("/readyz").status_code == 503
    assert [one.id for one in checks.encryption_keys()] == ["iit.E006"]
    with pytest.raises(SystemCheckError):
        call_command("check", stdout=StringIO(), stderr=StringIO())
    login = {"username": "admin", "password": "wrong"}
    assert client.post("/admin/login/", login).status_code == 503
    assert client.post("/wechat/callback/", b"<xml/>", content_type="text/xml").status_code == 503
    told = client.post("/api/v1/chat/", {"text": "?"}, content_type="application/json")
    assert (told.status_code, told["Content-Type"]) == (503, "application/problem+json")
    for write in (
        lambda: Project.objects.create(code="X", name="X", redcap_token="token"),
        lambda: bury(study),
        lambda: key_ring.digest("x"),
    ):
        with pytest.raises(key_ring.WrongKeys), transaction.atomic():
            write()
    settings.FIELD_ENCRYPTION_KEYS = lost
    assert changed(before) == {}
    assert "WrongKeys" not in client.get("/readyz").content.decode()
    assert checks.encryption_keys() == []
    receive("P001 入组了吗?")
    assert InboxMessage.objects.get().raw
    assert [*audit_watch.verify()] == []


def test_pages_are_shown_with_other_keys(lost: list[str]) -> None:
    client = Client()
    assert client.get("/admin/login/").status_code == 200
    assert client.get("/healthz").status_code == 200


def bury(study: Study) -> None:
    """A person takes a line out of memory."""
    with atomic():
        tombstones.bury(project=study.project, line=LINE, actor="admin")


def sealed_cells() -> Iterator[tuple[str, str]]:
    """`table.column` and ciphertext of each cell."""
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if is_sealed(field):
                rows = model._base_manager.annotate(cell=Cast(field.name, models.TextField()))
                for cell in rows.values_list("cell", flat=True):
                    if cell:
                        yield f"{model._meta.db_table}.{field.column}", cell


@pytest.mark.full
def test_a_rotation_goes_on_where_it_was_cut_and_the_old_key_can_go(
    study: Study, settings: Settings
) -> None:
    run_qc(study, "P002")
    bury(study)
    chat(doors.api("zhangyi"), text="P001 的年龄是多少?")
    work()
    audit_anchors.take()
    old, new = settings.FIELD_ENCRYPTION_KEYS[0], new_key()
    trigger, read = (
        study.project.redcap_det_digest,
        dict(Reading.objects.values_list("pk", "digest")),
    )
    settings.FIELD_ENCRYPTION_KEYS = [new, old]
    assert len([*islice(rekeying.rekey(batch=3), 4)]) == 4
    told = StringIO()
    call_command("rekey", "--batch", "7", stdout=told)
    assert "iit_audit_log: " in told.getvalue()
    settings.FIELD_ENCRYPTION_KEYS = [new]
    places = {name: crypto.place(cell) for name, cell in sealed_cells()}
    assert len(places) > 10
    assert {*places.values()} == {0}
    assert checks.encryption_keys() == []
    assert [*audit_watch.verify()] == []
    project = Project.objects.get(pk=study.project.pk)
    assert project.redcap_token == study.project.redcap_token
    assert project.redcap_det_digest == trigger
    assert Client().post(f"/redcap/det/{project.redcap_det_secret}/", {}).status_code == 200
    assert MemoryTombstone.objects.get().digest == tombstones.line_digest(LINE)
    assert read
    for row in Reading.objects.all():
        assert key_ring.digest(row.values) == row.digest == read[row.pk]
    doors.console("admin")
    audit_anchors.take()
    assert [*audit_watch.verify()] == []
    told = StringIO()
    call_command("rekey", stdout=told)
    assert " 0 cells" in told.getvalue()


def test_a_ring_that_was_renewed_keeps_its_key_whoever_else_rotates(settings: Settings) -> None:
    """Two rotations at once: what was signed between them is not lost."""
    old, new = settings.FIELD_ENCRYPTION_KEYS[0], new_key()
    key_ring.ring(fresh=True)
    settings.FIELD_ENCRYPTION_KEYS = [new, old]
    key_ring.renew()
    first, signature = key_ring.ring(), key_ring.sign("test", b"between")
    key_ring.renew()
    assert key_ring.ring(fresh=True) == first
    assert key_ring.is_signed("test", b"between", signature)


def test_a_forged_entry_is_found_after_a_rotation(study: Study, settings: Settings) -> None:
    doors.api("admin")
    old = settings.FIELD_ENCRYPTION_KEYS[0]
    settings.FIELD_ENCRYPTION_KEYS = [new_key(), old]
    call_command("rekey", stdout=StringIO())
    assert [*audit_watch.verify()] == []
    entry = AuditEntry.objects.order_by("-pk").first()
    assert entry
    rekeying.audit_guard.remove(connection)
    AuditEntry.objects.filter(pk=entry.pk).update(actor="somebody else")
    rekeying.audit_guard.install(connection)
    assert [one.what for one in audit_watch.verify()] == ["changed"]


def test_a_cell_that_no_key_opens_is_told_and_stays(study: Study, settings: Settings) -> None:
    row = receive("P001 入组了吗?")
    cell = spoil(InboxMessage, "raw", row.pk)
    settings.FIELD_ENCRYPTION_KEYS = [new_key(), *settings.FIELD_ENCRYPTION_KEYS]
    with pytest.raises(CommandError, match="1 cells"):
        call_command("rekey", stdout=StringIO())
    assert stored(InboxMessage, "raw", row.pk) == cell


@pytest.mark.parametrize("times", [1, 10])
def test_a_cell_that_is_written_meanwhile_is_read_again(
    study: Study, settings: Settings, times: int
) -> None:
    """A process with the older list writes between look and update; who does so for ever is told of."""
    row, keys = receive("P001 入组了吗?"), [*settings.FIELD_ENCRYPTION_KEYS]
    left, is_own = [times], [False]

    def write(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        is_update = sql.startswith(f'UPDATE "{InboxMessage._meta.db_table}"') and '"raw" =' in sql
        if is_update and left[0] and not is_own[0]:
            left[0] -= 1
            is_own[0] = True
            with override_settings(FIELD_ENCRYPTION_KEYS=keys):
                InboxMessage.objects.filter(pk=row.pk).update(raw=f"written {left[0]}")
            is_own[0] = False
        return execute(sql, params, many, context)

    settings.FIELD_ENCRYPTION_KEYS = [new_key(), *keys]
    with connection.execute_wrapper(write):
        if times == 1:
            call_command("rekey", stdout=StringIO())
        else:
            with pytest.raises(CommandError, match="run again"):
                call_command("rekey", stdout=StringIO())
    assert InboxMessage.objects.get(pk=row.pk).raw.startswith("written")
    assert (crypto.place(stored(InboxMessage, "raw", row.pk)) == 0) == (times == 1)


def spoil(model: type[models.Model], name: str, key: object) -> str:
    """Another key's ciphertext in the place of a cell."""
    spoilt = base64.b64encode(b"\x01" + bytes(40)).decode()
    model._base_manager.filter(pk=key).update(**{name: Unopened.of(spoilt)})
    return spoilt


def stored(model: type[models.Model], name: str, key: object) -> Any:
    rows = model._base_manager.annotate(cell=Cast(name, models.TextField()))
    return rows.values_list("cell", flat=True).get(pk=key)


@pytest.mark.full
def test_lists_show_the_other_rows_beside_a_cell_that_cannot_be_opened(study: Study) -> None:
    run_qc(study, "P002")
    receive("P001 入组了吗?")
    chat(doors.api("zhangyi"), text="P001 的年龄是多少?")
    work()
    clients = [doors.console("admin"), doors.api("zhangyi")]
    for client in clients:
        client.raise_request_exception = False
    spoilt: dict[tuple[str, str, object], str] = {}
    for model in apps.get_models():
        row = model._base_manager.order_by("pk").values_list("pk", flat=True).last()
        for field in model._meta.concrete_fields:
            if is_sealed(field) and row is not None and model is not Project:
                spoilt[model._meta.label, field.name, row] = spoil_any(model, field.name, row)
    assert len(spoilt) > 20, spoilt.keys()
    cache.clear()
    seen: dict[int, list[str]] = {}
    for one in addresses():
        if one.parameters or one.name.endswith(("add", "export")):
            continue
        client = clients[one.path.startswith("/api/")]
        seen.setdefault(client.get(one.path).status_code, []).append(one.path)
    assert len(seen[200]) > 40
    # What is worked out of data is refused, never shown as if they were not there.
    assert seen.get(500, []) == []
    assert {*seen.get(503, [])} <= RESTS_ON_READINGS
    # The roster is read from REDCap again, and with it what could not be opened.
    spoilt = {one: cell for one, cell in spoilt.items() if one[0] != "study.Subject"}
    for (label, name, key), cell in spoilt.items():
        assert stored(apps.get_model(label), name, key) == cell


def spoil_any(model: type[models.Model], name: str, key: object) -> str:
    """Also where triggers refuse it: somebody who has the database does it all the same."""
    if model is not AuditEntry:
        return spoil(model, name, key)
    rekeying.audit_guard.remove(connection)
    cell = spoil(model, name, key)
    rekeying.audit_guard.install(connection)
    return cell


def test_a_cell_that_was_not_opened_is_saved_as_it_was(study: Study) -> None:
    row = receive("P001 入组了吗?")
    cell = spoil(InboxMessage, "raw", row.pk)
    with reading():
        InboxMessage.objects.get(pk=row.pk).save()
        assert isinstance(InboxMessage.objects.get(pk=row.pk).raw, Unopened)
    assert stored(InboxMessage, "raw", row.pk) == cell
    with pytest.raises(crypto.DecryptionError):
        InboxMessage.objects.get(pk=row.pk)

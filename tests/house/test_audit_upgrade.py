"""Entries that were written before hashes had a key are signed once; what was forged before stays a fault."""

from __future__ import annotations

import importlib
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.db import connection

from projects import audit, audit_guard
from projects.db import atomic
from projects.models import AuditEntry
from tests.house.kit import make_project

pytestmark = pytest.mark.django_db


def test_what_held_before_the_key_holds_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    upgrade = importlib.import_module("projects.migrations.0007_audit_keys")
    project = make_project()
    with monkeypatch.context() as before:
        before.setattr(audit, "digest", upgrade.without_key)
        for number in range(5):
            with atomic():
                audit.record("login", actor="zhangyi", project=project, new={"n": number})
    audit_guard.remove(connection)
    AuditEntry.objects.filter(number=3).update(actor="forged")
    upgrade.sign_entries(apps, SimpleNamespace(connection=connection))
    assert list(audit_guard.missing(connection)) == []
    assert [(found.number, found.what) for found in audit.verify()] == [(3, "changed")]
    with atomic():
        audit.record("login", actor="zhangyi", project=project)
    assert [found.number for found in audit.verify()] == [3]

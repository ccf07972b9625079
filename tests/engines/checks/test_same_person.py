"""The same person as two subjects: a number in whatever writing tells it, a date alone does not."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime

import pytest

from projects.models import Project
from study.models import Dictionary, Subject, SyncState
from study.records import RecordData
from tests.engines.checks.made import found
from tests.support.dictionaries import Kind, item

pytestmark = pytest.mark.django_db
FIELDS = [item("base", "record_id", "编号"), item("base", "id_card", "身份证号", identifier="y")]


@pytest.mark.parametrize(
    ("known", "typed", "is_told"),
    [
        ("110101196201010008", " 110101-196201010008", True),
        ("110101196201010008", "110101 19620101 0008", True),
        ("2026010100123456", "2026-01-01/00123456", True),
        ("1962-01-01", "1962-01-01", False),
        ("1962-01-01 08:30:15", "1962-01-01 08:30:15", False),
    ],
)
def test_a_number_is_known_in_every_writing(known: str, typed: str, is_told: bool) -> None:
    kind = Kind("same", FIELDS, {"base": "base"}, [], (), "", frozenset())
    project = Project.objects.create(code="SAME", name="Same", start_date=date(2026, 1, 1))
    Dictionary.objects.create(project=project, content=kind.content, digest="same")
    at = datetime.now(UTC)
    SyncState.objects.update_or_create(project=project, defaults={"roster_at": at})
    own = json.dumps({"id_card": known})
    Subject.objects.create(project=project, record_id="1", identifiers=own, synced_at=at)
    data = RecordData("2", "", ({"record_id": "2", "id_card": typed},), at, (), True)
    seen = found(project, data, {"duplicate": {}})
    assert bool(seen) == is_told

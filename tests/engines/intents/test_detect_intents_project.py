"""`detect_intents --project`: the project's own record ids, read once."""

import datetime as dt
import io
import json
import sys
from typing import Any

import pytest
from django.core.management import CommandError, call_command

pytestmark = pytest.mark.django_db


@pytest.fixture
def _project() -> None:
    from projects.models import Project

    Project.objects.create(
        code="K1", name="K1", start_date=dt.date(2026, 1, 5), record_id_pattern=r"K\d{2}"
    )


@pytest.mark.usefixtures("_project")
def test_the_projects_pattern_counts(
    monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"text": "k07和P001的血压"}\n' * 2))
    monkeypatch.setattr(sys, "stdout", out)
    with django_assert_num_queries(1):
        call_command("detect_intents", project="K1")
    assert [json.loads(line)["record_ids"] for line in out.getvalue().splitlines()] == [["K07"]] * 2


def test_an_unknown_project_is_refused() -> None:
    with pytest.raises(CommandError):
        call_command("detect_intents", project="NONE")

"""An address with an id that is none, and NUL in any parameter, are answered and break nothing.

On PostgreSQL, which stores no NUL and no number beyond its columns, more than on SQLite.
"""

from __future__ import annotations

from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.support.addresses import Address, addresses
from tests.support.study import Study

pytestmark = pytest.mark.django_db
KEYS = ("9" * 30, "a\0b", "１２", "00000000-0000-0000-0000-000000000000")
FEW = ("house/heartbeat", "study/subject", "engines/taskrun", "/search/", "/visits/", "task-runs")
NAMES = (
    *("q", "project", "p", "o", "page", "site", "state", "status", "subject", "arm", "from", "to"),
    *("record_id", "user_id", "search", "visit", "view", "day", "all", "due", "created_at"),
    *("project__code", "project__id__exact", "skill_type", "_changelist_filters", "_popup", "term"),
    *("app_label", "model_name", "field_name", "date", "week", "language"),
)


def ask(client: Client, path: str) -> int:
    return client.get(path, follow=False).status_code


@pytest.fixture
def root(study: Study) -> Client:
    User.objects.create_superuser("odd-root")
    client = Client(raise_request_exception=False)
    client.force_login(
        User.objects.get(username="odd-root"), "django.contrib.auth.backends.ModelBackend"
    )
    return client


def filled(one: Address, key: str) -> str:
    return one.path.format(**dict.fromkeys(one.parameters, quote(key, safe="")))


def broken_ids(client: Client, found: list[Address]) -> list[tuple[str, str]]:
    return [
        (one.path, key)
        for one in found
        if one.parameters and "logout" not in one.path
        for key in KEYS
        if ask(client, filled(one, key)) >= 500
    ]


def broken_queries(client: Client, found: list[Address]) -> list[tuple[str, str]]:
    return [
        (one.path, name)
        for one in found
        if not one.parameters and "/log" not in one.path
        for name in ("q", "project", "&".join(f"{name}=a%00b" for name in NAMES))
        if ask(client, f"{one.path}?{name}{'' if '=' in name else '=a%00b'}") >= 500
    ]


def test_a_few_of_them(root: Client) -> None:
    few = [one for one in addresses() if any(part in one.path for part in FEW)]
    assert broken_ids(root, few) + broken_queries(root, few) == []
    assert root.get("/admin/study/subject/a%00b/change/").status_code == 404
    assert root.get("/admin/search/?q=a%00b").status_code == 200


@pytest.mark.slow
def test_all_of_them(root: Client) -> None:
    assert broken_ids(root, addresses()) + broken_queries(root, addresses()) == []

"""Cached values are JSON: who writes Redis or the table of the cache runs no code."""

from __future__ import annotations

import base64
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from pytest_django import Settings

from projects import checks
from tests.engines.sop import doors
from tests.support.chat import chat
from tests.support.study import Study

pytestmark = [pytest.mark.django_db, pytest.mark.database]


class Bomb:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def raw() -> dict[str, bytes]:
    """Every value as the back end keeps it."""
    if hasattr(cache, "_cache"):
        client = cache._cache.get_client()
        return {key.decode(): client.get(key) for key in client.keys("*:1:*")}
    with connection.cursor() as cursor:
        cursor.execute("SELECT cache_key, value FROM iit_cache")
        return {key: value.encode() for key, value in cursor.fetchall()}


def overwrite(key: str, value: bytes) -> None:
    """As somebody writes it who has the server and no key of ours."""
    cache.set(key, 1)
    if hasattr(cache, "_cache"):
        cache._cache.get_client().set(cache.make_key(key), value)
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE iit_cache SET value = %s WHERE cache_key = %s",
            [value.decode(), cache.make_key(key)],
        )


def test_no_cached_value_is_a_pickle(study: Study) -> None:
    chat(doors.api("zhangyi"), text="P001 入组了吗?")
    for name, value in {"text": "字", "number": 7, "list": [1, None], "yes": True}.items():
        cache.set(name, value)
    kept = raw()
    assert len(kept) > 4
    for key, value in kept.items():
        json.loads(value)
        assert not value.startswith((b"\x80", b"gAS")), key


@pytest.mark.parametrize("protocol", [0, 2, 5])
@pytest.mark.parametrize("read", ["get", "get_many", "get_or_set"])
def test_a_planted_pickle_does_not_run(protocol: int, read: str, tmp_path: Path) -> None:
    planted = pickle.dumps(Bomb(tmp_path / "ran"), protocol)
    overwrite("planted", base64.b64encode(planted) if not hasattr(cache, "_cache") else planted)
    found = {
        "get": lambda: cache.get("planted"),
        "get_many": lambda: cache.get_many(["planted"]).get("planted"),
        "get_or_set": lambda: cache.get_or_set("planted", None),
    }[read]()
    assert found is None
    assert not (tmp_path / "ran").exists()


def test_values_come_back_and_end() -> None:
    for value in ("字", "", 0, 7, -1.5, True, [1, {"a": None}], {"深": ["值"]}):
        cache.set("kept", value)
        assert cache.get("kept") == value
    assert not cache.add("kept", "another")
    assert cache.get("kept") == {"深": ["值"]}
    cache.set("gone", 1, 0)
    assert cache.get("gone", "blank") == "blank"
    assert cache.add("gone", 2)
    assert cache.get("gone") == 2
    assert cache.touch("gone", 60)
    assert not cache.touch("never-there", 60)
    cache.delete("gone")
    assert "gone" not in cache
    with pytest.raises(TypeError):
        cache.set("object", object())


def test_redis_without_a_password_is_told(settings: Settings) -> None:
    settings.DEBUG = False
    found = {}
    for url in ("", "redis://10.0.0.5:6379/0", "redis://:secret@10.0.0.5:6379/0"):
        settings.REDIS_URL = url
        found[url] = [one.id for one in checks.redis_password()]
    assert [*found.values()] == [[], ["iit.W005"], []]

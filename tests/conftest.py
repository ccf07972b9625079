"""Fixtures that every test can ask for."""

from __future__ import annotations

import gc
import os
import socket
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.utils import timezone
from hypothesis import settings as properties
from pytest_django import Settings
from pytest_django.plugin import blocking_manager_key

from tests.support import database, tiers
from tests.support.prompts import told_to_models
from tests.support.stand_ins import StandIns

GUARDED = pytest.StashKey[bool]()
LOOPBACK = {"127.0.0.1", "::1", "localhost"}

# How long an example takes depends on what else the machine does: speed belongs in bench/.
# EXAMPLES: of each property that asks for no number of its own.
EXAMPLES = int(os.environ.get("EXAMPLES") or 100)
properties.register_profile("untimed", properties(), deadline=None, max_examples=EXAMPLES)
properties.load_profile("untimed")


def pytest_configure(config: pytest.Config) -> None:
    """One Redis database per process: two would take each other's messages.

    A worker that starts in this process would lower it for all that comes after it.
    """
    django_settings.WORKER_NICE = 0
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    if not (django_settings.REDIS_URL and worker):
        return
    from iit_manager.celery import app

    number = 10 + int(worker.removeprefix("gw") or 0)
    url = f"{django_settings.REDIS_URL.rpartition('/')[0]}/{number}"
    os.environ["REDIS_URL"] = url
    django_settings.REDIS_URL = django_settings.CELERY_BROKER_URL = url
    django_settings.CACHES["default"]["LOCATION"] = url
    app.conf.broker_url = url


@pytest.fixture(scope="session")
def migrated_template() -> Path:
    """An empty database after all migrations."""
    return database.template()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None) -> None:
    """SQLite's tables come from the template: no migration runs in every process."""
    if connection.vendor == "sqlite":
        connection.settings_dict["TEST"]["MIGRATE"] = False


@pytest.fixture(scope="session")
def django_db_setup(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: Any
) -> None:
    """The template's content in place of what Django made from the models; the keys are read once."""
    from core.house import key_ring

    if connection.vendor != "sqlite":
        with django_db_blocker.unblock():
            key_ring.ring()
        return
    found = request.getfixturevalue("migrated_template")
    with django_db_blocker.unblock():
        connection.ensure_connection()
        source = sqlite3.connect(found)
        source.backup(connection.connection)
        source.close()
        ContentType.objects.clear_cache()
        key_ring.ring()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The tiers of tests/support/tiers.py."""
    parser.addoption("--quick", action="store_true", help="one case of everything (make test)")
    parser.addoption("--rest", action="store_true", help="what `make test` does not run whole")
    parser.addoption("--servers", action="store_true", help="what differs on PostgreSQL and Redis")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the cases of the tier; what takes minutes begins first, else one process is left with it."""
    chosen = [*(tiers.quick(items) if config.option.quick else tiers.full(items))]
    if config.option.rest:
        beyond = tiers.beyond_quick(items)
        chosen = [item for item in chosen if item in beyond]
    if config.option.servers:
        chosen = [*tiers.on_servers(chosen)]
    gone = {*items} - {*chosen}
    config.hook.pytest_deselected(items=[item for item in items if item in gone])
    items[:] = sorted(chosen, key=lambda item: "slow" not in item.keywords)


def pytest_collection_finish() -> None:
    """Do not look through modules and collected tests at each collection of garbage: a third of all CPU."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.fixture(autouse=True, scope="session")
def _no_network() -> Iterator[None]:
    """Only loopback: a test that leaves the machine is a test that sends data out."""
    real = socket.socket.connect

    def connect(self: socket.socket, address: Any) -> None:
        inet = self.family in {socket.AF_INET, socket.AF_INET6}
        if inet and address[0] not in LOOPBACK:
            raise OSError(f"tests do not leave this machine: {address}")
        real(self, address)

    socket.socket.connect = connect  # type: ignore[method-assign,assignment]
    yield
    socket.socket.connect = real  # type: ignore[method-assign]


@pytest.fixture(autouse=True)
def _test_settings(settings: Settings, tmp_path: Path) -> None:
    """Cheap passwords, no waiting, a `var/` of its own."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.VAR_DIR = tmp_path / "var"
    settings.VAR_DIR.mkdir()
    settings.AXES_ENABLED = False
    # Else each client of a test lists all static files.
    settings.WHITENOISE_AUTOREFRESH = True
    settings.REDCAP_REQUESTS_PER_SECOND = 10_000.0
    settings.REDCAP_RETRY_PAUSE_S = settings.DIFY_RETRY_PAUSE_S = settings.LLM_RETRY_PAUSE_S = 0.0
    settings.WAKE_REST_S = 0.0
    settings.CHAT_WAIT_S = 0.0


@pytest.fixture(autouse=True)
def _one_clock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock that tests move is the process's; PostgreSQL's stands still but for `two_clocks`."""
    if not request.node.get_closest_marker("two_clocks"):
        monkeypatch.setattr("core.house.machine.database_now", lambda: timezone.now())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Let transactional tests empty the audit table: its triggers refuse DELETE (house.audit_guard).

    They empty the key ring, too: without one, rows are what the next test's keys are tried on.
    """
    if GUARDED not in item.stash:
        return (yield)
    from core.house import audit_guard, key_ring

    unblock = item.config.stash[blocking_manager_key].unblock
    with unblock():
        audit_guard.remove(connection)
    try:
        return (yield)
    finally:
        if nextitem is not None:  # after the last test there is no test database any more
            with unblock():
                audit_guard.install(connection)
                key_ring.ring(fresh=True)


@pytest.fixture(autouse=True)
def _guarded(request: pytest.FixtureRequest) -> None:
    """Note that this test empties the tables of the test database, which is there from here on."""
    marker = request.node.get_closest_marker("django_db")
    fixtures = {"transactional_db", "live_server"} & set(request.fixturenames)
    if fixtures or (marker and marker.kwargs.get("transaction")):
        request.getfixturevalue("django_db_setup")
        request.node.stash[GUARDED] = True


@pytest.fixture(autouse=True)
def _clean_slate(request: pytest.FixtureRequest) -> Iterator[None]:
    """No test sees another one's session memory or queued messages."""
    marked = request.node.get_closest_marker("django_db")
    if not (marked or {"db", "transactional_db"} & set(request.fixturenames)):
        yield
        return
    if not marked:
        request.getfixturevalue("db")
    from django.core.cache import cache

    from tests.support.tasks import purge

    cache.clear()
    purge()
    yield


@pytest.fixture(scope="session")
def _stand_ins() -> Iterator[StandIns]:
    servers = StandIns()
    yield servers
    servers.stop()


@pytest.fixture
def stand_ins(_stand_ins: StandIns, settings: Settings) -> Iterator[StandIns]:
    """REDCap, Dify, LLM and WeCom over real HTTP; the settings point at them."""
    _stand_ins.reset()
    settings.SIM_PORT = _stand_ins.port
    settings.WECOM_API_BASE = f"{_stand_ins.url}/wecom/cgi-bin"
    settings.LLM_BASE_URL = f"{_stand_ins.url}/llm/v1"
    yield _stand_ins
    # Whatever a test is about: no prompt of the suite holds what identifies a subject, or genes.
    assert told_to_models(_stand_ins.requests("llm")) == []


@pytest.fixture
def study(db: None, stand_ins: StandIns) -> Any:
    """The demo study with zhangyi (PI), wanghushi (CRC site_a), crc_b (CRC site_b), admin."""
    from tests.support.study import seed_study

    return seed_study(stand_ins)

"""`kill -9` of a real worker loses no task (design.md 3; issue 2, "Must show" 6)."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from django.conf import settings

from tests.house.kit import until

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
TASKS = 60
# Of broker_app, which starts Django anew when it is imported.
HOLD, HELD_FROM = "hold", 40
# Bounds a test that would never end; nothing is said about speed.
PATIENCE_S = 900


class House:
    """A database and a broker of their own, and workers that can be killed."""

    def __init__(self, var: Path, redis_url: str) -> None:
        self.var = var
        self.env = {
            **os.environ,
            "VAR_DIR": str(var),
            "DATABASE_URL": "",
            "REDIS_URL": redis_url,
            "DEBUG": "1",
            "PYTHONWARNINGS": "ignore",
        }
        self.workers: list[subprocess.Popen[bytes]] = []

    def python(self, *arguments: str) -> None:
        subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, env=self.env, check=True, timeout=120
        )

    def start(self, pool: str) -> None:
        command = ["-m", "celery", "-q", "-A", "tests.house.broker_app", "worker", "--pool", pool]
        options = [
            "--concurrency",
            "2",
            "--without-gossip",
            "--without-mingle",
            "-Q",
            "broker-test",
            "--loglevel",
            "error",
        ]
        self.workers.append(
            subprocess.Popen(
                [sys.executable, *command, *options], cwd=ROOT, env=self.env, start_new_session=True
            )
        )

    def kill(self) -> None:
        for worker in self.workers:
            if worker.poll() is None:
                os.killpg(worker.pid, signal.SIGKILL)
                worker.wait(30)

    def ask(self, query: str) -> int:
        with closing(sqlite3.connect(self.var / "iit.sqlite3", timeout=30)) as database:
            return int(database.execute(query).fetchone()[0])

    def done(self) -> int:
        return self.ask("SELECT count(*) FROM iit_heartbeats WHERE name LIKE 'task %'")

    def waiting(self) -> int:
        return self.ask("SELECT count(*) FROM iit_broker_messages WHERE queue = 'broker-test'")


@pytest.fixture(params=["embedded", "redis"])
def house(request: pytest.FixtureRequest, migrated: Path) -> Iterator[House]:
    redis_url = settings.REDIS_URL if request.param == "redis" else ""
    if request.param == "redis" and not redis_url:
        pytest.skip("NOT RUN: Redis (set REDIS_URL)")
    house = House(migrated, redis_url)
    yield house
    house.kill()


@pytest.mark.parametrize("pool", ["prefork", "threads"])
def test_a_killed_worker_loses_nothing(house: House, pool: str) -> None:
    house.python("-m", "tests.house.broker_app", str(TASKS))
    hold = house.var / HOLD
    hold.touch()
    house.start(pool)
    until(lambda: house.done() == HELD_FROM, PATIENCE_S)
    house.kill()
    hold.unlink()
    house.start(pool)
    until(lambda: house.waiting() == 0, PATIENCE_S)
    until(lambda: house.done() == TASKS, PATIENCE_S)

"""A house comes back from its backup: the same rows and answers, an unbroken chain, nothing sent twice."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import secrets
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from django.db import connection

from demo.own_house import free_port
from iit_manager import env
from projects import backup
from tests.support.database import template
from tests.upgrade.dump import KEYS

ROOT = Path(__file__).resolve().parents[2]
URL = os.environ.get("DATABASE_URL", "")
OTHER_KEYS = base64.b64encode(secrets.token_bytes(32)).decode()
SEED = """
from django.utils.timezone import now
from projects.models import Project
from projects import audit, audit_anchors
from core.house.db import atomic
from wechat.outbound import outbox
with atomic():
    study = Project.objects.create(code="KEPT", name="一项研究", redcap_token="sealed-token",
                                   start_date=now().date())
    audit.record("project.create", actor="system", project=study)
audit_anchors.take()
with atomic():
    audit.record("project.change", actor="system", project=study)
outbox.enqueue_text(to_user="someone", project=None, content="waits", key="w1")
"""
LOOK = """
import json
from projects.models import Project, AuditEntry
from wechat.models import OutboxMessage
print(json.dumps({
    "codes": sorted(Project.objects.values_list("code", flat=True)),
    "tokens": sorted(one.redcap_token for one in Project.objects.all()),
    "actions": list(AuditEntry.objects.order_by("pk").values_list("action", flat=True)),
    "waiting": list(OutboxMessage.objects.values_list("status", flat=True)),
}))
"""
pytestmark = [pytest.mark.database, pytest.mark.slow]


class House:
    """A house with a database of its own on the server that the suite runs on, worked by commands alone."""

    def __init__(self, var: Path, url: str) -> None:
        var.mkdir()
        self.var = var
        self.env = os.environ | {"VAR_DIR": str(var), "DEBUG": "1", "FIELD_ENCRYPTION_KEYS": KEYS}
        self.env |= {"DATABASE_URL": url, "REDIS_URL": "", "AUDIT_ANCHORS": ""}

    def run(self, *command: str, code: int = 0, **more: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *command],
            cwd=ROOT,
            env=self.env | more,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def migrate(self) -> None:
        if not self.env["DATABASE_URL"]:
            shutil.copyfile(template(), self.var / "iit.sqlite3")
            return
        for task in ("migrate", "createcachetable"):
            self.run(task, "--verbosity", "0")

    def look(self) -> dict[str, list[str]]:
        told = self.run("shell", "--verbosity", "0", "-c", LOOK)
        found: dict[str, list[str]] = json.loads(told.strip().splitlines()[-1])
        return found


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[list[House]]:
    """Two houses without tables: the one that is lost and the one it comes back in."""
    if connection.vendor == "sqlite":
        yield [House(tmp_path / name, "") for name in ("old", "new")]
        return
    import psycopg

    names = [f"backup_{uuid4().hex[:12]}" for _ in range(2)]
    with closing(psycopg.connect(URL, autocommit=True)) as server:
        for name in names:
            server.execute(f"CREATE DATABASE {name}")
        urls = [urlsplit(URL)._replace(path=f"/{name}").geturl() for name in names]
        yield [House(tmp_path / f"var{n}", url) for n, url in enumerate(urls)]
        for name in names:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def houses(empty: list[House], db: None) -> list[House]:
    """The first holds a study, its audit trail and a message that waits."""
    empty[0].migrate()
    empty[0].run("shell", "--verbosity", "0", "-c", SEED)
    return empty


def test_a_lost_house_comes_back_with_an_unbroken_chain(
    houses: list[House], tmp_path: Path
) -> None:
    old, new = houses
    keys = tmp_path / "keys" / "keys.env"
    keys.parent.mkdir()
    archive = tmp_path / "backup.tar.gz"
    old.run("backup", str(archive), "--keys", str(keys))
    assert archive.stat().st_mode & 0o077 == keys.stat().st_mode & 0o077 == 0
    assert KEYS in keys.read_text("utf-8")
    with tarfile.open(archive) as opened:
        for name in opened.getnames():
            content = opened.extractfile(name)
            assert content
            assert KEYS.encode() not in content.read()

    told = new.run("restore", str(archive))
    assert "The audit chain holds" in told
    before, after = old.look(), new.look()
    assert after["codes"] == before["codes"]
    assert after["tokens"] == before["tokens"] == ["sealed-token"]
    assert after["actions"] == [*before["actions"], "house.restore"]
    assert (before["waiting"], after["waiting"]) == (["pending"], ["withdrawn"])
    assert new.run("audit", "verify").startswith("ok")
    new.run("migrate", "--check")


def test_a_house_that_only_moves_still_sends_what_waited(
    houses: list[House], tmp_path: Path
) -> None:
    old, new = houses
    archive = tmp_path / "backup.tar.gz"
    old.run("backup", str(archive))
    new.migrate()
    new.run("restore", str(archive), code=1)
    new.run("restore", str(archive), "--replace", "--moved")
    assert new.look()["waiting"] == ["pending"]


def test_what_is_wrong_is_known_before_anything_is_changed(
    houses: list[House], tmp_path: Path
) -> None:
    old, new = houses
    archive = tmp_path / "backup.tar.gz"
    old.run("backup", str(archive))
    assert "is there already" in old.run("backup", str(archive), code=1)
    keys, other = tmp_path / "keys" / "keys.env", tmp_path / "other.tar.gz"
    keys.parent.mkdir()
    keys.write_text("of another day")
    assert "is there already" in old.run("backup", str(other), "--keys", str(keys), code=1)
    assert not other.exists()
    (tmp_path / "same").symlink_to(tmp_path)
    old.run("backup", str(other), "--keys", str(tmp_path / "same" / "k"), code=1)
    assert "FIELD_ENCRYPTION_KEYS" in new.run(
        "restore", str(archive), code=1, FIELD_ENCRYPTION_KEYS=OTHER_KEYS
    )
    nowhere = str(tmp_path / "nowhere" / "anchors.jsonl")
    before = old.look()
    told = old.run("restore", str(archive), "--replace", code=1, AUDIT_ANCHORS=nowhere)
    assert "anchors cannot be written" in told
    assert old.look() == before
    damaged = tmp_path / "damaged.tar.gz"
    content = bytearray(archive.read_bytes())
    content[len(content) // 2] ^= 0xFF
    damaged.write_bytes(bytes(content))
    old.run("restore", str(damaged), "--replace", code=1)
    damaged.write_bytes(archive.read_bytes()[:-2000])
    old.run("restore", str(damaged), "--check", code=1)
    old.run("restore", str(damaged), "--replace", code=1)
    alive = "from core.house import heartbeat; heartbeat.note('{}')"
    for name in ("worker", "wecom_socket"):
        old.run("shell", "--verbosity", "0", "-c", alive.format(name))
        assert name in old.run("restore", str(archive), "--replace", code=1)
        gone = "from core.house.models import Heartbeat; Heartbeat.objects.all().delete()"
        old.run("shell", "--verbosity", "0", "-c", gone)
    assert old.look() == before


def test_a_house_whose_web_is_connected_is_not_restored(
    houses: list[House], tmp_path: Path
) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("NOT RUN: SQLite knows no clients (set DATABASE_URL)")
    import psycopg

    old, _new = houses
    archive = tmp_path / "backup.tar.gz"
    old.run("backup", str(archive))
    with closing(psycopg.connect(old.env["DATABASE_URL"], application_name="the web")):
        assert "the web" in old.run("restore", str(archive), "--replace", code=1)
    old.run("restore", str(archive), "--replace")


def test_keys_of_a_half_done_rotation_are_all_needed(houses: list[House], tmp_path: Path) -> None:
    """The first key opens what it sealed, but not the ring that the one before it has sealed."""
    old, new = houses
    archive, earlier = tmp_path / "backup.tar.gz", tmp_path / "earlier.tar.gz"
    both = f"{OTHER_KEYS},{KEYS}"
    old.run("backup", str(archive), FIELD_ENCRYPTION_KEYS=both)
    for some in (OTHER_KEYS, KEYS):
        for way in ([str(archive)], ["--check", str(archive)]):
            told = new.run("restore", *way, code=1, FIELD_ENCRYPTION_KEYS=some)
            assert "FIELD_ENCRYPTION_KEYS" in told
    new.run("restore", "--check", str(archive), FIELD_ENCRYPTION_KEYS=both)
    _without(archive, earlier, "ring", "canaries")
    new.run("restore", str(earlier), FIELD_ENCRYPTION_KEYS=both)
    assert new.run("audit", "verify", FIELD_ENCRYPTION_KEYS=both).startswith("ok")


def _contents(archive: Path) -> dict[str, bytes]:
    with tarfile.open(archive) as opened:
        files = {name: opened.extractfile(name) for name in opened.getnames()}
        return {name: file.read() for name, file in files.items() if file}


def _pack(archive: Path, files: dict[str, bytes], said: dict[str, Any]) -> None:
    """An archive of these files with this manifest."""
    with tarfile.open(archive, "w:gz") as made:
        for name, data in (files | {"manifest.json": json.dumps(said).encode()}).items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            made.addfile(entry, io.BytesIO(data))


def _without(archive: Path, copy: Path, *names: str) -> None:
    """An archive as it was made before its manifest said these."""
    files = _contents(archive)
    said = json.loads(files["manifest.json"])
    assert all(said.pop(name) for name in names)
    _pack(copy, files, said)


def test_a_setting_that_a_newer_pg_dump_writes_is_left_out(
    houses: list[House], tmp_path: Path
) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("NOT RUN: SQLite has no pg_dump (set DATABASE_URL)")
    old, new = houses
    archive, newer = tmp_path / "backup.tar.gz", tmp_path / "newer.tar.gz"
    old.run("backup", str(archive))
    files = _contents(archive)
    before = b"SET lock_timeout = 0;\n"
    assert before in files["database.sql"]
    added = before + b"SET no_such_timeout = 0;\n"
    files["database.sql"] = files["database.sql"].replace(before, added, 1)
    said = json.loads(files["manifest.json"])
    said["files"]["database.sql"] = hashlib.sha256(files["database.sql"]).hexdigest()
    _pack(newer, files, said)
    new.run("restore", str(newer))
    assert new.look()["codes"] == ["KEPT"]


def test_a_house_that_owns_its_database_alone_is_restored(
    houses: list[House], tmp_path: Path
) -> None:
    """On a server before PostgreSQL 15 `public` is its administrator's, whoever owns the database."""
    if connection.vendor == "sqlite":
        pytest.skip("NOT RUN: SQLite has no roles (set DATABASE_URL)")
    import psycopg

    old, new = houses
    archive, role = tmp_path / "backup.tar.gz", f"iit_{uuid4().hex[:12]}"
    old.run("backup", str(archive))
    there = urlsplit(new.env["DATABASE_URL"])
    place = there.netloc.rpartition("@")[2]
    new.env["DATABASE_URL"] = there._replace(netloc=f"{role}:secret@{place}").geturl()
    with closing(psycopg.connect(there.geturl(), autocommit=True)) as server:
        server.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'secret'")
        server.execute("ALTER SCHEMA public OWNER TO CURRENT_USER")
        server.execute(f"GRANT ALL ON SCHEMA public TO {role}")
    try:
        assert "ALTER SCHEMA" in new.run("restore", str(archive), code=1)
        with closing(psycopg.connect(there.geturl(), autocommit=True)) as server:
            server.execute(f"ALTER SCHEMA public OWNER TO {role}")
        assert "GRANT CREATE" in new.run("restore", str(archive), code=1)
        with closing(psycopg.connect(there.geturl(), autocommit=True)) as server:
            server.execute(f"ALTER DATABASE {there.path[1:]} OWNER TO {role}")
        new.run("restore", str(archive))
        new.run("restore", str(archive), "--replace")
        assert new.look()["codes"] == ["KEPT"]
    finally:
        with closing(psycopg.connect(there.geturl(), autocommit=True)) as server:
            server.execute(f"REASSIGN OWNED BY {role} TO CURRENT_USER")
            server.execute(f"DROP OWNED BY {role}")
            server.execute(f"DROP ROLE {role}")


def test_a_cache_that_is_away_is_known_before_anything_is_changed(
    houses: list[House], tmp_path: Path
) -> None:
    old, _new = houses
    archive = tmp_path / "backup.tar.gz"
    old.run("backup", str(archive))
    before, nobody = old.look(), f"redis://127.0.0.1:{free_port()}/0"
    told = old.run("restore", str(archive), "--replace", code=1, REDIS_URL=nobody)
    assert "Redis cannot be reached" in told
    assert old.look() == before


def test_the_database_s_tools_reach_it_as_the_house_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = "sslmode=verify-full&sslrootcert=/ca.pem&sslcert=/iit.pem&sslkey=/iit.key&keepalives=1"
    url = f"postgresql://iit:s%20t@db.example:5433/house?{told}"
    with monkeypatch.context() as patched:
        for name, value in env.database(url, tmp_path).items():
            patched.setitem(connection.settings_dict, name, value)
        backup.run_tool(["sh", "-c", f"env > {tmp_path}/env"])
    lines = (tmp_path / "env").read_text("utf-8").splitlines()
    assert {
        "PGDATABASE=house",
        "PGUSER=iit",
        "PGPASSWORD=s t",
        "PGHOST=db.example",
        "PGPORT=5433",
        "PGSSLMODE=verify-full",
        "PGSSLROOTCERT=/ca.pem",
        "PGSSLCERT=/iit.pem",
        "PGSSLKEY=/iit.key",
    } <= {*lines}


HALF = """
from pathlib import Path
from django.db import DatabaseError
from projects import restoring, signals
def fail(**_):
    raise DatabaseError("no room is left")
signals.house_restored.connect(fail)
try:
    restoring.restore(Path({!r}), replace=True)
except restoring.RestoreUnfinished as error:
    print("unfinished:", error)
"""


def test_no_process_starts_on_half_a_restore(houses: list[House], tmp_path: Path) -> None:
    old, new = houses
    archive = tmp_path / "backup.tar.gz"
    old.run("backup", str(archive))
    new.migrate()
    told = new.run("shell", "--verbosity", "0", "-c", HALF.format(str(archive)))
    assert "unfinished: " in told
    assert "no room is left" in told
    assert new.look()["waiting"] == ["pending"]
    assert "iit.E011" in new.run("check", code=1)
    new.run("restore", str(archive), "--replace")
    assert new.look()["waiting"] == ["withdrawn"]
    new.run("check")
    assert new.run("audit", "verify").startswith("ok")

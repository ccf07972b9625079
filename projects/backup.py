"""The house in one file (docs/operating/backup.md); `projects.restoring` makes the house again of it.

The archive holds the database, the audit anchors and a manifest with checksums, all of one moment. The keys
are never in it: `manage.py backup --keys` writes them to a file of their own. What is sealed stays sealed.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import sqlite3
import subprocess
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils.timezone import now
from psycopg.pq import Conninfo

from core.house import crypto, key_ring
from core.house.db import atomic
from core.house.models import Heartbeat, SealedKeys
from projects import audit_anchors

FORMAT = 1
MANIFEST, ANCHORS = "manifest.json", "audit-anchors.jsonl"
DATABASE = {"sqlite": "database.sqlite3", "postgresql": "database.sql"}
CANARY = "backup"
_RINGS = SealedKeys._meta.db_table
_RING = f"SELECT value FROM {_RINGS} WHERE name = {{}}"  # noqa: S608
ALIVE = timedelta(seconds=60)
"""A process whose sign of life is younger than this still runs (beat gives one each 15 s)."""
_CHUNK = 1024 * 1024
_UNREADABLE = (KeyError, OSError, EOFError, zlib.error, tarfile.TarError)


class BackupError(Exception):
    """Why a backup or a restore was not done; nothing was changed."""


@dataclass(frozen=True)
class Manifest:
    """What an archive says of itself.

    `tables`: rows of each; `files`: SHA-256 of each; `canary`: sealed with the first key; `canaries`: with each
    of the others; `ring`: the sealed keys behind digests and signatures, as the database holds them (an archive
    of before has neither); `running`: whether processes of the house were alive when it was made.
    """

    engine: str
    made_at: str
    version: str
    canary: str
    running: bool
    tables: dict[str, int]
    migrations: list[str]
    files: dict[str, str] = field(default_factory=dict)
    canaries: list[str] = field(default_factory=list)
    ring: str = ""
    format: int = FORMAT


def back_up(path: Path) -> Manifest:
    """Write the archive `path` (mode 0600), whole or not at all, while the house runs.

    Raises BackupError where the file is there already or the database's own tool is missing or fails.
    """
    if path.exists():
        raise BackupError(f"{path} is there already")
    with beside(path.parent) as folder:
        manifest = _snapshot(folder)
        files = {one.name: _digest(one) for one in sorted(folder.iterdir())}
        manifest = Manifest(**asdict(manifest) | {"files": files})
        part = path.with_name(f".{path.name}.part")
        with suppress(FileNotFoundError):
            part.unlink()
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            _pack(file, manifest, folder)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    return manifest


def read_manifest(path: Path) -> Manifest:
    """What an archive says of itself. Raises BackupError where it is none or of a later format."""
    try:
        with tarfile.open(path) as archive:
            content = archive.extractfile(MANIFEST)
            found = json.load(content) if content else {}
        if found.get("format") != FORMAT:
            raise BackupError(f"{path}: not an archive of this format")
        return Manifest(**found)
    except (*_UNREADABLE, ValueError, TypeError) as error:
        raise BackupError(f"{path}: not a whole archive ({error})") from error


def check_keys(manifest: Manifest, path: Path) -> None:
    """Whether the configured keys open all that the keys of an archive have sealed. Raises BackupError."""
    for sealed in filter(None, (manifest.canary, *manifest.canaries, manifest.ring)):
        try:
            crypto.decrypt(sealed)
        except (crypto.DecryptionError, ImproperlyConfigured) as error:
            raise BackupError(
                f"FIELD_ENCRYPTION_KEYS are not those that {path} was made with: all of them are needed"
            ) from error


def check_archive(path: Path) -> Manifest:
    """Read all of an archive, try its keys and compare its checksums. Raises BackupError."""
    manifest = read_manifest(path)
    check_keys(manifest, path)
    with beside(Path(settings.VAR_DIR)) as folder:
        unpack(path, manifest, folder)
    return manifest


def alive(tables: list[str]) -> list[str]:
    """The processes that have given a sign of life: worker, beat, the long connection; the web gives none."""
    if Heartbeat._meta.db_table not in tables:
        return []
    rows = Heartbeat.objects.filter(at__gt=now() - ALIVE)
    return [*rows.order_by("name").values_list("name", flat=True)]


def _snapshot(folder: Path) -> Manifest:
    """Database and anchors of one moment in `folder`: no anchor is written while it is fixed."""
    with audit_anchors.held() as anchors:
        shutil.copyfile(anchors, folder / ANCHORS)
        return _DUMP[connection.vendor](folder / DATABASE[connection.vendor])


def _manifest(tables: Mapping[str, int], ring: str) -> Manifest:
    applied = MigrationRecorder(connection).applied_migrations()
    return Manifest(
        engine=connection.vendor,
        made_at=now().isoformat(timespec="seconds"),
        version=settings.VERSION,
        canary=crypto.encrypt(CANARY),
        canaries=[crypto.encrypt(CANARY, place) for place in range(1, len(crypto.keys()))],
        ring=ring,
        running=bool(alive(connection.introspection.table_names())),
        tables=dict(tables),
        migrations=sorted(f"{app}.{name}" for app, name in applied),
    )


def _counts() -> dict[str, int]:
    """Rows of each table, as the open transaction sees them."""
    found = {}
    with connection.cursor() as cursor:
        for name in sorted(connection.introspection.table_names(cursor)):
            # Tables without a model too: those of partitions, the cache, migrations.
            cursor.execute(f"SELECT COUNT(*) FROM {connection.ops.quote_name(name)}")  # noqa: S608
            found[name] = cursor.fetchone()[0]
    return found


def _dump_sqlite(target: Path) -> Manifest:
    listed = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    source = connection.settings_dict["NAME"]
    with closing(sqlite3.connect(source)) as live, closing(sqlite3.connect(target)) as copy:
        live.backup(copy)
        names = sorted(name for (name,) in copy.execute(listed))
        rows = {name: f'SELECT COUNT(*) FROM "{name}"' for name in names}  # noqa: S608
        counts = {name: copy.execute(count).fetchone()[0] for name, count in rows.items()}
        sealed = copy.execute(_RING.format("?"), [key_ring.NAME]) if _RINGS in counts else ()
        rings = [value for (value,) in sealed]
    return _manifest(counts, "".join(rings))


def _dump_postgresql(target: Path) -> Manifest:
    """pg_dump of the very snapshot that the rows are counted in."""
    with atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        cursor.execute("SELECT pg_export_snapshot(), current_schema()")
        snapshot, schema = cursor.fetchone()
        counts, ring = _counts(), ""
        if _RINGS in counts:
            cursor.execute(_RING.format("%s"), [key_ring.NAME])
            ring = "".join(value for (value,) in cursor.fetchall())
        manifest = _manifest(counts, ring)
        command = ["pg_dump", "--format=plain", "--no-owner", "--no-privileges"]
        command += [f"--snapshot={snapshot}", f"--schema={schema}", f"--file={target}"]
        run_tool(command)
    return manifest


_DUMP = {"sqlite": _dump_sqlite, "postgresql": _dump_postgresql}


def run_tool(command: list[str]) -> None:
    """A tool of PostgreSQL on this house's database, reached as the house reaches it. Raises BackupError.

    All is told by the environment: a password is in no argument.
    """
    told = connection.settings_dict
    names = {"PGDATABASE": "NAME", "PGUSER": "USER", "PGPASSWORD": "PASSWORD"}
    names |= {"PGHOST": "HOST", "PGPORT": "PORT"}
    given = {name: str(told[key]) for name, key in names.items() if told[key]}
    envvars = {
        one.keyword.decode(): one.envvar.decode() for one in Conninfo.get_defaults() if one.envvar
    }
    options = told["OPTIONS"].items()
    given |= {envvars[key]: str(value) for key, value in options if key in envvars}
    try:
        done = subprocess.run(  # noqa: S603  a fixed program; what is given is ours
            command, env=os.environ | given, capture_output=True, text=True
        )
    except FileNotFoundError as error:
        raise BackupError(
            f"{command[0]} is not on this machine: install PostgreSQL's client programs"
        ) from error
    if done.returncode:
        raise BackupError(f"{command[0]}: {done.stderr.strip()[-1000:]}")


@contextmanager
def beside(folder: Path) -> Iterator[Path]:
    """A private folder on the file system of `folder`; gone afterwards."""
    with tempfile.TemporaryDirectory(dir=folder, prefix=".iit-") as name:
        yield Path(name)


def _pack(file: IO[bytes], manifest: Manifest, folder: Path) -> None:
    with tarfile.open(fileobj=file, mode="w:gz", compresslevel=3) as archive:
        content = json.dumps(asdict(manifest), ensure_ascii=False, indent=1).encode()
        entry = tarfile.TarInfo(MANIFEST)
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
        for name in manifest.files:
            archive.add(folder / name, arcname=name)


def unpack(path: Path, manifest: Manifest, folder: Path) -> None:
    """The files that the manifest names, and no other, each as its checksum says. Raises BackupError."""
    with tarfile.open(path) as archive:
        for name, digest in manifest.files.items():
            if Path(name).name != name:
                raise BackupError(f"{path}: {name} is no file of an archive")
            try:
                content = archive.extractfile(name)
                with (folder / name).open("wb") as target:
                    shutil.copyfileobj(content or io.BytesIO(), target, _CHUNK)
            except _UNREADABLE as error:
                raise BackupError(f"{path}: {name} cannot be read ({error})") from error
            if _digest(folder / name) != digest:
                raise BackupError(f"{path}: {name} is not as it was when the archive was made")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def keys_text() -> str:
    """The settings without which nothing sealed is ever read again, as lines of `.env`."""
    names: dict[str, Any] = {
        "SECRET_KEY": settings.SECRET_KEY,
        "FIELD_ENCRYPTION_KEYS": ",".join(settings.FIELD_ENCRYPTION_KEYS),
    }
    return "".join(f"{name}={value}\n" for name, value in names.items())

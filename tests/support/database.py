"""A migrated SQLite database made once for a state of the migrations, and copied wherever one is needed."""

from __future__ import annotations

import ast
import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import django
from django.apps import apps

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".pytest_cache/d/databases"
MIGRATE = """
import django
django.setup()
from django.core.management import call_command
for task in ("migrate", "createcachetable"):
    call_command(task, verbosity=0)
"""


def template() -> Path:
    """The migrated database file for the migrations as they are, kept between runs."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{_digest()}.sqlite3"
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            _make(path)
    return path


def _make(path: Path) -> None:
    for old in path.parent.glob("*.sqlite3"):
        old.unlink()
    with tempfile.TemporaryDirectory(dir=path.parent) as var:
        env = {**os.environ, "VAR_DIR": var, "DEBUG": "1", "DATABASE_URL": "", "REDIS_URL": ""}
        env["DJANGO_SETTINGS_MODULE"] = "iit_manager.settings"
        subprocess.run([sys.executable, "-c", MIGRATE], cwd=ROOT, env=env, check=True, timeout=600)
        shutil.move(Path(var) / "iit.sqlite3", path)


def _digest() -> str:
    """Of all migrations of ours, of what they import of ours, and of the Django that runs them."""
    known = hashlib.sha256(django.__version__.encode())
    for source in sorted({*_migrations(), *_imported()}):
        known.update(source.read_bytes())
    return known.hexdigest()[:16]


def _migrations() -> Iterator[Path]:
    for app in apps.get_app_configs():
        if Path(app.path).is_relative_to(ROOT) and not _is_installed(Path(app.path)):
            yield from Path(app.path, "migrations").glob("*.py")


def _imported() -> Iterator[Path]:
    for migration in _migrations():
        for node in ast.walk(ast.parse(migration.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                spec = importlib.util.find_spec(name)
                origin = Path(spec.origin) if spec and spec.origin else None
                if origin and origin.is_relative_to(ROOT) and not _is_installed(origin):
                    yield origin


def _is_installed(path: Path) -> bool:
    return "site-packages" in path.parts

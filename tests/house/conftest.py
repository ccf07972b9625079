"""A migrated database for tests that start processes of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def _template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    var = tmp_path_factory.mktemp("template")
    env = {**os.environ, "VAR_DIR": str(var), "DEBUG": "1", "DATABASE_URL": "", "REDIS_URL": ""}
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(command, cwd=ROOT, env=env, check=True, timeout=240)
    return var / "iit.sqlite3"


@pytest.fixture
def migrated(_template: Path, tmp_path: Path) -> Path:
    """A `var/` with an empty database of its own."""
    shutil.copy(_template, tmp_path / "iit.sqlite3")
    return tmp_path

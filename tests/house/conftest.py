"""A migrated database for tests that start processes of their own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest


@pytest.fixture
def migrated(migrated_template: Path, tmp_path: Path) -> Path:
    """A `var/` with an empty database of its own."""
    shutil.copy(migrated_template, tmp_path / "iit.sqlite3")
    return tmp_path

"""The short form of `make chaos`: nothing lost, doubled or wrongly clean while everything fails in turn."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.chaos._house import binaries

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.kept
@pytest.mark.xdist_group("chaos")
@pytest.mark.skipif(binaries() is None, reason="NOT RUN: no PostgreSQL or Redis binaries")
def test_nothing_is_lost_doubled_or_wrongly_clean() -> None:
    command = [sys.executable, "-m", "tests.chaos"]
    env = os.environ | {"CHAOS_S": os.environ.get("CHAOS_S") or "20"}
    done = subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=1200, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    assert "chaos: held" in done.stdout

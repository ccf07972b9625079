"""A worker killed at every boundary of a run with all kinds of nodes (issue B, must show 2).

Enumerated, not sampled: the number of points grows with the code. On SQLite every point is tried; on
PostgreSQL, where a fresh database takes long, every STRIDE-th.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from tests.support.stand_ins import StandIns

STRIDE = 7

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("sop_crash")]


def test_killed_at_every_boundary(
    stand_ins: StandIns, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stride = STRIDE if os.environ.get("DATABASE_URL") else 1
    lines, code, log = _lab(stand_ins, tmp_path, stride)

    assert lines, log
    total = lines[0]["points"]
    points = [line for line in lines if "point" in line]
    with capsys.disabled():
        print(f"\n{total} points, {len(points)} tried: {lines[0]['kinds']}")
    assert [line for line in points if line["error"]] == []
    assert [line["point"] for line in points] == [*range(1, total + 1, stride)]
    assert lines[-1] == {"beyond": 0}, "the story has more boundaries than were counted"
    assert code == 0, log
    assert {"commit", "set_autocommit", "http", "INSERT", "UPDATE"} <= set(lines[0]["kinds"])


def _lab(servers: StandIns, var: Path, stride: int) -> tuple[list[dict[str, Any]], int, str]:
    env = os.environ | {
        "DEBUG": "1",
        "VAR_DIR": str(var),
        "SIM_PORT": str(servers.port),
        "LLM_BASE_URL": f"{servers.url}/llm/v1",
        "REDIS_URL": "",
        "LOG_LEVEL": "ERROR",
    }
    command = [sys.executable, "-m", "tests.engines.sop.crash_lab", str(stride)]
    done = subprocess.run(
        command, cwd=settings.BASE_DIR, env=env, capture_output=True, text=True, timeout=1800
    )
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return lines, done.returncode, done.stderr[-4000:]

"""Two processes drive the same run at once, again and again: one journal, no doubled finding or message."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from tests.support.stand_ins import StandIns

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("sop_crash")]
ROUNDS = 12


def test_two_workers_at_once(stand_ins: StandIns, tmp_path: Path) -> None:
    env = os.environ | {
        "DEBUG": "1",
        "VAR_DIR": str(tmp_path),
        "SIM_PORT": str(stand_ins.port),
        "LLM_BASE_URL": f"{stand_ins.url}/llm/v1",
        "REDIS_URL": "",
        "LOG_LEVEL": "ERROR",
    }
    command = [sys.executable, "-m", "tests.engines.sop.crash_lab", "two", str(ROUNDS)]
    done = subprocess.run(
        command, cwd=settings.BASE_DIR, env=env, capture_output=True, text=True, timeout=600
    )
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]

    assert [line["error"] for line in lines] == [""] * ROUNDS, done.stderr[-4000:]
    assert done.returncode == 0

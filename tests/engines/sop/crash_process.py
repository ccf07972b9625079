"""Starts the lab, which forks, as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from django.conf import settings

from tests.support.stand_ins import StandIns


def lab(
    servers: StandIns, var: Path, name: str, number: int
) -> tuple[list[dict[str, Any]], int, str]:
    """The lines of its report, its exit code, the end of its log."""
    env = os.environ | {
        "DEBUG": "1",
        "VAR_DIR": str(var),
        "SIM_PORT": str(servers.port),
        "LLM_BASE_URL": f"{servers.url}/llm/v1",
        "WECOM_API_BASE": f"{servers.url}/wecom/cgi-bin",
        "REDIS_URL": "",
        "LOG_LEVEL": "ERROR",
    }
    command = [sys.executable, "-m", "tests.engines.sop.crash_lab", name, str(number)]
    done = subprocess.run(
        command, cwd=settings.BASE_DIR, env=env, capture_output=True, text=True, timeout=1800
    )
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return lines, done.returncode, done.stderr[-4000:]

"""`make test`: the suite, and a last line for each half that ran or could not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys


def main(arguments: list[str]) -> int:
    """Run pytest; returns its exit code."""
    default = (
        ["-n", str(workers()), "--dist", "loadgroup", "--no-loadscope-reorder"]
        if not arguments
        else []
    )
    code = subprocess.call([sys.executable, "-m", "pytest", *default, *arguments])
    print("---")
    for line in halves():
        print(line)
    return code


def workers() -> int:
    """One more than there are cores, because tests wait for servers; Redis has databases for six."""
    return min((os.cpu_count() or 1) + 1, 6)


def halves() -> list[str]:
    """What this machine and environment let run."""
    database = "PostgreSQL" if os.environ.get("DATABASE_URL") else "SQLite"
    broker = "Redis" if os.environ.get("REDIS_URL") else "database broker"
    lines = [f"ran on: {database}, {broker}"]
    if not (os.environ.get("DATABASE_URL") and os.environ.get("REDIS_URL")):
        lines.append("NOT RUN: PostgreSQL and Redis (set DATABASE_URL and REDIS_URL)")
    if not (shutil.which("chromium") or shutil.which("google-chrome")):
        lines.append("NOT RUN: browser tests (no Chromium)")
    return lines


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

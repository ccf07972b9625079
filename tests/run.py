"""`make test` and `make test-all`: the suite in two tiers; the last lines say what ran and what did not.

usage: python -m tests.run quick|all|thin [pytest arguments]     thin: `all` as CI has time for it
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence

SERVERS = ("DATABASE_URL", "REDIS_URL")
# Modules compiled once are not compiled again by each process that a test starts.
COMPILED = {"PYTHONDONTWRITEBYTECODE": ""}
# Of each crash story one boundary, of each property few examples, of the pages every twelfth.
QUICK = {"CRASH_STRIDE": "100000", "EXAMPLES": "20", "PAGE_STRIDE": "12"}
THIN = {"CRASH_STRIDE": "120", "EXAMPLES": "20", "PERSON_STRIDE": "3", "CASE_STRIDE": "3"}
THIN |= {"PAGE_STRIDE": "3", "SERVER_STRIDE": "4"}
ON_SERVERS = ["--quick", "--servers", "--ignore=tests/console"]
THINNED = (
    "thinned: NOT RUN here what make test runs whole, so run both; each third case of a test with a"
    " database, each third person and page of a walk, each 120th crash boundary, 20 examples of a"
    " property; on the servers one case of each test that commits or is about the database, and of"
    " each fourth of the others, without the console's pages, whole houses and browsers."
    " make test-all runs all of it"
)


def main(arguments: Sequence[str]) -> int:
    """Run a tier; returns 0 where every half that could run passed."""
    tier, *rest = arguments
    if tier == "quick":
        print("make test: one case of everything; first results within a minute", flush=True)
        code = run("make test", ["--quick", *rest], QUICK | dict.fromkeys(SERVERS, ""))
        print(
            "make test-all adds: all cases, pages, persons and crash boundaries, whole houses, all"
        )
        print("browser journeys, and the same again on PostgreSQL and Redis")
        return code
    thin = THIN if tier == "thin" else {}
    servers = {name: os.environ.get(name, "") for name in SERVERS}
    beyond = ["--rest", *rest] if thin else rest
    codes = [run("embedded", beyond, thin | dict.fromkeys(SERVERS, ""))]
    if all(servers.values()):
        again = [*rest, *ON_SERVERS] if thin else rest
        codes.append(run("PostgreSQL and Redis", again, thin | servers))
    else:
        print("NOT RUN: PostgreSQL and Redis (no servers and no binaries)")
    if thin:
        print(THINNED)
    return max(codes)


def run(half: str, arguments: Sequence[str], environment: dict[str, str]) -> int:
    """One pytest run over all cores; prints how it ended and in which time."""
    began = time.monotonic()
    spread = ["-q", "-n", str(workers()), "--dist", "loadgroup", "--no-loadscope-reorder"]
    command = [sys.executable, "-m", "pytest", *spread, *arguments]
    code = subprocess.call(command, env=os.environ | COMPILED | environment)
    took = time.monotonic() - began
    print(f"--- {half}: {'FAILED' if code else 'passed'} in {took:.0f} s", flush=True)
    if not (shutil.which("chromium") or shutil.which("google-chrome")):
        print("NOT RUN: browser tests (no Chromium)")
    return code


def workers() -> int:
    """One more than there are cores, because tests wait for servers; Redis has databases for six."""
    return min((os.cpu_count() or 1) + 1, 6)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

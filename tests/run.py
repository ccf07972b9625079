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
from pathlib import Path
from platform import python_version
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element, SubElement

from defusedxml import ElementTree

from tests.support import database

VAR = Path(__file__).resolve().parents[1] / "var"
SERVERS = ("DATABASE_URL", "REDIS_URL")
# Modules compiled once are not compiled again by each process that a test starts.
COMPILED = {"PYTHONDONTWRITEBYTECODE": ""}
# Of each crash story one boundary, of each property few examples, of the pages every twelfth.
QUICK = {"CRASH_STRIDE": "100000", "EXAMPLES": "20", "PAGE_STRIDE": "12"}
THIN = {"CRASH_STRIDE": "240", "EXAMPLES": "20", "PERSON_STRIDE": "4", "CASE_STRIDE": "6"}
THIN |= {"PAGE_STRIDE": "4", "SERVER_STRIDE": "6", "LONG_STRIDE": "4"}
ON_SERVERS = ["--quick", "--servers", "--ignore=tests/console"]
THINNED = (
    "thinned: NOT RUN here what make test runs whole, so run both; each fourth long test (slow, browser,"
    " full), person and page of a walk, each sixth case of a test with a database (TIER_TURN=1, 2 or 3:"
    " others); each 240th crash boundary, 20 examples of a property; on the servers one case of each"
    " test that commits or is about the database, and of each sixth of the others, without the"
    " console's pages, whole houses and browsers. make test-all runs all of it"
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


def prepare() -> None:
    """In a fresh clone: compile the tests and migrate a database side by side, once and not in each process."""
    if any(database.FOLDER.glob("*.sqlite3")):
        return
    migrate = (
        "import django; django.setup(); from tests.support import database; database.template()"
    )
    environment = os.environ | COMPILED | {"DJANGO_SETTINGS_MODULE": "iit_manager.settings"}
    collect = [sys.executable, "-m", "pytest", "--collect-only", "-qq", "-p", "no:cacheprovider"]
    steps = [
        subprocess.Popen([sys.executable, "-c", migrate], env=environment),
        subprocess.Popen(collect, env=environment, stdout=subprocess.DEVNULL),
    ]
    for step in steps:
        step.wait()  # what fails here fails again below, and is told there


def run(half: str, arguments: Sequence[str], environment: dict[str, str]) -> int:
    """One pytest run over all cores; prints how it ended and in which time."""
    began = time.monotonic()
    prepare()
    spread = ["-q", "-n", str(workers()), "--dist", "loadgroup", "--no-loadscope-reorder"]
    told = VAR / f"junit-{half.replace(' ', '-').lower()}.xml"
    told.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", *spread, f"--junitxml={told}", *arguments]
    code = subprocess.call(command, env=os.environ | COMPILED | environment)
    took = time.monotonic() - began
    if told.is_file():
        say_of_what(told, arguments, environment)
    print(f"--- {half}: {'FAILED' if code else 'passed'} in {took:.0f} s", flush=True)
    if not (shutil.which("chromium") or shutil.which("google-chrome")):
        print("NOT RUN: browser tests (no Chromium)")
    return code


def say_of_what(told: Path, arguments: Sequence[str], environment: dict[str, str]) -> None:
    """Note in pytest's own file of results which commit was tested on which database (`make validation`)."""
    tree = ElementTree.parse(told)
    suite = tree.getroot().find("testsuite")
    about = {"commit": commit(), "versions": f"Python {python_version()}"}
    about["database"] = urlsplit(environment.get("DATABASE_URL", "")).scheme or "sqlite (embedded)"
    about["arguments"] = " ".join(arguments)
    properties = Element("properties")
    for name, value in about.items():
        SubElement(properties, "property", name=name, value=value)
    suite.insert(0, properties)
    tree.write(told, encoding="utf-8", xml_declaration=True)


def commit() -> str:
    """What is checked out, with a mark where files differ from it; "" where this is no clone."""
    git = ["git", "-C", str(VAR.parent)]
    try:
        head = subprocess.run(
            [*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True
        )
        differs = subprocess.run([*git, "status", "--porcelain"], capture_output=True, text=True)
    except FileNotFoundError:
        return ""
    return head.stdout.strip() + (" + changes" if differs.stdout.strip() else "")


def workers() -> int:
    """One more than there are cores, because tests wait for servers; Redis has databases for six."""
    return min((os.cpu_count() or 1) + 1, 6)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""`make api-fuzz SECONDS=300`: any request that the API's schema allows or forbids, as PI, CRC and ADMIN.

It starts a demo house of its own, and lets schemathesis make up requests for that long for each of the three.
What it must not find: a 5xx, a status, a kind of content or a body that the schema does not tell of.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from demo.own_house import ROOT, surroundings, wait

PEOPLE = {"zhangyi": "PI", "wanghushi": "CRC", "admin": "ADMIN"}
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "unsupported_method",
    "ignored_auth",
)
ANSWER_S = 60.0
"""An answer of the chat may take half of it (settings.CHAT_WAIT_S); what takes longer hangs."""


def main(seconds: str = "300") -> int:
    """Run it for each person and print what it said; 1 when it found something."""
    with tempfile.TemporaryDirectory() as folder, house(Path(folder)) as (url, logins):
        codes = [
            attack(url, logins[name]["api_token"], role, ["--max-time", seconds])
            for name, role in PEOPLE.items()
        ]
    return 1 if any(codes) else 0


def attack(url: str, token: str, role: str, limits: list[str]) -> int:
    """One run with a person's token; its exit code."""
    print(f"--- {role}", flush=True)
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "run", f"{url}/api/v1/schema/"),
        *("--header", f"Authorization: Token {token}", "--checks", ",".join(CHECKS)),
        *("--continue-on-failure", "--no-color", "--warnings", "off", *limits),
        *("--generation-database", "none", "--suppress-health-check", "all"),
        *("--request-timeout", str(ANSWER_S)),
    ]
    return subprocess.call(command, cwd=ROOT)


@contextmanager
def house(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """A demo house with ports, database and files of its own; yields its address and its logins."""
    environment = surroundings(folder)
    command = [sys.executable, "-m", "demo.supervisor"]
    with (folder / "house.log").open("w") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        try:
            url = f"http://127.0.0.1:{environment['PORT']}"
            wait(process, url, folder / "house.log")
            yield url, json.loads((folder / "run.json").read_text("utf-8"))["logins"]
        finally:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

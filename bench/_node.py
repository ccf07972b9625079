"""node's json-logic-engine, compiled, spoken to over a pipe; None where it can't be had."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FOLDER = HERE.parent / "var" / "bench-node"
PACKAGE = "json-logic-engine@5.0.7"
NAME = "node json-logic-engine 5.0.7, compiled"


class Node:
    """One node process with compiled rules and records; `seconds` times the next `size` of them."""

    def __init__(self, rules: list[Any], records: list[dict[str, Any]], size: int) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as data:
            json.dump({"rules": rules, "records": records, "size": size}, data)
            data.flush()
            self._process = subprocess.Popen(
                ["node", str(HERE / "node_peer.cjs"), str(FOLDER), data.name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            self._ask("ready")

    def _ask(self, what: str) -> Any:
        if not self._process.stdin or not self._process.stdout:
            raise OSError("node has no pipes")
        self._process.stdin.write(what + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def seconds(self) -> float:
        """Processor time of every rule on each of the next records."""
        return float(self._ask("time"))

    def answers(self) -> list[list[Any]]:
        """The values of every rule on every record."""
        found: list[list[Any]] = self._ask("answers")
        return found

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.communicate()


def start(rules: list[Any], records: list[dict[str, Any]], size: int) -> Node | None:
    """The peer, installed into `var/bench-node` where npm reaches its registry."""
    if not (shutil.which("node") and _is_installed()):
        return None
    return Node(rules, records, size)


def _is_installed() -> bool:
    package = FOLDER / "node_modules" / "json-logic-engine" / "package.json"
    if package.exists():
        return True
    npm = shutil.which("npm")
    if not npm:
        return False
    FOLDER.mkdir(parents=True, exist_ok=True)
    command = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(FOLDER), PACKAGE]
    try:
        subprocess.run(command, capture_output=True, timeout=120, check=True)
    except (subprocess.SubprocessError, OSError):
        return False
    return package.exists()

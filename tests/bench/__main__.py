"""`make bench`: one table, also `var/bench.json`; `BENCH=name` picks one module of this folder.

Each module runs in a process of its own: none sees the database or the garbage of another one.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
OUT = HERE.parents[1] / "var" / "bench.json"
COLUMNS = ("name", "ours", "peer", "ratio", "goal", "met")
ALONE = "--alone"
Row = dict[str, Any]


def main(names: list[str]) -> int:
    """Run the modules and print their rows; 1 when a goal was missed or a module broke."""
    known = sorted(p.stem for p in HERE.glob("[a-z]*.py") if "\ndef run()" in p.read_text("utf-8"))
    unknown = sorted({*names} - {*known})
    if unknown:
        print(f"no such benchmark: {', '.join(unknown)}; there are {', '.join(known)}")
        return 2
    rows = [row for name in names or known for row in _measure(name)]
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(rows, ensure_ascii=False, indent=1), "utf-8")
    print(table(rows))
    return 0 if all(row.get("met") in {True, "not measured", ""} for row in rows) else 1


def table(rows: list[Row]) -> str:
    """The rows under their headings, in columns."""
    cells = [[*COLUMNS], *([_text(row.get(column, "")) for column in COLUMNS] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = (" | ".join(map(str.ljust, line, widths)).rstrip() for line in cells)
    return "\n".join(lines)


def _text(value: object) -> str:
    return {True: "yes", False: "NO"}[value] if isinstance(value, bool) else str(value)


def _measure(name: str) -> list[Row]:
    print(f"{name} …", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "tests.bench", ALONE, name]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return [{"name": name, "ours": f"broke (exit {done.returncode})", "met": False}]
    rows: list[Row] = json.loads(done.stdout.splitlines()[-1])
    return rows


def _alone(name: str) -> int:
    # a benchmark that is stopped still drops its database
    signal.signal(signal.SIGTERM, lambda *_signal: sys.exit(143))
    print(json.dumps(import_module(f"tests.bench.{name}").run(), ensure_ascii=False))
    return 0


if __name__ == "__main__":
    arguments = sys.argv[1:]
    sys.exit(_alone(arguments[1]) if arguments[:1] == [ALONE] else main(arguments))

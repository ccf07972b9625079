"""`make bench`: one table, also `var/bench.json`; `BENCH=name` picks one module of this folder."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
OUT = HERE.parent / "var" / "bench.json"
COLUMNS = ("name", "ours", "peer", "ratio", "goal", "met")


def main(names: list[str]) -> int:
    """Run the modules and print their rows; 1 when a goal was missed."""
    chosen = names or sorted(p.stem for p in HERE.glob("[a-z]*.py"))
    rows: list[dict[str, Any]] = []
    for name in chosen:
        rows += import_module(f"bench.{name}").run()
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(rows, ensure_ascii=False, indent=1), "utf-8")
    print(" | ".join(COLUMNS))
    for row in rows:
        print(" | ".join(str(row.get(column, "")) for column in COLUMNS))
    return 0 if all(row.get("met") in {True, "not measured", ""} for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

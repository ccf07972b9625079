"""`make validation`: the pack of requirements, tests and their last results, to var/validation."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path

from core.house.spreadsheet import workbook
from tests.run import commit
from tests.validation import pack, requirements, results

VAR = requirements.ROOT / "var"


def main(var: Path = VAR, checked_out: str = "") -> int:
    """Write pack.html and pack.xlsx; returns 1 where a requirement has no test or one of its tests failed.

    Only runs of `checked_out` (blank: what is checked out here) count; those of other commits are shown.
    """
    promised, titles = requirements.read()
    runs = results.runs(var, checked_out or commit())
    told = pack.lines(promised, titles, runs)
    folder = var / "validation"
    folder.mkdir(parents=True, exist_ok=True)
    made_at = datetime.now().astimezone().isoformat(timespec="seconds")
    (folder / "pack.html").write_text(pack.page(told, titles, runs, made_at), encoding="utf-8")
    (folder / "pack.xlsx").write_bytes(workbook("验证 Validation", pack.HEADER, pack.rows(told)))
    bad = [line for line in told if line.verdict in ("no test", "failed")]
    for line in bad:
        print(f"{line.requirement.id} {line.verdict}: {line.requirement.en}")
    print(f"{len(told)} requirements, {len(bad)} without a test or failed: {folder / 'pack.html'}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

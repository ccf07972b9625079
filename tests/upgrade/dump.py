"""`DATABASE_URL=… python -m tests.upgrade.dump COMMIT`: keep a database as what a landed commit made.

At the commit, with KEYS as FIELD_ENCRYPTION_KEYS and the stand-ins up: `migrate`, `createcachetable`, `demo`,
`qc P002`, `ask --user zhangyi "P001 入组了吗?"`; once on SQLite (blank: VAR_DIR) and once on PostgreSQL.
"""

from __future__ import annotations

import gzip
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

KEYS = "bGFuZGVkLWxhbmRlZC1sYW5kZWQtbGFuZGVkLWxhbmQ="
FOLDER = Path(__file__).parent


def place(commit: str, vendor: str) -> Path:
    return FOLDER / "databases" / f"{commit}.{vendor}.sql.gz"


def postgresql(url: str) -> str:
    """As statements that a plain connection can run: psql's own commands are left out."""
    command = ["pg_dump", "--inserts", "--rows-per-insert=200", "--no-owner", url]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = (line for line in text.splitlines() if not line.startswith(("--", "\\")))
    return "\n".join(line for line in lines if line)


def sqlite(path: Path) -> str:
    with sqlite3.connect(path) as connection:
        return "\n".join(connection.iterdump())


def main(commit: str) -> None:
    if url := os.environ.get("DATABASE_URL"):
        target, text = place(commit, "postgresql"), postgresql(url)
    else:
        target, text = place(commit, "sqlite"), sqlite(Path(os.environ["VAR_DIR"]) / "iit.sqlite3")
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    main(sys.argv[1])

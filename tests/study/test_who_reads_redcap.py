"""Who reads subjects from REDCap: the query with its sync, the rules, and what shows visit windows."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("engines", "memory", "projects", "skills", "study", "wechat", "house", "iit_manager")
READS = {"read_record", "read_records", "list_records", "redcap_client"}

READERS = {
    "study/records.py": "the one export",
    "study/dictionary.py": "the dictionary, no subject",
    "study/roster.py": "the sync: who is in the study",
    "study/readings.py": "the sync: what is kept of them",
    "study/sync.py": "the sync: what has changed",
    "study/redcap_queries.py": "the sync: queries that REDCap asks itself, no subject",
    "study/setup/own.py": "the test of a connection that is being set up",
    "study/door.py": "the query",
    "engines/pages/checks.py": "the rules of a preview",
    "engines/sop/snapshot.py": "the rules of a run",
    "engines/sop/dry.py": "the rules of a trial run",
    "engines/sop/order_run.py": "whether a subject that is to be checked is there",
    "engines/management/commands/qc.py": "who is to be checked",
    "study/api.py": "windows of visits, by the rules of the plan",
    "study/management/commands/visit_window.py": "the same, as a command",
}


def reads(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom) and node.module in ("study.records", "study.client"):
        return any(name.name in READS for name in node.names)
    return (
        isinstance(node, ast.Attribute)
        and node.attr in READS
        and isinstance(node.value, ast.Name)
        and node.value.id == "records"
    )


def readers() -> Iterator[str]:
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            if any(map(reads, ast.walk(ast.parse(path.read_text(encoding="utf-8"))))):
                yield path.relative_to(ROOT).as_posix()


def test_nobody_else_does() -> None:
    assert set(readers()) == set(READERS)

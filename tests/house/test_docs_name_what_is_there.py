"""The documents name functions and modules; each of them is there, or a reader looks for it in vain."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from pkgutil import resolve_name

import pytest

from projects import audit

ROOT = Path(__file__).resolve().parents[2]
FEATURES = ROOT / "docs/features.md"
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
ROOMS = "core|iit_manager|engines|memory|projects|skills|study|wechat"
# What a page tells its reader to make is not there yet; its name says so.
TO_MAKE = re.compile(r"example", re.IGNORECASE)
PLACE = re.compile(r"`([\w/]+\.py):([\w.]+)`")
FILE = re.compile(r"`([\w/]+\.(?:py|json|html|toml|po|css|js))`")
DOTTED = re.compile(rf"`((?:{ROOMS})(?:\.\w+)+)(?:\([^`]*\))?`")


def defined(source: str) -> set[str]:
    """Functions, classes and names of a module; what is in a class behind its name and a dot."""
    found = set[str]()

    def visit(body: list[ast.stmt], before: str = "") -> None:
        for one in body:
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                found.add(f"{before}{one.name}")
            if isinstance(one, ast.ClassDef):
                visit(one.body, f"{one.name}.")
            targets = one.targets if isinstance(one, ast.Assign) else [getattr(one, "target", None)]
            found.update(f"{before}{t.id}" for t in targets if isinstance(t, ast.Name))

    visit(ast.parse(source).body)
    return found


def missing(text: str) -> list[str]:
    """What a page names that is not there."""
    lost = list[str]()
    for path, name in PLACE.findall(text):
        file = ROOT / path
        if not TO_MAKE.search(path + name) and not (
            file.is_file() and name in defined(file.read_text(encoding="utf-8"))
        ):
            lost.append(f"{path}:{name}")
    for path in FILE.findall(text):
        if "/" in path and not TO_MAKE.search(path) and not (ROOT / path).is_file():
            lost.append(path)
    return lost + [name for name in DOTTED.findall(text) if not _is_there(name)]


def _is_there(name: str) -> bool:
    if name in audit.actions():
        return True
    try:
        resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


def unheld(text: str) -> list[str]:
    """Rows of `docs/features.md` without a test, and the tests that are not there or hold none."""
    lost = list[str]()
    for row in re.findall(r"^\| (?!feature|page|-).*", text, re.MULTILINE):
        named = re.findall(r"`(tests/[\w/]+\.py)`", row)
        lost += [] if named else [row]
        lost += [path for path in named if not _holds_tests(ROOT / path)]
    return lost


def _holds_tests(file: Path) -> bool:
    return file.is_file() and "\ndef test_" in file.read_text(encoding="utf-8")


def test_each_feature_has_a_test() -> None:
    assert unheld(FEATURES.read_text(encoding="utf-8")) == []


def test_each_page_has_a_test() -> None:
    named = set(
        re.findall(r"^\| `(docs/[\w/.]+\.md)`", FEATURES.read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert named == {str(page.relative_to(ROOT)) for page in ROOT.glob("docs/**/*.md")} - {
        "docs/features.md"
    }


def test_a_feature_without_a_test_is_found() -> None:
    rows = "| a | `tests/no_such.py` |\n| b | none |\n| c | `tests/conftest.py` |\n"
    held = "| feature | test |\n|---|---|\n| d | `tests/house/test_keys.py` |\n"
    assert unheld(rows + held) == ["tests/no_such.py", "| b | none |", "tests/conftest.py"]


@pytest.mark.full
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_names_is_there(page: Path) -> None:
    assert missing(page.read_text(encoding="utf-8")) == []


def test_what_is_gone_is_found() -> None:
    gone = (
        "`core/house/db.py:no_such`, `core/house/nowhere.py:atomic`, `wechat/inbound/job.py:Job.no_such`,"
        " `core/house/nowhere.py`, `core.house.nowhere`, `core.house.db.no_such`, `core.house.db.no_such(…)`"
    )
    assert len(missing(gone)) == 7


def test_what_is_there_passes() -> None:
    there = (
        "`core/house/db.py:atomic`, `wechat/inbound/job.py:Job.finish`, `engines/hooks.py`,"
        " `core.house.db.atomic`, `study.door.ask_one(project, member, query)`, `models.py`,"
        " `engines/sop/chain.py:SAVED`, `engines/example.py`, `engines/example.py:answer`"
    )
    assert missing(there) == []


def test_the_roads_are_read() -> None:
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    assert len(PLACE.findall(text)) > 40

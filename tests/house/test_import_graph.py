"""The product's files: a graph without circles, nothing that only tests use, no long file, no worn-out name."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = (
    *("core", "projects", "study", "skills", "memory", "engines", "wechat", "iit_manager"),
    "demo",
)
ENTRIES = {
    "admin",
    "api",
    "apps",
    "asgi",
    "celery",
    "hooks",
    "models",
    "settings",
    "tasks",
    "urls",
    "wsgi",
}
"""Names that Django, celery or an installation look up by themselves."""
FOUND_BY_NAME = {
    "demo.simulators.__main__": "contracts.md, stand-ins: simulators.py at the top calls it",
    "core.house.paper.typeset": "a process of its own, with limits: core.house.paper.typesetting starts it",
    "study.protocol.files.worker": "a process of its own, with limits: study.protocol.files starts it",
}
LAZY = {"demo.stand_ins": "the supervisor reads it before Django is set up"}
"""Files that import within a function, each with its reason."""


@dataclass(frozen=True)
class Edge:
    """A file that another one imports; `is_lazy` within a function."""

    target: str
    is_lazy: bool


@cache
def modules() -> dict[str, Path]:
    found = {}
    for room in ROOMS:
        for path in (ROOT / room).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            if "migrations" not in parts:
                found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(tree: ast.AST, known: set[str], inside: bool = False) -> Iterator[Edge]:
    """What a file imports of ours, under TYPE_CHECKING as well."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for name in node.names:
                whole = f"{node.module}.{name.name}"
                if whole in known or node.module in known:
                    yield Edge(whole if whole in known else node.module, inside)
        elif isinstance(node, ast.Import):
            yield from (Edge(name.name, inside) for name in node.names if name.name in known)
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        yield from imports(node, known, inside or is_function)


@cache
def edges() -> dict[str, set[Edge]]:
    known = set(modules())
    return {
        name: {
            edge
            for edge in imports(ast.parse(path.read_text("utf-8")), known)
            if edge.target != name
        }
        for name, path in modules().items()
    }


def circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """The files that reach each other (Tarjan's strongly connected components of more than one)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[set[str]] = []

    def walk(name: str) -> None:
        order[name] = low[name] = len(order)
        stack.append(name)
        for other in graph.get(name, ()):
            if other not in order:
                walk(other)
            if other in stack:
                low[name] = min(low[name], low[other])
        if low[name] == order[name]:
            at = stack.index(name)
            found.append(set(stack[at:]))
            del stack[at:]

    for name in graph:
        if name not in order:
            walk(name)
    return [one for one in found if len(one) > 1]


def test_a_circle_is_seen() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [{"a", "b", "c"}]
    assert circles({"a": {"b"}, "b": {"c"}, "c": set()}) == []


@pytest.mark.full
def test_no_circle_of_files() -> None:
    """Imports within functions and for type hints count too."""
    assert circles({name: {e.target for e in found} for name, found in edges().items()}) == []


@pytest.mark.full
def test_lazy_imports_are_few_and_have_a_reason() -> None:
    lazy = {name for name, found in edges().items() if any(edge.is_lazy for edge in found)}
    assert lazy == set(LAZY)
    assert len(LAZY) <= 5


@pytest.mark.full
def test_nothing_is_there_for_tests_or_benches_alone() -> None:
    used = {edge.target for found in edges().values() for edge in found}
    used |= {name.rpartition(".")[0] for name in used}
    named = "\n".join(
        path.read_text("utf-8")
        for path in (
            *(ROOT / "iit_manager").glob("*.py"),
            ROOT / "pyproject.toml",
            ROOT / "Makefile",
            ROOT / "Procfile",
        )
    )
    alone = [
        name
        for name, path in modules().items()
        if name not in used
        and path.name != "__init__.py"
        and name.rpartition(".")[2] not in ENTRIES
        and "management.commands" not in name
        and "templatetags" not in name
        and name not in FOUND_BY_NAME
        and name not in named
    ]
    assert alone == []


@pytest.mark.full
def test_no_file_is_longer_than_600_lines() -> None:
    sizes = {name: len(path.read_text("utf-8").splitlines()) for name, path in modules().items()}
    assert {name: size for name, size in sizes.items() if size > 600} == {}


@pytest.mark.full
def test_a_function_that_is_imported_by_its_name_says_what_it_does() -> None:
    """A public name stands at the top of at most three files: a reader who sees only the call knows which."""
    places: dict[str, list[str]] = defaultdict(list)
    for name, path in modules().items():
        if name.startswith("demo."):
            continue
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                places[node.name].append(name)
    worn = {name: files for name, files in places.items() if len(files) > 3}
    assert {name: files for name, files in worn.items() if not name.startswith("_")} == {}

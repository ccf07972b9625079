"""Is this configuration a workflow? The editor, the API and every save ask here (issue B; decisions.md).

`skills` cannot know rules and tools: `engines` registers their checks when it is ready.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _
from jsonschema import Draft202012Validator

from projects.models import Project
from skills.graph import Graph, is_end
from skills.wording import told

MAX_BYTES = 512 * 1024
RuleCheck = Callable[[Project | None, list[dict[str, Any]]], Iterable[tuple[str, str]]]
_rule_checks: list[RuleCheck] = []
_tool_names: list[Callable[[], Iterable[str]]] = []


@dataclass(frozen=True)
class Problem:
    """What is wrong and where: `path` inside the configuration, `node` to paint red."""

    path: str
    message: str
    node: str = ""
    is_warning: bool = False


def register_rule_check(check: RuleCheck) -> None:
    """`check(project, rules)` yields (path, message) of rules that must not be saved: ("rules/0/field", …)."""
    _rule_checks.append(check)


def register_tool_names(names: Callable[[], Iterable[str]]) -> None:
    """`names()` lists the tools a soft instruction may name."""
    _tool_names.append(names)


@lru_cache(maxsize=1)
def schema() -> dict[str, Any]:
    """The JSON Schema of a configuration."""
    path = Path(__file__).with_name("sop.schema.json")
    content: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return content


def validate(config: object, project: Project | None = None) -> list[Problem]:
    """Everything wrong with `config`, warnings last; an empty list means: save it."""
    problems = list(_shape(config))
    if problems or not isinstance(config, dict):
        return problems
    graph = Graph.model_validate(config)
    problems += [*_ends(graph), *_targets(graph), *_rules(graph, project), *_tools(graph)]
    if not problems:
        problems += _endless(graph)
    problems += _unreachable(graph)
    return sorted(problems, key=lambda problem: problem.is_warning)


def _shape(config: object) -> Iterator[Problem]:
    try:
        size = len(json.dumps(config, ensure_ascii=False, allow_nan=False).encode())
        if size > MAX_BYTES:
            yield Problem("", _("The configuration is too large."))
            return
        errors = list(Draft202012Validator(schema()).iter_errors(config))
    except (RecursionError, TypeError, ValueError):
        yield Problem("", _("The configuration is nested too deeply or is not JSON."))
        return
    for error in errors[:50]:
        path = list(error.absolute_path)
        node = str(path[1]) if len(path) > 1 and path[0] == "nodes" else ""
        yield Problem(".".join(map(str, path)), told(error), node)


def _ends(graph: Graph) -> Iterator[Problem]:
    for key in graph.nodes:
        if is_end(key):
            yield Problem(f"nodes.{key}", _("“%s” names an end and cannot be a node.") % key, key)


def _targets(graph: Graph) -> Iterator[Problem]:
    if graph.start_node not in graph.nodes:
        yield Problem("start_node", _("There is no node “%s”.") % graph.start_node)
    for key, node in graph.nodes.items():
        for edge, target in node.edges().items():
            if not is_end(target) and target not in graph.nodes:
                message = _("%(edge)s leads to “%(target)s”, which does not exist.")
                values = {"edge": edge, "target": target}
                yield Problem(f"nodes.{key}.{edge}", message % values, key)


def rule_problems(
    project: Project | None, rules: list[dict[str, Any]]
) -> Iterator[tuple[str, str]]:
    """(path, message) of every rule of a list that must not be saved."""
    for check in _rule_checks:
        yield from check(project, rules)


def _rules(graph: Graph, project: Project | None) -> Iterator[Problem]:
    for key, node in graph.nodes.items():
        ids = [rule["id"] for rule in node.rules if "id" in rule]
        for doubled in sorted({rule for rule in ids if ids.count(rule) > 1}):
            yield Problem(f"nodes.{key}.rules", _("Two rules have the id “%s”.") % doubled, key)
        for path, message in rule_problems(project, node.rules):
            place = path.removeprefix("rules").strip("/").replace("/", ".")
            yield Problem(f"nodes.{key}.rules.{place}".rstrip("."), message, key)


def _tools(graph: Graph) -> Iterator[Problem]:
    known = {name for names in _tool_names for name in names()}
    for key, node in graph.nodes.items():
        for tool in node.tools:
            if known and tool not in known:
                yield Problem(f"nodes.{key}.tools", _("There is no tool “%s”.") % tool, key)


def _unreachable(graph: Graph) -> Iterator[Problem]:
    edges = {key: set(node.edges().values()) for key, node in graph.nodes.items()}
    for key in sorted(graph.nodes.keys() - _closure(graph.start_node, edges)):
        yield Problem(f"nodes.{key}", _("No path leads to “%s”.") % key, key, is_warning=True)


def _endless(graph: Graph) -> Iterator[Problem]:
    # A fault ends every run: a way to an end is one without `on_error`.
    edges = {
        key: {target for edge, target in node.edges().items() if edge != "on_error"}
        for key, node in graph.nodes.items()
    }
    for key in sorted(graph.nodes):
        if not any(is_end(target) for target in _closure(key, edges)):
            yield Problem(f"nodes.{key}", _("From “%s” no path leads to an end.") % key, key)


def _closure(start: str, edges: dict[str, set[str]]) -> set[str]:
    seen, queue = {start}, deque([start])
    while queue:
        for target in edges.get(queue.popleft(), ()):
            if target not in seen:
                seen.add(target)
                queue.append(target)
    return seen

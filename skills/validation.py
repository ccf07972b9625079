"""Is this configuration a workflow? The editor, the API and every save ask here (issue B; decisions.md).

`skills` cannot know tools: `engines` registers their names when it is ready.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.utils.translation import gettext as _
from pydantic import ValidationError

from projects.models import Project
from skills.graph import KINDS, Graph, is_end, misplaced
from skills.rule_check import check_rules
from skills.wording import error_text
from study.protocol.index import missing_sections

MAX_BYTES = 512 * 1024
_tool_names: list[Callable[[], Iterable[str]]] = []


@dataclass(frozen=True)
class Problem:
    """What is wrong and where: `path` inside the configuration, `node` to paint red."""

    path: str
    message: str
    node: str = ""
    is_warning: bool = False


def tool_names() -> list[str]:
    """The tools that a soft instruction may name."""
    return [name for names in _tool_names for name in names()]


def register_tool_names(names: Callable[[], Iterable[str]]) -> None:
    """`names()` lists the tools a soft instruction may name."""
    _tool_names.append(names)


def validate(config: object, project: Project | None = None) -> list[Problem]:
    """Everything wrong with `config`, warnings last; an empty list means: save it."""
    problems = list(_shape(config))
    if problems or not isinstance(config, dict):
        return problems
    graph = Graph.model_validate(config)
    problems += [*_ends(graph), *_targets(graph), *_rules(graph, project), *_tools(graph)]
    if all(problem.is_warning for problem in problems):
        problems += _endless(graph)
    problems += _unreachable(graph)
    problems += _not_found(graph, project) if project else ()
    return sorted(problems, key=lambda problem: problem.is_warning)


def _shape(config: object) -> Iterator[Problem]:
    try:
        size = len(json.dumps(config, ensure_ascii=False, allow_nan=False).encode())
    except (RecursionError, TypeError, ValueError):
        yield Problem("", _("The configuration is nested too deeply or is not JSON."))
        return
    if size > MAX_BYTES:
        yield Problem("", _("The configuration is too large."))
        return
    for error in islice(_errors(config), 50):
        path = [part for part in error["loc"] if part != "[key]"]
        node = str(path[1]) if len(path) > 1 and path[0] == "nodes" else ""
        # What is missing or unknown is told of what it is missing in.
        path = path[:-1] if error["type"] in {"missing", "extra_forbidden"} else path
        yield Problem(".".join(map(str, path)), error_text(error), node)


def _errors(config: object) -> Iterator[Mapping[str, Any]]:
    try:
        Graph.model_validate(config, strict=True, extra="forbid")
    except ValidationError as error:
        yield from error.errors(include_url=False, include_input=False)
    nodes = config.get("nodes") if isinstance(config, dict) else None
    for key, node in nodes.items() if isinstance(nodes, dict) else ():
        if isinstance(node, dict) and isinstance(node.get("type"), str) and node["type"] in KINDS:
            for name, kind in misplaced(node):
                yield {"type": kind, "loc": ("nodes", key, name)}


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


def _rules(graph: Graph, project: Project | None) -> Iterator[Problem]:
    for key, node in graph.nodes.items():
        ids = [rule["id"] for rule in node.rules if "id" in rule]
        for doubled in sorted({rule for rule in ids if ids.count(rule) > 1}):
            yield Problem(f"nodes.{key}.rules", _("Two rules have the id “%s”.") % doubled, key)
        for path, message, is_hint in check_rules(project, node.rules):
            place = path.removeprefix("rules").strip("/").replace("/", ".")
            yield Problem(f"nodes.{key}.rules.{place}".rstrip("."), message, key, is_hint)


def _tools(graph: Graph) -> Iterator[Problem]:
    known = tool_names()
    for key, node in graph.nodes.items():
        for tool in node.tools:
            if known and tool not in known:
                yield Problem(f"nodes.{key}.tools", _("There is no tool “%s”.") % tool, key)


def _unreachable(graph: Graph) -> Iterator[Problem]:
    edges = {key: set(node.edges().values()) for key, node in graph.nodes.items()}
    for key in sorted(graph.nodes.keys() - _closure(graph.start_node, edges)):
        yield Problem(f"nodes.{key}", _("No path leads to “%s”.") % key, key, is_warning=True)


def _not_found(graph: Graph, project: Project) -> Iterator[Problem]:
    """Sections that an amendment can never change: no document in force has them."""
    cited: list[tuple[str, str, str]] = []
    for key, node in graph.nodes.items():
        cited.append((key, f"nodes.{key}.section", node.section))
        for at, rule in enumerate(node.rules):
            cited.append((key, f"nodes.{key}.rules.{at}.section", str(rule.get("section") or "")))
    named = {section for _key, _path, section in cited if section}
    missing = missing_sections(project, named) if named else set()
    told = _("No document in force has a section %s; no amendment will flag this.")
    for key, path, section in cited:
        if section in missing:
            yield Problem(path, told % section, key, is_warning=True)


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

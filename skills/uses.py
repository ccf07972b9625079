"""Where the names of field mappings are used: the rules and nodes of which skills name them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from skills.models import Skill


@dataclass(frozen=True)
class Use:
    """A skill, and those of its rules (else nodes) that name something."""

    skill: Skill
    places: tuple[str, ...]


def of_studies(projects: Collection[UUID]) -> dict[tuple[UUID, str], list[Use]]:
    """{(study, name): uses} of every name in the skills of these studies; one statement."""
    found: dict[tuple[UUID, str], list[Use]] = defaultdict(list)
    for skill in Skill.objects.filter(project__in=projects).order_by("skill_type"):
        for name, places in _named(skill.config).items():
            found[skill.project_id, name].append(Use(skill, tuple(places)))
    return found


def _named(config: Any) -> dict[str, list[str]]:
    """{name: rules or nodes}; every text that stands alone counts, since each node type has its own fields."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    nodes = config.get("nodes") if isinstance(config, Mapping) else None
    for node_id, node in (nodes or {}).items() if isinstance(nodes or {}, Mapping) else ():
        rules = node.get("rules") if isinstance(node, Mapping) else None
        for rule in rules if isinstance(rules, list) else ():
            place = str(rule.get("id") or node_id) if isinstance(rule, Mapping) else node_id
            for text in _texts(rule):
                found[text][place] = None
        rest = {key: value for key, value in node.items() if key != "rules"} if rules else node
        for text in _texts(rest):
            found[text][node_id] = None
    return {name: list(places) for name, places in found.items()}


def _texts(root: Any) -> Iterator[str]:
    # Not recursive: a configuration may be nested deeper than Python calls.
    todo = [root]
    while todo:
        part = todo.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, Mapping):
            todo.extend(part.values())
        elif isinstance(part, list):
            todo.extend(part)

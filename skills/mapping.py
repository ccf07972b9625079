"""Names that people use, turned into REDCap fields (seed 002, 2.2; decisions.md, "rules name age")."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from core.house.request_cache import once_each
from projects.models import Project
from skills.models import FieldMapping


def aliases(project: Project) -> dict[str, str]:
    """{alias: actual} of a study."""

    def read(keys: Collection[UUID]) -> dict[UUID, dict[str, str]]:
        found: dict[UUID, dict[str, str]] = {key: {} for key in keys}
        rows = FieldMapping.objects.filter(project__in=keys)
        for key, alias, actual in rows.values_list("project_id", "alias_name", "actual_name"):
            found[key][alias] = actual
        return found

    return once_each("aliases", project.pk, read)


_VAR = "var"
_NAMES = frozenset({"missing", "missing_some"})
"""Operators whose strings are field names."""


def actual_rules(rules: list[dict[str, Any]], names: Mapping[str, str]) -> list[dict[str, Any]]:
    """The rules with every alias in `field` and wherever the logic names a field replaced by the field."""
    return [
        rule | {"field": _actual(rule["field"], names), "logic": _replace(rule["logic"], names)}
        for rule in rules
    ]


def _replace(root: Any, names: Mapping[str, str]) -> Any:
    # Not recursive: rules come from people and may be nested thousands deep before they are refused.
    result: list[Any] = [root]
    todo: list[tuple[Any, Any]] = [(result, 0)]
    while todo:
        holder, key = todo.pop()
        value = holder[key]
        if isinstance(value, dict):
            holder[key] = {k: _argument(k, v, names) for k, v in value.items()}
        elif isinstance(value, list):
            holder[key] = list(value)
        else:
            continue
        children = holder[key]
        keys = range(len(children)) if isinstance(children, list) else list(children)
        todo.extend((children, child) for child in keys)
    return result[0]


def _argument(operator: str, value: Any, names: Mapping[str, str]) -> Any:
    if operator == _VAR:
        return _variable(value, names)
    return _listed(value, names) if operator in _NAMES else value


def _listed(value: Any, names: Mapping[str, str]) -> Any:
    """`{"missing": ["a"]}`, `{"missing": "a"}` or `{"missing_some": [1, ["a"]]}`."""
    if not isinstance(value, list):
        return _actual(value, names)
    inner = (
        [_actual(item, names) for item in one] if isinstance(one, list) else one for one in value
    )
    return [_actual(one, names) for one in inner]


def _variable(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return _actual(value, names)
    if isinstance(value, list) and value and isinstance(value[0], str):
        return [_actual(value[0], names), *value[1:]]
    return value


def _actual(name: Any, names: Mapping[str, str]) -> Any:
    return names.get(name, name) if isinstance(name, str) else name

"""Whether a workflow's configuration names a blinded field: then what comes of it may tell an arm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from projects.models import Project
from study import registry
from study.blinding import veil
from study.blinding.closure import columns_of


def names_blinded(project: Project, config: Any) -> bool:
    """By its name, an export column of it or a mapped name, anywhere in the configuration."""
    found = veil.of_all(project)
    if found.metadata is None:
        return False
    names = columns_of(found.metadata, found.fields)
    mapped = {alias for alias, name in registry.aliases(project).items() if name in names}
    return not (names | mapped).isdisjoint(_texts(config))


def _texts(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        for value in part.values():
            yield from _texts(value)
    elif isinstance(part, list | tuple):
        for value in part:
            yield from _texts(value)

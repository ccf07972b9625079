"""What the query asks of higher rooms; each fills in its part when it is ready (design.md 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from projects.models import Member, Project

WorkRow = Mapping[str, Any]
Rows = Mapping[str, Sequence[WorkRow]]


class WorkSource(Protocol):
    """Findings, reviews or runs by subject that a member may see (None: the house itself)."""

    def __call__(self, project: Project, member: Member | None) -> Rows:
        """{record id: [{column: value}]}, dates and times as ISO text."""


Aliases = Callable[[Project], Mapping[str, str]]

_work: dict[str, WorkSource] = {}
_aliases: list[Aliases] = []


def register_work(kind: str, source: WorkSource) -> None:
    """`kind`: findings, reviews or runs."""
    _work[kind] = source


def register_aliases(source: Aliases) -> None:
    """The mapped names of `iit_field_mapping`."""
    _aliases[:] = [source]


def work_rows(kind: str, project: Project, member: Member | None) -> Rows:
    """The rows of a kind; {} where nobody keeps such rows."""
    source = _work.get(kind)
    return source(project, member) if source else {}


def aliases(project: Project) -> Mapping[str, str]:
    """{alias: field}."""
    return _aliases[0](project) if _aliases else {}

"""What query and pages of a study ask of higher rooms; each fills in its part when it is ready."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

from projects.models import Member, Project
from projects.scoping import User

WorkRow = Mapping[str, Any]
Rows = Mapping[str, Sequence[WorkRow]]


class WorkSource(Protocol):
    """Findings, reviews or runs by subject that a member may see (None: `user`, else the house itself)."""

    def __call__(self, project: Project, member: Member | None, user: User | None = None) -> Rows:
        """{record id: [{column: value}]}, dates and times as ISO text."""


Aliases = Callable[[Project], Mapping[str, str]]
Flags = Callable[[Collection[Project], Any], Sequence[tuple[Any, Any]]]
"""(studies, the row of a page or None for a list) -> (document, what its new version touches) to be checked."""
Serious = Callable[[Project], tuple[str, str]]
"""The field that says that an event is serious, and its code for it; "" where nothing was set."""

_work: dict[str, WorkSource] = {}
_aliases: list[Aliases] = []
_flags: list[Flags] = []
_serious: list[Serious] = []


def register_work(kind: str, source: WorkSource) -> None:
    """`kind`: findings, reviews or runs."""
    _work[kind] = source


def register_aliases(source: Aliases) -> None:
    """The mapped names of `iit_field_mapping`."""
    _aliases[:] = [source]


def register_flags(source: Flags) -> None:
    """What a new version of a document touches, where it stands on a page."""
    _flags[:] = [source]


def register_serious(source: Serious) -> None:
    """What the settings of serious events say."""
    _serious[:] = [source]


def serious(project: Project) -> tuple[str, str]:
    """The field and the code of serious events as they were set; "" where nothing was."""
    return _serious[0](project) if _serious else ("", "")


def flags(projects: Collection[Project], row: Any) -> Sequence[tuple[Any, Any]]:
    """What on the page of `row`, or on a list, nobody has checked since a document's new version."""
    return _flags[0](projects, row) if _flags else ()


def work_rows(kind: str, project: Project, member: Member | None, user: User | None = None) -> Rows:
    """The rows of a kind; {} where nobody keeps such rows."""
    source = _work.get(kind)
    return source(project, member, user) if source else {}


def aliases(project: Project) -> Mapping[str, str]:
    """{alias: field}."""
    return _aliases[0](project) if _aliases else {}

"""What is written freely in a study: the names of events and drugs, histories and reasons, as last read."""

from __future__ import annotations

from collections.abc import Mapping

from projects.models import Member, Project
from rules.context import Kind
from study import readings
from study.blinding import veil
from study.design import StudyDesign


def of_members(
    project: Project, design: StudyDesign, member: Member | None
) -> Mapping[str, frozenset[str]]:
    """{free text field: its values}, of the subjects that `member` may see.

    From the stored readings alone: nothing is read for it.
    """
    hidden = veil.of_member(project, member)
    written = {name for name in design.metadata.fields if _is_written(design, name)}
    names = written - hidden.fields
    found = readings.values_of_members(project, member, names)
    return {name: frozenset(map(hidden.text, values)) for name, values in found.items() if values}


def _is_written(design: StudyDesign, name: str) -> bool:
    column = design.context.columns.get(name)
    hidden = design.hidden | design.metadata.identifier_fields
    return column is not None and column.kind is Kind.TEXT and name not in hidden

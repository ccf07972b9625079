"""What the rows of repeating forms are called in a study: the names of events and drugs, as last read."""

from __future__ import annotations

from collections.abc import Mapping

from projects.models import Member, Project
from rules.context import Kind
from study import readings
from study.design import StudyDesign


def of_members(
    project: Project, design: StudyDesign, member: Member | None
) -> Mapping[str, frozenset[str]]:
    """{free text field of a repeating form: its values}, of the subjects that `member` may see.

    From the stored readings alone: nothing is read for it.
    """
    names = {name for name in design.metadata.fields if _names_rows(design, name)}
    found = readings.values_of_members(project, member, names)
    return {name: frozenset(values) for name, values in found.items() if values}


def _names_rows(design: StudyDesign, name: str) -> bool:
    column = design.context.columns.get(name)
    is_text = column is not None and column.kind is Kind.TEXT
    return is_text and name not in design.hidden and design.form_of(name) in design.repeating_forms

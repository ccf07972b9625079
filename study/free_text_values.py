"""What is written freely in a study: the names of events and drugs, histories and reasons, as last read."""

from __future__ import annotations

from collections.abc import Mapping

from core.rules.context import Kind
from projects.models import Member, Project
from study import readings
from study.blinding import mask
from study.design import StudyDesign


def free_texts_of_member(
    project: Project, design: StudyDesign, member: Member | None
) -> Mapping[str, frozenset[str]]:
    """{free text field: its values}, of the subjects that `member` may see.

    From the stored readings alone: nothing is read for it.
    """
    hidden = mask.mask_of_member(project, member)
    closed = design.hidden | design.metadata.identifier_fields | hidden.fields
    columns = ((name, design.context.columns.get(name)) for name in design.metadata.fields)
    texts = {name for name, column in columns if column and column.kind is Kind.TEXT}
    names = texts - closed
    found = readings.values_of_members(project, member, names)
    return {name: frozenset(map(hidden.text, values)) for name, values in found.items() if values}

"""Form templates drafted from the data dictionary: a form, its fields and what is printed beside them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from projects.models import Project
from skills.form_templates import Draft
from study import dictionary
from study.metadata import StudyMetadata

MOST_WORDS = 40
_VALIDATION = "text_validation_type_or_show_slider_number"


def draft(project: Project) -> Iterator[Draft]:
    """A draft a form. Raises RedcapError, NotConfiguredError where no dictionary was ever read."""
    metadata = dictionary.load(project)
    for row in metadata.instruments:
        form = str(row["instrument_name"])
        fields = [name for name, one in metadata.fields.items() if one["form_name"] == form]
        if fields:
            label = str(row["instrument_label"])
            words = dict.fromkeys([label, *(metadata.label(name) for name in fields)])
            told = tuple(word for word in words if len(word.strip()) > 1)[:MOST_WORDS]
            yield Draft(form, label, {name: _field(metadata, name) for name in fields}, told)


def _field(metadata: StudyMetadata, name: str) -> dict[str, Any]:
    row = metadata.fields[name]
    told = {
        "label": metadata.label(name),
        "type": str(row["field_type"]),
        "validation": str(row.get(_VALIDATION) or ""),
        "choices": dict(metadata.choices(name) or {}),
        "required": str(row.get("required_field") or "") == "y",
    }
    return {key: value for key, value in told.items() if value}

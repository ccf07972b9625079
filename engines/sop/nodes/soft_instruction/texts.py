"""Which texts of a subject a model's verdict is about: what a person reads who decides on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engines.sop.nodes.soft_instruction.verdict import plain_text, stands_in
from projects.models import Project
from study import dictionary
from study.design import genes
from study.display import display_rows
from study.metadata import StudyMetadata

MOST = 12
"""More texts than this are not put beside one verdict; what it quotes comes first."""


def judged_texts(
    project: Project, rows: Sequence[Mapping[str, Any]], instruction: str, quotes: Sequence[str]
) -> list[dict[str, Any]]:
    """The values that hold a quote, and the free texts that the instruction names by their labels.

    All free texts where it names none and nothing is quoted. Each as the details of a rule name a value
    (`var`, `raw`, `label`, `event`, `instrument`, `instance`), with `quoted`. No identifiers, no genome fields.
    """
    metadata = dictionary.load(project)
    closed, asked = genes(metadata), plain_text(instruction)
    found: list[dict[str, Any]] = []
    for row in display_rows(metadata, [dict(row) for row in rows]):
        for item in row.values:
            if item.identifier or item.field in closed:
                continue
            line = [plain_text(f"{item.label}: {item.text}{item.unit}")]
            found.append(
                {
                    "var": item.field,
                    "raw": item.raw,
                    "label": item.text if item.text != item.raw else None,
                    "event": row.event,
                    "instrument": row.instrument,
                    "instance": "" if row.instance is None else str(row.instance),
                    "quoted": any(stands_in(quote, line) for quote in quotes),
                    "named": plain_text(item.label) in asked,
                }
            )
    texts = [one for one in found if _is_free(metadata, one["var"])]
    chosen = [one for one in found if one["quoted"]]
    chosen += [one for one in texts if one["named"] and not one["quoted"]]
    chosen = chosen or texts
    return [{name: one[name] for name in one if name != "named"} for one in chosen[:MOST]]


def _is_free(metadata: StudyMetadata, name: str) -> bool:
    row = metadata.fields.get(name, {})
    kind, form = row.get("field_type"), row.get("text_validation_type_or_show_slider_number")
    return kind == "notes" or (kind == "text" and not form)

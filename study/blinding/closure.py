"""Which fields tell what the blinded ones hold: by branching, calculation or annotation."""

from __future__ import annotations

from collections.abc import Iterator

from study.caches import cache_by_dictionary
from study.metadata import StudyMetadata

_CALCULATED = "calc"


@cache_by_dictionary
def closed(metadata: StudyMetadata, fields: frozenset[str]) -> frozenset[str]:
    """`fields` with every field that is shown, worked out or filled in from one of them."""
    reads = {name: _reads(metadata, name) for name in metadata.fields}
    found = set(fields)
    while more := {name for name, read in reads.items() if name not in found and read & found}:
        found |= more
    return frozenset(found)


@cache_by_dictionary
def columns_of(metadata: StudyMetadata, fields: frozenset[str]) -> frozenset[str]:
    """Export columns of the fields, with the status of a form of which nothing else is left."""
    forms = hidden_forms(metadata, fields)
    hidden = fields | {f"{form}_complete" for form in forms}
    of_fields = {column for column, (name, _code) in metadata.columns.items() if name in hidden}
    return frozenset(of_fields | hidden)


@cache_by_dictionary
def hidden_forms(metadata: StudyMetadata, fields: frozenset[str]) -> frozenset[str]:
    """Forms of which nothing would be left."""
    shown = {
        str(row["form_name"])
        for name, row in metadata.fields.items()
        if name not in fields and name != metadata.record_id_field
    }
    return frozenset({str(row["form_name"]) for row in metadata.fields.values()} - shown)


def _reads(metadata: StudyMetadata, name: str) -> set[str]:
    row = metadata.fields[name]
    texts = [row.get("branching_logic"), row.get("field_annotation")]
    if row.get("field_type") == _CALCULATED:
        texts.append(row.get("select_choices_or_calculations"))
    return {named for text in texts if text for named in _bracketed(str(text))}


def _bracketed(text: str) -> Iterator[str]:
    """What stands in brackets: all of it, also where the logic itself can't be understood."""
    for part in text.split("[")[1:]:
        stem = part.partition("]")[0].partition("(")[0]
        yield stem.partition(":")[0].strip()

"""What the dictionary suggests for the settings of a study: it holds until the console says otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from language import field_labels
from language.limits import limits
from privacy.identifying_fields import identifies
from study.design import ReferenceRange
from study.metadata import StudyMetadata

_IS_FORMAT = re.compile(r"\s*YYYY-MM")
_IS_LIMIT = {"high": re.compile(r"正常上限|ULN|upper limit", re.IGNORECASE)}
_IS_LIMIT["low"] = re.compile(r"正常下限|LLN|lower limit", re.IGNORECASE)
_PAREN = re.compile(r"[(（].*?[)）]")
YES = "1"
_NUMERIC = ("number", "integer", "int", "float")


def status_field(metadata: StudyMetadata) -> str:
    """The coded field that says where a subject stands; "" when there is none."""
    named = (n for n in _coded(metadata) if "状态" in metadata.label(n) or "status" in n.lower())
    return next(named, "")


def sex_field(metadata: StudyMetadata) -> str:
    """The coded field of the subject's sex; "" when there is none."""
    named = re.compile(r"性别|\bsex\b|\bgender\b", re.IGNORECASE)
    return next((n for n in _coded(metadata) if named.search(f"{metadata.label(n)} {n}")), "")


def birth_field(metadata: StudyMetadata) -> str:
    """The date of birth; "" when there is none."""
    named = re.compile(r"出生|\bbirth|\bdob\b", re.IGNORECASE)
    told = ((n, f"{metadata.label(n)} {n.replace('_', ' ')}") for n in _dates(metadata))
    return next((name for name, text in told if named.search(text)), "")


def consent_field(metadata: StudyMetadata) -> str:
    """The date of consent; "" when there is none."""
    named = re.compile(r"知情|consent|\bicf\b", re.IGNORECASE)
    told = ((n, f"{metadata.label(n)} {n.replace('_', ' ')}") for n in _dates(metadata))
    return next((name for name, text in told if named.search(text)), "")


def medication_field(metadata: StudyMetadata) -> str:
    """The text that names a medication; "" when there is none."""
    texts = _texts(metadata)
    return next((n for n in texts if field_labels.MEDICATION.search(_told(metadata, n))), "")


def treatment_field(metadata: StudyMetadata) -> str:
    """The field of the adverse events' form that names a medication for one, or says there was; "" for none."""
    start, _end, _term = event_fields(metadata)
    form = metadata.fields[start]["form_name"] if start else ""
    mine = [n for n, row in metadata.fields.items() if row["form_name"] == form and form]
    return next((n for n in mine if field_labels.TREATMENT.search(_told(metadata, n))), "")


def event_fields(metadata: StudyMetadata) -> tuple[str, str, str]:
    """Start, end and term of an adverse event; "" for what there is none of."""
    events = (n for n in _dates(metadata) if field_labels.EVENT.search(_told(metadata, n)))
    dates = [*events]
    start = next((n for n in dates if field_labels.START.search(_told(metadata, n))), "")
    form = metadata.fields[start]["form_name"] if start else ""
    mine = [n for n in dates if metadata.fields[n]["form_name"] == form]
    end = next((n for n in mine if field_labels.END.search(_told(metadata, n))), "")
    texts = [n for n in _texts(metadata) if metadata.fields[n]["form_name"] == form]
    terms = [n for n in texts if n not in {start, end}]
    return start, end, next(iter(terms), "")


def serious_field(metadata: StudyMetadata) -> tuple[str, str]:
    """The yes/no field that says whether an adverse event is serious, and its code for yes; "" for none."""
    start = event_fields(metadata)[0]
    form = metadata.fields[start]["form_name"] if start else ""
    mine = (n for n in _coded(metadata) if metadata.fields[n]["form_name"] == form)
    told = (n for n in mine if field_labels.SERIOUS.search(_told(metadata, n)))
    name = next((n for n in told if YES in metadata.choices(n)), "")
    return name, YES if name else ""


def _texts(metadata: StudyMetadata) -> Iterator[str]:
    validated = "text_validation_type_or_show_slider_number"
    return (
        name
        for name, row in metadata.fields.items()
        if row["field_type"] in ("text", "notes") and not row.get(validated)
    )


def _told(metadata: StudyMetadata, name: str) -> str:
    return f"{metadata.label(name)} {name.replace('_', ' ')}"


def form_dates(metadata: StudyMetadata) -> dict[str, str]:
    """Form -> its first date field that identifies nobody (contracts.md, fine points, rows)."""
    found: dict[str, str] = {}
    for name in _dates(metadata):
        if name not in metadata.identifier_fields and not identifies(name, metadata.label(name)):
            found.setdefault(str(metadata.fields[name]["form_name"]), name)
    return found


def unit_fields(metadata: StudyMetadata) -> dict[str, str]:
    """Lab field -> the text field beside it that holds its unit, named after it."""
    named = ((n, re.fullmatch(r"(.+)_units?", n)) for n in metadata.fields)
    return {hit[1]: name for name, hit in named if hit and hit[1] in metadata.fields}


def ranges(metadata: StudyMetadata) -> dict[str, tuple[ReferenceRange, ...]]:
    """Field -> the limits that its note tells, or that a field beside it holds (总胆红素正常上限)."""
    found: dict[str, tuple[ReferenceRange, ...]] = {}
    held = _limit_fields(metadata)
    for name in metadata.fields:
        if not _is_number(metadata.fields[name]) or name in held.values():
            continue
        low, high = limits(str(metadata.fields[name].get("field_note") or "")) or (None, None)
        by_field = {side: held.get((name, side)) for side in ("low", "high")}
        if low or high or any(by_field.values()):
            unit = metadata.unit(name)
            found[name] = (
                ReferenceRange(name, unit, "", by_field["low"] or low, by_field["high"] or high),
            )
    return found


def _limit_fields(metadata: StudyMetadata) -> dict[tuple[str, str], str]:
    """(lab field, side) -> the field whose label is the lab's with 正常上限 behind it."""
    labs = {_bare(metadata.label(n)): n for n in metadata.fields}
    found: dict[tuple[str, str], str] = {}
    for name in metadata.fields:
        label = _bare(metadata.label(name))
        for side, named in _IS_LIMIT.items():
            if (hit := named.search(label)) and hit.start() > 0:
                stem = label[: hit.start()].strip()
                lab = next(
                    (n for text, n in labs.items() if n != name and text.startswith(stem)), ""
                )
                if lab:
                    found[lab, side] = name
    return found


def _bare(label: str) -> str:
    return _PAREN.sub("", label).strip()


def _coded(metadata: StudyMetadata) -> Iterator[str]:
    return (n for n in metadata.fields if metadata.choices(n) and not n.endswith("_complete"))


def _dates(metadata: StudyMetadata) -> Iterator[str]:
    """Date and datetime fields, and text fields whose note tells to write a date into them."""
    return (name for name, row in metadata.fields.items() if _is_date(row))


def _is_date(row: Mapping[str, Any]) -> bool:
    if row["field_type"] != "text":
        return False
    validation = str(row.get("text_validation_type_or_show_slider_number") or "")
    note = str(row.get("field_note") or "")
    return validation.startswith("date") or (not validation and bool(_IS_FORMAT.match(note)))


def _is_number(row: Mapping[str, Any]) -> bool:
    validation = str(row.get("text_validation_type_or_show_slider_number") or "")
    return row["field_type"] in ("calc", "slider") or validation.startswith(_NUMERIC)

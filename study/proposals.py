"""What the dictionary suggests for the settings of a study: it holds until the console says otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from core.language import field_labels
from core.language.limits import limits
from study.metadata import StudyMetadata, cache_by_dictionary


@dataclass(frozen=True, slots=True)
class ReferenceRange:
    """Limits of a lab field; `sex`: a choice code, "" for both; a limit: a number or a field that holds it."""

    field: str
    unit: str = ""
    sex: str = ""
    low: Decimal | str | None = None
    high: Decimal | str | None = None


_IS_FORMAT = re.compile(r"\s*YYYY-MM")
_IS_LIMIT = {
    "high": re.compile(r"正常上限|ULN|upper limit", re.IGNORECASE),
    "low": re.compile(r"正常下限|LLN|lower limit", re.IGNORECASE),
}
_SEX = re.compile(r"性别|\bsex\b|\bgender\b", re.IGNORECASE)
_CONSENT = re.compile(r"知情|consent|\bicf\b", re.IGNORECASE)
_PAREN = re.compile(r"[(（].*?[)）]")
_NUMERIC = ("number", "integer", "int", "float")


@cache_by_dictionary
def status_field(metadata: StudyMetadata) -> str:
    """The coded field that says where a subject stands; "" when there is none."""
    named = (n for n in _coded(metadata) if "状态" in metadata.label(n) or "status" in n.lower())
    return next(named, "")


@cache_by_dictionary
def sex_field(metadata: StudyMetadata) -> str:
    """The coded field of the subject's sex; "" when there is none."""
    return next((n for n in _coded(metadata) if _SEX.search(f"{metadata.label(n)} {n}")), "")


@cache_by_dictionary
def birth_field(metadata: StudyMetadata) -> str:
    """The date of birth; "" when there is none."""
    return next((name for name in _dates(metadata) if name in metadata.identity.births), "")


@cache_by_dictionary
def consent_field(metadata: StudyMetadata) -> str:
    """The date of consent; "" when there is none."""
    return _first(metadata, _dates(metadata), _CONSENT)


def withdrawal_field(metadata: StudyMetadata) -> str:
    """The date on which a subject left the study early; "" when there is none."""
    return _first(metadata, _dates(metadata), field_labels.WITHDRAWAL)


def medication_field(metadata: StudyMetadata) -> str:
    """The text that names a medication; "" when there is none."""
    return _first(metadata, _texts(metadata), field_labels.MEDICATION)


def treatment_field(metadata: StudyMetadata) -> str:
    """The field of the adverse events' form that names a medication for one, or says there was; "" for none."""
    start, _end, _term = event_fields(metadata)
    return _first(metadata, _beside(metadata, start, metadata.fields), field_labels.TREATMENT)


def event_fields(metadata: StudyMetadata) -> tuple[str, str, str]:
    """Start, end and term of an adverse event; "" for what there is none of."""
    dates = [n for n in _dates(metadata) if field_labels.EVENT.search(_described(metadata, n))]
    start = _first(metadata, dates, field_labels.START)
    end = _first(metadata, _beside(metadata, start, dates), field_labels.END)
    terms = (n for n in _beside(metadata, start, _texts(metadata)) if n not in {start, end})
    return start, end, next(terms, "")


def serious_field(metadata: StudyMetadata) -> tuple[str, str]:
    """The yes/no field that says whether an adverse event is serious, and its code for yes; "" for none."""
    start = event_fields(metadata)[0]
    coded = (n for n in _coded(metadata) if _code_of_yes(metadata, n))
    name = _first(metadata, _beside(metadata, start, coded), field_labels.SERIOUS)
    return name, _code_of_yes(metadata, name)


def _code_of_yes(metadata: StudyMetadata, name: str) -> str:
    """The one code whose label says yes, whatever number it has; "" for none or several."""
    found = [c for c, text in metadata.choices(name).items() if field_labels.YES.match(text)]
    return found[0] if len(found) == 1 else ""


def grade_field(metadata: StudyMetadata) -> str:
    """The coded field that grades an adverse event; "" for none."""
    start = event_fields(metadata)[0]
    return _first(metadata, _beside(metadata, start, _coded(metadata)), field_labels.GRADE)


def screen_failures(metadata: StudyMetadata, field: str) -> frozenset[str]:
    """The codes of a status field that say that screening failed; none where it knows no such thing."""
    choices = metadata.choices(field) if field else {}
    return frozenset(c for c, text in choices.items() if field_labels.SCREEN_FAILURE.search(text))


def completed(metadata: StudyMetadata, field: str) -> frozenset[str]:
    """The codes of a status field of who completed the study; none where it knows no such thing."""
    choices = metadata.choices(field) if field else {}
    return frozenset(c for c, text in choices.items() if field_labels.COMPLETED.match(text))


def _first(metadata: StudyMetadata, names: Iterable[str], pattern: re.Pattern[str]) -> str:
    """The first of the fields whose label or name the pattern finds; "" for none."""
    return next((name for name in names if pattern.search(_described(metadata, name))), "")


def _described(metadata: StudyMetadata, name: str) -> str:
    return f"{metadata.label(name)} {name.replace('_', ' ')}"


def _beside(metadata: StudyMetadata, field: str, names: Iterable[str]) -> Iterator[str]:
    """Those of the fields that stand on the same form as `field`; none where it is ""."""
    form = metadata.fields[field]["form_name"] if field else None
    return (name for name in names if metadata.fields[name]["form_name"] == form)


def _texts(metadata: StudyMetadata) -> Iterator[str]:
    return (
        name
        for name, row in metadata.fields.items()
        if row["field_type"] in ("text", "notes") and not _validation(row)
    )


@cache_by_dictionary
def form_dates(metadata: StudyMetadata) -> dict[str, str]:
    """Form -> its first date field that identifies nobody (contracts.md, fine points, rows)."""
    found: dict[str, str] = {}
    for name in _dates(metadata):
        if name not in metadata.identifier_fields:
            found.setdefault(str(metadata.fields[name]["form_name"]), name)
    return found


@cache_by_dictionary
def unit_fields(metadata: StudyMetadata) -> dict[str, str]:
    """Lab field -> the text field beside it that holds its unit, named after it."""
    named = ((n, re.fullmatch(r"(.+)_units?", n)) for n in metadata.fields)
    return {hit[1]: name for name, hit in named if hit and hit[1] in metadata.fields}


@cache_by_dictionary
def ranges(metadata: StudyMetadata) -> dict[str, tuple[ReferenceRange, ...]]:
    """Field -> the limits that its note tells, or that a field beside it holds (总胆红素正常上限)."""
    found: dict[str, tuple[ReferenceRange, ...]] = {}
    held = _limit_fields(metadata)
    for name in metadata.fields:
        row = metadata.fields[name]
        is_number = row["field_type"] in ("calc", "slider")
        is_number = is_number or _validation(row).startswith(_NUMERIC)
        if not is_number or name in held.values():
            continue
        low, high = limits(str(row.get("field_note") or "")) or (None, None)
        by_field = {side: held.get((name, side)) for side in ("low", "high")}
        if low or high or any(by_field.values()):
            unit = metadata.unit(name)
            found[name] = (
                ReferenceRange(name, unit, "", by_field["low"] or low, by_field["high"] or high),
            )
    return found


def _limit_fields(metadata: StudyMetadata) -> dict[tuple[str, str], str]:
    """(lab field, side) -> the field whose label is the lab's with 正常上限 behind it."""
    labels = {name: _PAREN.sub("", metadata.label(name)).strip() for name in metadata.fields}
    labs = {label: name for name, label in labels.items()}
    found: dict[tuple[str, str], str] = {}
    for name, label in labels.items():
        for side, named in _IS_LIMIT.items():
            if (hit := named.search(label)) and hit.start() > 0:
                stem = label[: hit.start()].strip()
                lab = next(
                    (n for text, n in labs.items() if n != name and text.startswith(stem)), ""
                )
                if lab:
                    found[lab, side] = name
    return found


def _coded(metadata: StudyMetadata) -> Iterator[str]:
    return (n for n in metadata.fields if metadata.choices(n) and not n.endswith("_complete"))


def _dates(metadata: StudyMetadata) -> Iterator[str]:
    """Date and datetime fields, and text fields whose note tells to write a date into them."""
    for name, row in metadata.fields.items():
        validation, note = _validation(row), str(row.get("field_note") or "")
        is_date = validation.startswith("date") or (not validation and _IS_FORMAT.match(note))
        if row["field_type"] == "text" and is_date:
            yield name


def is_typed_number(row: Mapping[str, Any]) -> bool:
    """Whether people type a number in: a calculated one follows from others, a slider is a scale."""
    return row["field_type"] == "text" and _validation(row).startswith(("number", "integer"))


def _validation(row: Mapping[str, Any]) -> str:
    return str(row.get("text_validation_type_or_show_slider_number") or "")

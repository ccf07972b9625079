"""Rows of REDCap as people read them: labels instead of codes, units, event and instance."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from core.integrations.redcap import Row
from study.metadata import StudyMetadata

_ABOUT_THE_ROW = {
    "redcap_event_name",
    "redcap_repeat_instrument",
    "redcap_repeat_instance",
    "redcap_data_access_group",
}


@dataclass(frozen=True, slots=True)
class DisplayValue:
    """One answered field. `raw` is what REDCap holds, a checkbox: its ticked codes joined by ","."""

    field: str
    label: str
    raw: str
    text: str
    unit: str
    identifier: bool


@dataclass(frozen=True, slots=True)
class DisplayRow:
    """One row with something in it; `instance` is None outside of repeating forms and events."""

    event: str
    event_label: str
    instrument: str
    instrument_label: str
    instance: int | None
    values: tuple[DisplayValue, ...]


def display_rows(metadata: StudyMetadata, rows: Iterable[Row]) -> list[DisplayRow]:
    """Non-blank values in the order of the export.

    Blank fields, unticked boxes and the record id are left out, and so is the status of a form
    that holds nothing else.
    """
    found = []
    for row in rows:
        event = str(row.get("redcap_event_name", ""))
        instrument = str(row.get("redcap_repeat_instrument", ""))
        instance = row.get("redcap_repeat_instance", "")
        if values := tuple(_values(metadata, row)):
            labels = metadata.event_label(event), metadata.form_label(instrument)
            number = instance if isinstance(instance, int) else None
            found.append(DisplayRow(event, labels[0], instrument, labels[1], number, values))
    return found


def _values(metadata: StudyMetadata, row: Row) -> Iterator[DisplayValue]:
    missing = {code: f"{code} ({told})" for code, told in metadata.missing_codes.items() if told}
    for name, codes in _answers(metadata, row).items():
        choices = metadata.choices(name)
        measured = not choices and codes[0] not in metadata.missing_codes
        yield DisplayValue(
            field=name,
            label=metadata.label(name),
            raw=",".join(codes),
            text="、".join(choices.get(code) or missing.get(code, code) for code in codes),
            unit=metadata.unit(name) if measured else "",
            identifier=name in metadata.identifier_fields,
        )


def _answers(metadata: StudyMetadata, row: Row) -> dict[str, list[str]]:
    """Field -> its value, or the ticked codes of a checkbox."""
    answers: dict[str, list[str]] = {}
    for column, value in row.items():
        text = str(value).strip()
        if column in _ABOUT_THE_ROW or column == metadata.record_id_field or not text:
            continue
        name, code = metadata.columns.get(column, (column, ""))
        if not code:
            answers[name] = [text]
        elif text == "1":
            answers.setdefault(name, []).append(code)
    return answers

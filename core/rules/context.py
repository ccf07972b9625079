"""A study as the rules need it: typed columns, missing codes, events, repeating forms.

Built from REDCap's own JSON (reference/redcap_dify.md 1.2-1.6; *Project file* of contracts.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from dataclasses import field as default
from decimal import Decimal
from enum import StrEnum
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from core.rules import labels, parse
from core.rules.limits import RuleError
from core.rules.text import translate as _

_FORM_STATUS = {"0": "Incomplete", "1": "Unverified", "2": "Complete"}
_YES_NO = {"1": "Yes", "0": "No"}
_TRUE_FALSE = {"1": "True", "0": "False"}
DEFAULT_ZONE = "Asia/Shanghai"
_NO_COLUMN = frozenset({"descriptive"})


class Kind(StrEnum):
    """How the text of a column is read."""

    NUMBER = "number"
    INTEGER = "integer"
    DATE = "date"
    DATETIME = "datetime"
    TIME = "time"
    CODE = "code"
    FLAG = "flag"
    TICK = "tick"
    TICKS = "ticks"
    TEXT = "text"
    RAW = "raw"


@dataclass(frozen=True)
class Column:
    """One name a rule can read: an export column, or a checkbox as a whole (`TICKS`)."""

    name: str
    field: str
    form: str
    kind: Kind
    label: str = ""
    choices: Mapping[str, str] = default(default_factory=dict)
    code: str = ""
    decimal_comma: bool = False
    minutes_first: bool = False
    is_missing_code: bool = False
    branching: str = ""


@dataclass(frozen=True)
class StudyContext:
    """Everything about a study that rules depend on; immutable and shareable between runs."""

    columns: Mapping[str, Column]
    has_dictionary: bool
    record_id_field: str = "record_id"
    missing_codes: Mapping[str, str] = default(default_factory=dict)
    timezone: ZoneInfo = default(default_factory=lambda: ZoneInfo(DEFAULT_ZONE))
    forms_by_event: Mapping[str, frozenset[str]] = default(default_factory=dict)
    arms: Mapping[str, str] = default(default_factory=dict)
    """Event -> the number of its arm, in the order of the study."""
    repeating: frozenset[tuple[str | None, str]] = frozenset()
    anchor_is_day: int = 1

    @classmethod
    def build(
        cls, metadata: Iterable[Mapping[str, Any]] | None, project: Mapping[str, Any] | None = None
    ) -> StudyContext:
        """From REDCap metadata (None: no dictionary) and a project file; RuleError if malformed.

        `anchor_is_day` defaults to 1 (decisions.md): the anchor's day is Day 1. Without `events`
        (content=event, which tells the day offsets) the order of events is that of the mapping.
        """
        project = project or {}
        codes = labels.choices(_text(project, "missing_data_codes"))
        rows = list(metadata or ())
        mapping = _list(project, "form_event_mapping")
        columns = {c.name: c for row in rows for c in _columns(row, codes)}
        for form in dict.fromkeys(form for row in rows if (form := _text(row, "form_name"))):
            name = f"{form}_complete"
            columns.setdefault(name, Column(name, name, form, Kind.CODE, name, dict(_FORM_STATUS)))
        return cls(
            columns=columns,
            has_dictionary=metadata is not None,
            record_id_field=str(rows[0].get("field_name", "record_id")) if rows else "record_id",
            missing_codes=codes,
            timezone=_zone(_text(project, "timezone")),
            forms_by_event=_forms_by_event(mapping),
            arms=arms_of(_list(project, "events") or mapping),
            repeating=_repeating(_list(project, "repeating")),
            anchor_is_day=_anchor_is_day(project.get("anchors")),
        )

    def column(self, name: str) -> Column | None:
        """The column a var names; without a dictionary every name is one."""
        if self.has_dictionary:
            return self.columns.get(name)
        stem, separator, code = name.partition("___")
        if separator and stem and code:
            return Column(name, stem, "", Kind.TICK, choices={code: code}, code=code)
        return Column(name, name, "", Kind.RAW)

    def is_mapped(self, form: str, event: str | None) -> bool:
        """Whether `form` is designated to `event`; a classic project has no mapping."""
        if not self.forms_by_event or event is None or not form:
            return True
        return form in self.forms_by_event.get(event, frozenset())

    def is_repeating(self, form: str, event: str | None) -> bool:
        """Whether `form` itself repeats at `event` (not the event as a whole)."""
        return (
            (event, form) in self.repeating
            or (None, form) in self.repeating
            or (event is None and any(name == form for _event, name in self.repeating))
        )


def _columns(row: Mapping[str, Any], missing_codes: Mapping[str, str]) -> list[Column]:
    name, field_type = _text(row, "field_name"), _text(row, "field_type")
    if field_type in _NO_COLUMN or not name:
        return []
    base: dict[str, Any] = {
        "field": name,
        "form": _text(row, "form_name"),
        "label": _text(row, "field_label"),
        "branching": _text(row, "branching_logic").strip(),
    }
    options = _text(row, "select_choices_or_calculations")
    if field_type == "checkbox":
        return _checkbox(name, labels.choices(options), missing_codes, base)
    if field_type in {"radio", "dropdown"} and options.strip():
        return [Column(name, kind=Kind.CODE, choices=labels.choices(options), **base)]
    if field_type in {"yesno", "truefalse"}:
        flags = _YES_NO if field_type == "yesno" else _TRUE_FALSE
        return [Column(name, kind=Kind.FLAG, choices=flags, **base)]
    if field_type in {"calc", "slider"}:
        return [Column(name, kind=Kind.NUMBER, **base)]
    if field_type != "text":
        return [Column(name, kind=Kind.TEXT, **base)]
    validation = _text(row, "text_validation_type_or_show_slider_number")
    about: dict[str, Any] = {
        "kind": _validated_kind(validation),
        "decimal_comma": validation.endswith("comma_decimal"),
        "minutes_first": validation == "time_mm_ss",
    }
    return [Column(name, **about, **base)]


_VALIDATED = {
    "integer": Kind.INTEGER,
    "int": Kind.INTEGER,
    "float": Kind.NUMBER,
    "date": Kind.DATE,
    "datetime": Kind.DATETIME,
    "time": Kind.TIME,
}


def _validated_kind(validation: str) -> Kind:
    if validation.startswith("number"):
        return Kind.NUMBER
    if validation.startswith("date_partial"):
        return Kind.TEXT
    return _VALIDATED.get(validation.partition("_")[0], Kind.TEXT)


def _checkbox(
    name: str, choices: dict[str, str], missing_codes: Mapping[str, str], base: dict[str, Any]
) -> list[Column]:
    def tick(code: str, *, is_extra: bool) -> Column:
        labels = missing_codes if is_extra else choices
        about: dict[str, Any] = {
            "kind": Kind.TICK,
            "choices": labels,
            "code": code,
            "is_missing_code": is_extra,
        }
        return Column(checkbox_column(name, code), **about, **base)

    whole = Column(name, kind=Kind.TICKS, choices=choices, **base)
    extra = [tick(code, is_extra=True) for code in missing_codes if code not in choices]
    return [whole, *extra, *(tick(code, is_extra=False) for code in choices)]


def checkbox_column(field_name: str, code: str) -> str:
    """The export name of one checkbox choice: code `-1` of `med` is `med____1`."""
    return f"{field_name}___{re.sub('[^a-z0-9]', '_', code.lower())}"


def _forms_by_event(mapping: list[Mapping[str, Any]]) -> dict[str, frozenset[str]]:
    forms: dict[str, set[str]] = {}
    for row in mapping:
        forms.setdefault(_text(row, "unique_event_name"), set()).add(_text(row, "form"))
    return {event: frozenset(names) for event, names in forms.items()}


def arms_of(events: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Unique event name -> the number of its arm, ordered by arm, day offset and position.

    `events`: content=event, or content=formEventMapping (redcap_dify.md 1.4). The name of an event tells
    neither: REDCap calls a second event of one label `…_arm_1b`, and a label may hold "arm".
    """
    rows: dict[str, Mapping[str, Any]] = {}
    for row in events:
        rows.setdefault(_text(row, "unique_event_name"), row)
    arms = {event: _text(row, "arm_num").strip() for event, row in rows.items()}
    offsets = {event: parse.exact(_text(row, "day_offset").strip()) for event, row in rows.items()}
    unscheduled = {arms[event] for event, offset in offsets.items() if offset is None}

    def order(event: str) -> tuple[bool, int, str, Decimal]:
        arm, offset = arms[event], offsets[event]
        is_number = arm.isascii() and arm.isdigit()
        at = Decimal(0) if offset is None or arm in unscheduled else offset
        return not is_number, int(arm) if is_number else 0, arm, at

    return {event: arms[event] for event in sorted(arms, key=order)}


def _repeating(rows: list[Mapping[str, Any]]) -> frozenset[tuple[str | None, str]]:
    pairs = ((_text(row, "event_name") or None, _text(row, "form_name")) for row in rows)
    return frozenset((event, form) for event, form in pairs if form)


def _anchor_is_day(anchors: Any) -> int:
    value = anchors.get("anchor_is_day", 1) if isinstance(anchors, Mapping) else 1
    if str(value) not in {"0", "1"}:
        raise RuleError(_("“anchor_is_day” must be 0 or 1."))
    return int(value)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name or DEFAULT_ZONE)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise RuleError(_("Unknown time zone “%(name)s”.") % {"name": name}) from None


def _text(row: Mapping[str, Any], key: str) -> str:
    if not isinstance(row, Mapping):
        raise RuleError(_("The dictionary and the project file must hold REDCap's JSON objects."))
    value = row.get(key)
    return "" if value is None else str(value)


def _list(project: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    value = project.get(key) or []
    if not isinstance(value, list):
        raise RuleError(_("“%(name)s” must be a list.") % {"name": key})
    return value

"""The study's data dictionary as REDCap gives it, with the questions everybody asks of it."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from django.utils.translation import gettext as _

from core.integrations.redcap import ExportShape
from core.rules import labels
from core.rules.context import arms_of, checkbox_column
from core.rules.limits import RuleError
from core.rules.redcap.calculation import formula_of
from core.rules.redcap.parser import parse_logic
from study.identity import Fields, Identity, decide_identity

JsonRow = dict[str, Any]

_COMPLETE = "_complete"
_UNIT = re.compile(r"(?:单位|unit)\s*[:：]?\s*(\S+)", re.IGNORECASE)
_YEARS_OLD = "周岁"
_BARE_UNIT = re.compile(r"[%‰°℃a-zA-Zμµ0-9^*×/·.²³⁹⁻⁶¹次分岁天周年个月小时例]{1,20}")


@dataclass(frozen=True)
class StudyMetadata:
    """Raw REDCap JSON of one study (reference/redcap_dify.md 1.3 to 1.6); `project` is one object.

    `answers`: what an administrator said of dates that may identify: field -> study.identity.Answer.
    """

    metadata: list[JsonRow] = field(repr=False)
    project: JsonRow = field(repr=False)
    events: list[JsonRow] = field(repr=False)
    mapping: list[JsonRow] = field(repr=False)
    repeating: list[JsonRow] = field(repr=False)
    export_field_names: list[JsonRow] = field(repr=False)
    instruments: list[JsonRow] = field(repr=False)
    dags: list[JsonRow] = field(repr=False, default_factory=list)
    answers: Mapping[str, str] = field(repr=False, default_factory=dict)

    @cached_property
    def fields(self) -> Mapping[str, JsonRow]:
        """Dictionary rows by field name, in the order of the dictionary."""
        return {row["field_name"]: row for row in self.metadata}

    @cached_property
    def digest(self) -> str:
        """Hash of the content, for caches of what was made from it."""
        parts = (self.metadata, self.project, self.events, self.mapping, self.repeating)
        content = [*parts, self.export_field_names, self.answers]
        text = json.dumps(content, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def record_id_field(self) -> str:
        """The first field of the dictionary."""
        return str(self.metadata[0]["field_name"])

    @cached_property
    def labels(self) -> Mapping[str, str]:
        """Field -> what people call it."""
        return {name: self.label(name) for name in self.fields}

    @cached_property
    def arms(self) -> Mapping[str, str]:
        """Unique event name -> the number of its arm, in the order of the study."""
        return arms_of(self.events)

    @cached_property
    def sites(self) -> Mapping[str, str]:
        """Data access group -> what people call it."""
        return {
            str(row["unique_group_name"]): str(row["data_access_group_name"]) for row in self.dags
        }

    @cached_property
    def event_ids(self) -> Mapping[str, str]:
        """Unique event name -> REDCap's number of it; older versions do not tell it."""
        found = ((str(row["unique_event_name"]), row.get("event_id")) for row in self.events)
        return {name: str(number) for name, number in found if number}

    @cached_property
    def form_names(self) -> frozenset[str]:
        """The forms by their names in REDCap."""
        return frozenset(self._forms)

    @property
    def longitudinal(self) -> bool:
        """Whether rows belong to events."""
        return str(self.project["is_longitudinal"]) == "1"

    @cached_property
    def identity(self) -> Identity:
        """Which fields identify a person, and of which it must be asked."""
        return decide_identity(
            Fields(self.fields, self.labels, self._forms, self._several), self.answers
        )

    @property
    def identifier_fields(self) -> frozenset[str]:
        """Fields that identify a person: nothing of them is told, and none of their values leaves the house."""
        return self.identity.closed

    @cached_property
    def missing_codes(self) -> Mapping[str, str]:
        """Missing data codes with their meaning, e.g. {"UNK": "Unknown"}."""
        return labels.choices(str(self.project.get("missing_data_codes") or ""))

    @cached_property
    def columns(self) -> Mapping[str, tuple[str, str]]:
        """Export column -> (field, choice code); the code is "" unless it is a checkbox."""
        return {
            row["export_field_name"]: (row["original_field_name"], str(row.get("choice_value", "")))
            for row in self.export_field_names
        }

    @cached_property
    def code_columns(self) -> Mapping[str, tuple[str, str]]:
        """As `columns`: those of missing data codes at a checkbox, which REDCap exports where one is used.

        Its versions differ in whether the names of all columns hold them.
        """
        found: dict[str, tuple[str, str]] = {}
        for name, row in self.fields.items() if self.missing_codes else ():
            if row["field_type"] == "checkbox":
                own = {checkbox_column(name, code) for code in self.choices(name)}
                extra = {checkbox_column(name, code): (name, code) for code in self.missing_codes}
                found |= {column: told for column, told in extra.items() if column not in own}
        return found

    @cached_property
    def known_names(self) -> frozenset[str]:
        """Columns, fields and events that may stand in a row."""
        events = (str(row["unique_event_name"]) for row in self.events)
        return frozenset({*self.columns, *self.code_columns, *self.fields, *events})

    @cached_property
    def shape(self) -> ExportShape:
        """What the REDCap client needs to see gaps."""
        rows = self.export_field_names
        promised = [row for row in rows if row["export_field_name"] not in self.code_columns]
        return ExportShape(self.metadata, promised, self.longitudinal)

    def label(self, name: str) -> str:
        """What people call a field; of `<form>_complete` the form's label; else the name itself."""
        row = self.fields.get(name)
        if row is not None:
            return labels.label(str(row.get("field_label") or ""), self.fields) or name
        form = name.removesuffix(_COMPLETE)
        if form != name and form in self._forms:
            return _("%(form)s: status") % {"form": self._forms[form]}
        return name

    def form_of(self, name: str) -> str:
        """The form of a field, or of which `name` is the status."""
        row = self.fields.get(name)
        return str(row["form_name"]) if row else name.removesuffix(_COMPLETE)

    def form_label(self, form: str) -> str:
        """What people call a form."""
        return self._forms.get(form, form)

    def event_label(self, event: str) -> str:
        """What people call an event, by its unique name."""
        names = {row["unique_event_name"]: str(row["event_name"]) for row in self.events}
        return names.get(event, event)

    def choices(self, name: str) -> Mapping[str, str]:
        """Code -> label of a coded field; {} for everything else."""
        row = self.fields.get(name)
        if row is None:
            coded = name.endswith(_COMPLETE) and name.removesuffix(_COMPLETE) in self._forms
            told = {"0": _("Incomplete"), "1": _("Unverified"), "2": _("Complete")}
            return told if coded else {}
        kind = row["field_type"]
        if kind in ("yesno", "truefalse"):
            return {"1": _("Yes"), "0": _("No")}
        if kind in ("radio", "dropdown", "checkbox"):
            found = labels.choices(str(row["select_choices_or_calculations"]))
            return {code: labels.label(told, self.fields) or code for code, told in found.items()}
        return {}

    def unit(self, name: str) -> str:
        """The unit named by field_note ("单位:mmol/L", a bare "mmol/L", "筛选日的周岁"), else ""."""
        note = labels.readable(str(self.fields.get(name, {}).get("field_note") or ""))
        named = _UNIT.search(note)
        if named:
            return named[1].rstrip("。.;；,，)）")
        if note.endswith(_YEARS_OLD):
            return _YEARS_OLD[1:]
        # YYYY-MM-DD or HH:MM describe how to write, not what is measured.
        is_format = re.fullmatch(r"[YMDHS:/. -]+", note)
        return note if _BARE_UNIT.fullmatch(note) and not is_format else ""

    @cached_property
    def _several(self) -> frozenset[str]:
        """Forms that a subject has more than once: repeating ones, and those of several events of an arm."""
        repeating = {str(row.get("form_name") or "") for row in self.repeating}
        places = Counter((str(row["form"]), str(row.get("arm_num"))) for row in self.mapping)
        return frozenset(repeating | {form for (form, _arm), count in places.items() if count > 1})

    @cached_property
    def _forms(self) -> Mapping[str, str]:
        return {
            row["instrument_name"]: labels.readable(str(row["instrument_label"]))
            for row in self.instruments
        }


P = ParamSpec("P")
T = TypeVar("T")


class _Known:
    """A dictionary that is compared by the hash of its content."""

    def __init__(self, metadata: StudyMetadata) -> None:
        self.metadata = metadata

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Known) and other.metadata.digest == self.metadata.digest

    def __hash__(self) -> int:
        return hash(self.metadata.digest)


def cache_by_dictionary(
    make: Callable[Concatenate[StudyMetadata, P], T],
) -> Callable[Concatenate[StudyMetadata, P], T]:
    """For a pure function of a dictionary and plain values."""

    @lru_cache(maxsize=32)
    def kept(known: _Known, *args: P.args, **kwargs: P.kwargs) -> T:
        return make(known.metadata, *args, **kwargs)

    @wraps(make)
    def call(metadata: StudyMetadata, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return kept(_Known(metadata), *args, **kwargs)  # type: ignore[arg-type]

    return call


@dataclass(frozen=True, slots=True)
class OwnLogic:
    """The logic of a field; `why_not`: why it is not worked out, "" where it is."""

    field: str
    text: str
    is_calculation: bool
    why_not: str = ""


def calculations(metadata: StudyMetadata) -> Iterator[OwnLogic]:
    """`calc` fields, @CALCTEXT and @CALCDATE; no export tells on which day one was saved that asks for it."""
    for name, row in metadata.fields.items():
        if text := formula_of(row):
            yield OwnLogic(name, text, is_calculation=True, why_not=_why_not(text, is_dated=True))


def branching(metadata: StudyMetadata) -> Iterator[OwnLogic]:
    """Fields that are shown under a condition."""
    for name, row in metadata.fields.items():
        if text := str(row.get("branching_logic") or "").strip():
            yield OwnLogic(name, text, is_calculation=False, why_not=_why_not(text, is_dated=False))


def _why_not(text: str, *, is_dated: bool) -> str:
    try:
        logic = parse_logic(text)
    except RuleError as error:
        return str(error)
    if is_dated and logic.is_dated:
        return _("It depends on the day on which it was saved.")
    return ""


@cache_by_dictionary
def hidden_forms(metadata: StudyMetadata, fields: frozenset[str]) -> frozenset[str]:
    """Forms of which nothing would be left without the fields."""
    shown = {
        str(row["form_name"])
        for name, row in metadata.fields.items()
        if name not in fields and name != metadata.record_id_field
    }
    return frozenset({str(row["form_name"]) for row in metadata.fields.values()} - shown)

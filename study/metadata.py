"""The study's data dictionary as REDCap gives it, with the questions everybody asks of it."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.utils.html import strip_tags
from django.utils.translation import gettext as _

from integrations.redcap import ExportShape

JsonRow = dict[str, Any]

_COMPLETE = "_complete"
_UNIT = re.compile(r"(?:单位|unit)\s*[:：]?\s*(\S+)", re.IGNORECASE)
_BARE_UNIT = re.compile(r"[%‰°℃a-zA-Zμµ0-9^*×/·.²³⁹⁻⁶¹次分岁天周年个月小时例]{1,20}")


@dataclass(frozen=True)
class StudyMetadata:
    """Raw REDCap JSON of one study (reference/redcap_dify.md 1.3 to 1.6); `project` is one object."""

    metadata: list[JsonRow] = field(repr=False)
    project: JsonRow = field(repr=False)
    events: list[JsonRow] = field(repr=False)
    mapping: list[JsonRow] = field(repr=False)
    repeating: list[JsonRow] = field(repr=False)
    export_field_names: list[JsonRow] = field(repr=False)
    instruments: list[JsonRow] = field(repr=False)
    dags: list[JsonRow] = field(repr=False, default_factory=list)

    @cached_property
    def fields(self) -> Mapping[str, JsonRow]:
        """Dictionary rows by field name, in the order of the dictionary."""
        return {row["field_name"]: row for row in self.metadata}

    @cached_property
    def digest(self) -> str:
        """Hash of the content, for caches of what was made from it."""
        content = [self.metadata, self.project, self.mapping, self.repeating]
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
    def sites(self) -> Mapping[str, str]:
        """Data access group -> what people call it."""
        return {
            str(row["unique_group_name"]): str(row["data_access_group_name"]) for row in self.dags
        }

    @property
    def longitudinal(self) -> bool:
        """Whether rows belong to events."""
        return str(self.project["is_longitudinal"]) == "1"

    @cached_property
    def identifier_fields(self) -> frozenset[str]:
        """Fields the dictionary marks as identifying a person."""
        return frozenset(name for name, row in self.fields.items() if row.get("identifier") == "y")

    @cached_property
    def missing_codes(self) -> Mapping[str, str]:
        """Missing data codes with their meaning, e.g. {"UNK": "Unknown"}."""
        return parse_choices(str(self.project.get("missing_data_codes") or ""))

    @cached_property
    def columns(self) -> Mapping[str, tuple[str, str]]:
        """Export column -> (field, choice code); the code is "" unless it is a checkbox."""
        return {
            row["export_field_name"]: (row["original_field_name"], str(row.get("choice_value", "")))
            for row in self.export_field_names
        }

    @cached_property
    def shape(self) -> ExportShape:
        """What the REDCap client needs to see gaps."""
        return ExportShape(self.metadata, self.export_field_names, self.longitudinal)

    def label(self, name: str) -> str:
        """What people call a field; of `<form>_complete` the form's label; else the name itself."""
        row = self.fields.get(name)
        if row is not None:
            return strip_tags(str(row.get("field_label") or "")).strip() or name
        form = name.removesuffix(_COMPLETE)
        if form != name and form in self._forms:
            return _("%(form)s: status") % {"form": self._forms[form]}
        return name

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
            return _status() if coded else {}
        kind = row["field_type"]
        if kind in ("yesno", "truefalse"):
            return {"1": _("Yes"), "0": _("No")}
        if kind in ("radio", "dropdown", "checkbox"):
            return parse_choices(str(row["select_choices_or_calculations"]))
        return {}

    def unit(self, name: str) -> str:
        """The unit named by field_note ("单位:mmol/L" or a bare "mmol/L"), else ""."""
        note = strip_tags(str(self.fields.get(name, {}).get("field_note") or "")).strip()
        named = _UNIT.search(note)
        if named:
            return named[1].rstrip("。.;；,，)）")
        return note if _BARE_UNIT.fullmatch(note) and not _is_format(note) else ""

    @cached_property
    def _forms(self) -> Mapping[str, str]:
        return {
            row["instrument_name"]: strip_tags(str(row["instrument_label"]))
            for row in self.instruments
        }


def parse_choices(text: str) -> Mapping[str, str]:
    """`"1, Yes | 2, No, never"` -> {"1": "Yes", "2": "No, never"}; labels may hold commas (1.3)."""
    pairs: Iterable[tuple[str, str, str]] = (part.partition(",") for part in text.split("|"))
    return {
        code.strip(): strip_tags(label).strip() or code.strip()
        for code, _comma, label in pairs
        if code.strip()
    }


def _status() -> Mapping[str, str]:
    return {"0": _("Incomplete"), "1": _("Unverified"), "2": _("Complete")}


def _is_format(note: str) -> bool:
    """Notes such as YYYY-MM-DD or HH:MM describe how to write, not what is measured."""
    return re.fullmatch(r"[YMDHS:/. -]+", note) is not None

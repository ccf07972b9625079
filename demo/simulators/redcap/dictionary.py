"""The data dictionary with its forms, events and repeats (reference/redcap_dify.md 1.2-1.6)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from demo.simulators.study import Study

STATUS_CHOICES = (("0", "Incomplete"), ("1", "Unverified"), ("2", "Complete"))
FIXED_CHOICES: dict[str, tuple[tuple[str, str], ...]] = {
    "yesno": (("1", "Yes"), ("0", "No")),
    "truefalse": (("1", "True"), ("0", "False")),
}
CODED_TYPES = ("radio", "dropdown", "yesno", "truefalse", "checkbox", "status")


def checkbox_column(field: str, code: str) -> str:
    """`x`, `-4` -> `x____4`: codes lower-cased, each non-alphanumeric character `_`."""
    return f"{field}___{re.sub(r'[^a-z0-9]', '_', code.lower())}"


def parse_choices(text: str) -> tuple[tuple[str, str], ...]:
    """`0, A | 1, B, or C` -> (("0","A"),("1","B, or C"))."""
    pairs = []
    for part in text.split("|"):
        code, comma, label = part.partition(",")
        if comma or code.strip():
            pairs.append((code.strip(), label.strip()))
    return tuple(pairs)


@dataclass(frozen=True)
class Field:
    """One field, the status of a form (type status) or a survey's time (type timestamp)."""

    name: str
    form: str
    type: str
    label: str
    validation: str = ""
    identifier: bool = False
    choices: tuple[tuple[str, str], ...] = ()

    @cached_property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """Export columns as (column, code); code "" unless a checkbox; descriptive has none."""
        if self.type == "descriptive":
            return ()
        if self.type == "checkbox":
            return tuple((checkbox_column(self.name, code), code) for code, _ in self.choices)
        return ((self.name, ""),)

    def label_of(self, value: str) -> str:
        """The label of a code; anything else unchanged."""
        return dict(self.choices).get(value, value)


class Dictionary:
    """Everything about the project that is not a value of a record."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.forms = _form_order(study)
        self.fields = self._build_fields()
        self.by_name = {field.name: field for field in self.fields}
        self.by_column = {column: (f, code) for f in self.fields for column, code in f.columns}
        self.record_id = study.metadata[0]["field_name"]
        self.longitudinal = bool(study.project.get("is_longitudinal")) and bool(study.events)
        self.events = [row["unique_event_name"] for row in study.events]
        self._mapped = {(row["unique_event_name"], row["form"]) for row in study.mapping}
        self._repeating = {
            (row.get("event_name", "") if self.longitudinal else "", row["form_name"])
            for row in study.repeating
        }
        self.missing_codes = dict(parse_choices(study.project.get("missing_data_codes") or ""))
        self.dag_ids = {d["unique_group_name"]: str(d["data_access_group_id"]) for d in study.dags}

    @property
    def has_repeats(self) -> bool:
        """Whether rows carry redcap_repeat_instrument and redcap_repeat_instance."""
        return bool(self._repeating)

    def form_in_event(self, form: str, event: str) -> bool:
        """Whether the form is designated for the event."""
        return not self.longitudinal or (event, form) in self._mapped

    def form_repeats(self, form: str, event: str) -> bool:
        """Whether the form has instances of its own in the event."""
        return (event if self.longitudinal else "", form) in self._repeating

    def event_repeats(self, event: str) -> bool:
        """Whether the whole event repeats (form_name "")."""
        return self.longitudinal and (event, "") in self._repeating

    def holds(self, form: str, event: str, instrument: str) -> bool:
        """Whether a row of (event, redcap_repeat_instrument) can hold values of the form."""
        if not self.form_in_event(form, event):
            return False
        return form == instrument if self.form_repeats(form, event) else instrument == ""

    def event_label(self, event: str) -> str:
        """`Baseline`, with its arm where there is more than one."""
        row = next((r for r in self.study.events if r["unique_event_name"] == event), None)
        if row is None:
            return event
        if len(self.study.arms) < 2:
            return str(row["event_name"])
        arms = {arm["arm_num"]: arm["name"] for arm in self.study.arms}
        return f"{row['event_name']} (Arm {row['arm_num']}: {arms.get(row['arm_num'], '')})"

    def form_label(self, form: str) -> str:
        """The instrument's label."""
        labels = {r["instrument_name"]: r["instrument_label"] for r in self.study.instruments}
        return str(labels.get(form, form))

    def is_survey(self, form: str) -> bool:
        """Our own key `survey` in instruments.json: the API does not say it."""
        rows = self.study.instruments
        return any(r["instrument_name"] == form and r.get("survey") for r in rows)

    def _build_fields(self) -> list[Field]:
        fields: list[Field] = []
        for form in self.forms:
            rows = (row for row in self.study.metadata if row["form_name"] == form)
            if self.is_survey(form):
                fields.append(Field(f"{form}_timestamp", form, "timestamp", "Survey Timestamp"))
            fields += [_field(row) for row in rows]
            status = Field(f"{form}_complete", form, "status", "Complete?", choices=STATUS_CHOICES)
            fields.append(status)
        return fields


def _form_order(study: Study) -> list[str]:
    return list(dict.fromkeys(row["form_name"] for row in study.metadata))


def _field(row: dict[str, str]) -> Field:
    kind = row["field_type"]
    choices = FIXED_CHOICES.get(kind, ())
    if kind in ("radio", "dropdown", "checkbox"):
        choices = parse_choices(row["select_choices_or_calculations"])
    return Field(
        name=row["field_name"],
        form=row["form_name"],
        type=kind,
        label=row["field_label"],
        validation=row["text_validation_type_or_show_slider_number"],
        identifier=row["identifier"].lower() == "y",
        choices=choices,
    )

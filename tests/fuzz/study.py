"""A small study with every kind of column, for rules that fuzzing makes."""

from __future__ import annotations

from typing import Any


def _field(
    name: str,
    kind: str = "text",
    validation: str = "",
    *,
    choices: str = "",
    form: str = "base",
    shown_if: str = "",
) -> dict[str, str]:
    return {
        "field_name": name,
        "form_name": form,
        "field_type": kind,
        "field_label": name,
        "select_choices_or_calculations": choices,
        "text_validation_type_or_show_slider_number": validation,
        "branching_logic": shown_if,
    }


DICTIONARY = [
    _field("record_id"),
    _field("age", validation="integer"),
    _field("alt", validation="number"),
    _field("comma", validation="number_2dp_comma_decimal"),
    _field("sex", "radio", choices="0, Female | 1, Male"),
    _field("ecog", "dropdown", choices="0, Active | 1, Restricted | 2, Ambulatory"),
    _field("grade", "radio", choices="A, Mild | B, Severe"),
    _field("consent", "yesno"),
    _field("dob", validation="date_ymd"),
    _field("icf", validation="date_dmy"),
    _field("dosed", validation="datetime_ymd"),
    _field("wake", validation="time"),
    _field("text"),
    _field("note", "notes"),
    _field("box", "checkbox", choices="1, One | 2, Two | 3, Three"),
    _field("preg", "radio", choices="0, No | 1, Yes", shown_if="[sex] = '0' and [age] > 12"),
    _field("unit", "radio", choices="1, mg/dL | 2, mmol/L"),
    _field("ae_day", validation="date_ymd", form="ae"),
    _field("ae_term", form="ae"),
]
COLUMNS = [
    *(row["field_name"] for row in DICTIONARY if row["field_type"] != "checkbox"),
    *("box___1", "box___2", "box___3", "base_complete"),
]
PROJECT: dict[str, Any] = {
    "missing_data_codes": "NA, Not applicable | UNK, Unknown",
    "timezone": "Asia/Shanghai",
    "form_event_mapping": [
        {"arm_num": 1, "unique_event_name": "e1", "form": "base"},
        {"arm_num": 1, "unique_event_name": "e2", "form": "ae"},
    ],
    "repeating": [{"event_name": "e2", "form_name": "ae"}],
}
CELLS = [
    *("", " ", "0", "1", "2", "3", "50", "5.0", "5,5", "-1", "1e9", "ND", "NA", "UNK", "<5"),
    *(">100", "2024", "2024-03", "2024-03-01", "2024-02-30", "2024-03-01 09:00", "9:5", "23:59"),
    *("A", "mg/dL", "不详", "1_000", "\u0661", "x" * 300, "9" * 40),
]
PLACES: list[dict[str, Any]] = [
    {},
    {"redcap_event_name": "e1"},
    {"redcap_event_name": "e2", "redcap_repeat_instrument": "ae", "redcap_repeat_instance": 1},
    {"redcap_event_name": "e2", "redcap_repeat_instrument": "ae", "redcap_repeat_instance": "2"},
    {"redcap_event_name": "nowhere", "redcap_repeat_instrument": "", "redcap_repeat_instance": ""},
]
LOGIC_ROWS: list[dict[str, Any]] = [
    {
        "redcap_event_name": "e1",
        "age": "50",
        "alt": "<5",
        "icf": "2024-03",
        "text": "x",
        "box___1": "1",
    },
    {"redcap_event_name": "e1", "age": "", "alt": "NA", "dob": "1960-02-29", "text": "2024-01-01"},
    *({**place, "ae_term": "a", "ae_day": "2024-01-02"} for place in PLACES[2:4]),
]

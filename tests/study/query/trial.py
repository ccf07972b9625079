"""A trial of four subjects made by hand, small enough to work every answer out on paper."""

from __future__ import annotations

from decimal import Decimal
from functools import cache

from study.proposals import ReferenceRange
from tests.study.query.studies import Study, small, text

FIELDS = [
    text("record_id", "base"),
    text("name", "base", identifier="y"),
    text("sex", "base", kind="radio", choices="1, 男 | 2, 女"),
    text("pregnant", "base", kind="yesno", branching='[sex] = "2"'),
    text("why_out", "base", kind="checkbox", choices="1, 感染 | 2, 妊娠 | 3, 过敏"),
    text("enrolled_on", "base", kind="date_ymd"),
    text("state", "base", kind="radio", choices="1, 筛选 | 2, 入组"),
    text("visit_date", "visit", kind="date_ymd"),
    text("lab_date", "lab", kind="date_ymd"),
    text("alt", "lab", kind="number", label="谷丙转氨酶（U/L）"),
    text("sugar", "lab", kind="number", label="血糖"),
    text("sugar_unit", "lab"),
    text("grade", "ae", kind="radio", choices="1, 1级 | 2, 2级 | 3, 3级"),
    text("serious", "ae", kind="yesno"),
    text("onset", "ae"),
    text("arm", "secret", kind="radio", choices="A, 试验 | B, 对照"),
]
EVENTS = {
    "base": ("base", "secret"),
    "v1": ("visit", "lab"),
    "v2": ("visit", "lab"),
    "log": ("ae",),
}


def base(**values: str) -> dict[str, str]:
    """A base row of an opened form."""
    return {"event": "base", "base_complete": "2", **values}


def ae(n: int, **values: str) -> dict[str, str]:
    """An adverse event."""
    head = {"event": "log", "form": "ae", "n": str(n), "ae_complete": "2"}
    return head | values


@cache
def trial(*hidden: str) -> Study:
    """S1 and S2 at site a, S3 and S4 at site b; V2 of S4 is overdue without a row."""
    records = {
        "S1": [
            base(sex="1", enrolled_on="2026-10-01", state="2", why_out___1="1", arm="A"),
            {
                "event": "v1",
                "lab_date": "2026-10-02",
                "alt": "30",
                "sugar": "5",
                "sugar_unit": "mmol/L",
            },
            {
                "event": "v2",
                "lab_date": "2026-11-02",
                "alt": "90",
                "sugar": "90.08",
                "sugar_unit": "mg/dL",
            },
            ae(1, grade="3", serious="0", onset="2026-10-05"),
            ae(2, grade="1", serious="1", onset="2026-11"),
        ],
        "S2": [
            base(sex="2", enrolled_on="2026-10-10", state="2", pregnant="", arm="B"),
            {"event": "v1", "lab_date": "2026-10-11", "alt": "UNK", "sugar": "7", "sugar_unit": ""},
            {"event": "v2", "visit_date": "2026-11-08", "alt": ""},
            ae(1, grade="3", serious="1", onset="2026-10-20"),
        ],
        "S3": [
            base(sex="", enrolled_on="2026-08-03", state="1", arm="A"),
            {"event": "v1", "lab_date": "2026-08-04", "alt": "<10"},
        ],
        "S10": [
            base(sex="2", enrolled_on="2026-09-30", state="2", pregnant="1", arm="B"),
            {"event": "v1", "lab_date": "2026-10-01", "alt": "90"},
        ],
    }
    visits = [
        {"visit": visit, "event": event, "anchor_field": "enrolled_on", "date_field": "visit_date"}
        | {"day": day, "minus": 3, "plus": 3}
        for visit, event, day in (("V1", "v1", 1), ("V2", "v2", 28))
    ]
    return small(
        FIELDS,
        records,
        events=EVENTS,
        repeating=("ae",),
        visits=visits,
        sites={"S1": "a", "S2": "a", "S3": "b", "S10": "b"},
        enrolment_field="enrolled_on",
        status_field="state",
        sex_field="sex",
        mapped={"ALT": "alt", "who": "name"},
        form_dates={"base": "enrolled_on", "visit": "visit_date", "lab": "lab_date", "ae": "onset"},
        unit_fields={"sugar": "sugar_unit"},
        ranges={
            "alt": (
                ReferenceRange("alt", "", "1", None, Decimal(50)),
                ReferenceRange("alt", "", "2", Decimal(8), Decimal(40)),
            ),
            "sugar": (ReferenceRange("sugar", "mmol/L", "", Decimal("3.9"), Decimal("6.1")),),
        },
        hidden=frozenset({"name", *hidden}),
    )

"""A study of 300 subjects as REDCap would export it, made from a seed; the form of demo/study/redcap."""

from __future__ import annotations

import random
from datetime import date, timedelta
from typing import Any

ARMS = (1, 2, 3)
VISITS = (("V1", 1, 2), ("V2", 29, 5), ("V3", 57, 7))
COLUMNS = (
    "field_name",
    "form_name",
    "field_type",
    "field_label",
    "select_choices_or_calculations",
    "field_note",
    "text_validation_type_or_show_slider_number",
    "identifier",
    "branching_logic",
)
# name, form, type, label, choices, note, validation, identifier, branching
FIELDS = """
record_id|demographics|text|编号|||||
full_name|demographics|text|姓名||||y|
phone|demographics|text|电话||||y|
birth_date|demographics|text|出生日期|||date_ymd|y|
sex|demographics|radio|性别|1, 男 / 2, 女||||
fertile|demographics|yesno|可生育|||||[sex] = '2'
smoking|demographics|dropdown|吸烟|N, 从不 / F, 既往 / C, 目前||||
consent_date|demographics|text|同意日期|||date_ymd||
height|demographics|text|身高|||number||
age_years|demographics|calc|年龄|rounddown(datediff([birth_date], [consent_date], 'y'), 0)||||
status|disposition|dropdown|状态|1, 筛选中 / 2, 已入组 / 3, 筛选失败 / 4, 退出 / 5, 完成||||
withdraw_date|disposition|text|退出日期|||date_ymd||[status] = '4'
withdraw_why|disposition|notes|退出原因|||||[status] = '4'
treatment|disposition|radio|治疗组|A, 试验药 / B, 对照药||||
enrolled|enrollment|yesno|是否入组|||||
enroll_date|enrollment|text|入组日期|||date_ymd||[enrolled] = '1'
first_dose|enrollment|text|首次用药|||date_ymd||[enrolled] = '1'
visit_date|visit|text|访视日期|||date_ymd||
visit_time|visit|text|到访时间|||datetime_ymd||
weight|visit|text|体重|||number_1dp||
sbp|visit|text|收缩压|||integer||
pain|visit|slider|疼痛|||number||
symptoms|visit|checkbox|症状|1, 咳嗽 / 2, 乏力 / 3, 其他||||
symptom_other|visit|text|其他症状|||||[symptoms(3)] = '1'
lab_date|labs|text|采血日期|||date_ymd||
alt|labs|text|ALT||正常上限 40|number||
hgb|labs|text|血红蛋白|||integer||
glucose|labs|text|血糖|||number||
glucose_unit|labs|text|血糖单位|||||
crea|labs|text|肌酐|||number||
crea_uln|labs|text|肌酐上限|||number||
lab_ok|labs|truefalse|标本合格|||||
ae_term|ae|text|事件名称|||||
ae_start|ae|text|开始||||||
ae_end|ae|text|结束|||date_ymd||
ae_grade|ae|dropdown|分级|1, 1级 / 2, 2级 / 3, 3级 / 4, 4级||||
ae_serious|ae|yesno|是否严重|||||
ae_report|ae|text|报告日期|||date_ymd||[ae_serious] = '1'
ae_outcome|ae|radio|转归|1, 痊愈 / 2, 好转 / 3, 持续||||
med_name|med|text|药名|||||
med_start|med|text|用药开始|||date_ymd||
med_dose|med|text|剂量|||number||
med_class|med|dropdown|类别|1, 抗生素 / 2, 激素 / 9, 其他||||
"""
RANGES = {
    "hgb": [
        {"unit": "", "sex": "1", "low": "130", "high": "175"},
        {"unit": "", "sex": "2", "low": "115", "high": "150"},
    ],
    "glucose": [{"unit": "mmol/L", "sex": "", "low": "3.9", "high": "6.1"}],
    "crea": [{"unit": "", "sex": "", "low": None, "high": "crea_uln"}],
}
MAPPED = {"ECOG替身": "pain", "转氨酶": "alt", "blood_sugar": "glucose"}


def files(today: date, seed: int = 20260101, subjects: int = 300) -> dict[str, Any]:
    """Everything of the study by the names of demo/study: redcap exports, plan and settings."""
    rng = random.Random(seed)
    events = [
        (f"{name}_arm_{arm}", arm, label)
        for arm in ARMS
        for name, label in (
            ("screening", "筛选"),
            ("v1", "V1"),
            ("v2", "V2"),
            ("v3", "V3"),
            ("log", "记录"),
        )
    ]
    held = {
        "screening": ("demographics", "disposition", "enrollment"),
        "v1": ("visit", "labs"),
        "v2": ("visit", "labs"),
        "v3": ("visit", "labs"),
        "log": ("ae", "med"),
    }
    forms = ("demographics", "disposition", "enrollment", "visit", "labs", "ae", "med")
    metadata = [_field(line) for line in FIELDS.strip().splitlines()]
    records = [row for number in range(1, subjects + 1) for row in _subject(rng, number, today)]
    plan = [
        {
            "visit": visit,
            "anchor_field": "enroll_date",
            "date_field": "visit_date",
            "day": day,
            "minus": width,
            "plus": width,
            "event": f"{visit.lower()}_arm_{arm}",
            "arm": f"arm_{arm}",
        }
        for arm in ARMS
        for visit, day, width in VISITS
    ]
    return {
        "project": {
            "project_title": "Generated",
            "is_longitudinal": 1,
            "missing_data_codes": "NA, 不适用 | UNK, 未知",
        },
        "metadata": metadata,
        "events": [
            {"unique_event_name": name, "arm_num": arm, "event_name": label}
            for name, arm, label in events
        ],
        "arms": [{"arm_num": arm, "name": f"组{arm}"} for arm in ARMS],
        "mapping": [
            {"arm_num": arm, "unique_event_name": name, "form": form}
            for name, arm, _label in events
            for form in held[name.partition("_")[0]]
        ],
        "instruments": [{"instrument_name": form, "instrument_label": form} for form in forms],
        "repeating": [
            {"event_name": f"log_arm_{arm}", "form_name": form}
            for arm in ARMS
            for form in ("ae", "med")
        ],
        "dags": [
            {"unique_group_name": site, "data_access_group_name": site}
            for site in ("north", "south")
        ],
        "records": records,
        "settings": {
            "start": (today - timedelta(days=300)).isoformat(),
            "target": 350,
            "timezone": "Asia/Shanghai",
            "enrolment_field": "enroll_date",
            "status_field": "status",
            "sex_field": "sex",
            "birth_field": "birth_date",
            "consent_field": "consent_date",
            "mapped": MAPPED,
            "form_dates": {
                "visit": "visit_date",
                "labs": "lab_date",
                "ae": "ae_start",
                "med": "med_start",
            },
            "unit_fields": {"glucose": "glucose_unit"},
            "ranges": RANGES,
            "plan": {"anchor_is_day": 1, "withdraw_field": "withdraw_date", "visits": plan},
        },
    }


def _field(line: str) -> dict[str, str]:
    parts = (line.split("|") + [""] * 9)[:9]
    name, form, kind, label, choices, note, check, identifier, logic = parts
    values = (
        name,
        form,
        kind,
        label,
        choices.replace(" / ", " | "),
        note,
        check,
        identifier,
        logic,
    )
    return dict(zip(COLUMNS, values, strict=True))


def _subject(rng: random.Random, number: int, today: date) -> list[dict[str, Any]]:
    arm, site = rng.choice(ARMS), rng.choice(("north", "south"))
    record = f"S{number:03d}"
    consent = today - timedelta(days=rng.randrange(5, 280))
    rows: list[dict[str, Any]] = []

    def add(
        event: str, values: dict[str, Any], instrument: str = "", instance: int | None = None
    ) -> None:
        kept = {name: str(value) for name, value in values.items() if value not in ("", None)}
        rows.append(
            {
                "record": record,
                "event": f"{event}_arm_{arm}",
                "instrument": instrument,
                "instance": instance,
                "dag": site,
                "values": kept,
            }
        )

    values, enrolled, withdrawn = _screening(rng, number, consent, today)
    add("screening", values)
    if enrolled is not None:
        for visit, day, width in VISITS:
            planned = enrolled + timedelta(days=day - 1)
            if planned > today + timedelta(days=10) or (withdrawn and planned > withdrawn):
                continue
            if rng.random() < 0.85:
                add(
                    visit.lower(),
                    _visit(rng, planned + timedelta(days=rng.randrange(-width - 2, width + 3))),
                )
    for instance in range(1, rng.choice((1, 1, 2, 3, 4))):
        add("log", _event(rng, consent, today), "ae", instance)
    for instance in range(1, rng.choice((1, 2, 3))):
        add("log", _medication(rng, consent), "med", instance)
    return rows


def _or_not(rng: random.Random, value: Any, blank: float = 0.08, code: float = 0.05) -> Any:
    """The value, or sometimes nothing, or a missing code."""
    dice = rng.random()
    if dice < blank:
        return ""
    return rng.choice(("NA", "UNK")) if dice < blank + code else value


def _screening(rng: random.Random, number: int, consent: date, today: date):
    sex = rng.choice("12")
    status = rng.choice("1222222345")
    birth = consent - timedelta(days=rng.randrange(20 * 365, 80 * 365))
    is_in = status in "245"
    enrolled = consent + timedelta(days=rng.randrange(0, 15)) if is_in else None
    withdrawn = None
    if status == "4":
        withdrawn = min(enrolled + timedelta(days=rng.randrange(1, 80)), today)
    values = {
        "full_name": f"测试{number}",
        "phone": f"139{number:08d}",
        "birth_date": birth,
        "sex": sex,
        "fertile": _or_not(rng, rng.choice("01"))
        if sex == "2"
        else ("1" if rng.random() < 0.02 else ""),
        "smoking": _or_not(rng, rng.choice("NFC")),
        "consent_date": consent,
        "height": _or_not(rng, f"{rng.uniform(150, 190):.0f}"),
        "age_years": (consent - birth).days // 365,
        "demographics_complete": "2",
        "status": status,
        "withdraw_date": withdrawn,
        "disposition_complete": rng.choice("012"),
        "withdraw_why": _or_not(rng, "不良事件") if status == "4" else "",
        "treatment": rng.choice("AB") if is_in else "",
        "enrolled": "1" if is_in else _or_not(rng, "0", 0.3, 0),
        "enroll_date": enrolled,
        "first_dose": _or_not(rng, enrolled + timedelta(days=1)) if is_in else "",
        "enrollment_complete": "2" if is_in else "",
    }
    return values, enrolled, withdrawn


def _visit(rng: random.Random, day: date) -> dict[str, Any]:
    if rng.random() < 0.06:
        return {"visit_complete": "0"}
    ticked = [code for code in "123" if rng.random() < 0.3]
    values = {
        "visit_date": day,
        "visit_time": _or_not(rng, f"{day} {rng.randrange(8, 18):02d}:{rng.choice(('00', '30'))}"),
        "weight": _or_not(rng, f"{rng.uniform(45, 95):.1f}"),
        "sbp": _or_not(rng, rng.randrange(95, 170)),
        "pain": _or_not(rng, rng.randrange(0, 101, 5)),
        "visit_complete": rng.choice("0122"),
        "symptom_other": _or_not(rng, rng.choice(("头痛", "皮疹"))) if "3" in ticked else "",
    }
    values |= {f"symptoms___{code}": "1" for code in ticked}
    if not ticked and rng.random() < 0.1:
        values["symptoms___na"] = "1"
    if rng.random() < 0.85:
        values |= _labs(rng, day)
    if "lab_date" in values and rng.random() < 0.04:
        return {
            name: values[name]
            for name in values
            if name.startswith(("lab", "alt", "hgb", "glu", "crea"))
        }
    return values


def _labs(rng: random.Random, day: date) -> dict[str, Any]:
    alt = rng.choice(
        (f"{rng.uniform(8, 60):.0f}", f"{rng.uniform(8, 200):.1f}", "<5", "<=10", ">300")
    )
    unit = rng.choice(("mmol/L", "mmol/L", "mmol/L", "mg/dL", ""))
    sugar = rng.uniform(3.5, 9) * (18.016 if unit == "mg/dL" else 1)
    return {
        "lab_date": _or_not(rng, day + timedelta(days=rng.choice((0, 0, 1)))),
        "alt": _or_not(rng, alt),
        "hgb": _or_not(
            rng, rng.choice((rng.randrange(85, 180), rng.randrange(110, 160), "12.5", "<90"))
        ),
        "glucose": _or_not(rng, f"{sugar:.1f}"),
        "glucose_unit": unit,
        "crea": _or_not(rng, f"{rng.uniform(40, 160):.0f}"),
        "crea_uln": _or_not(rng, rng.choice(("104", "111"))),
        "lab_ok": _or_not(rng, rng.choice("0111")),
        "labs_complete": rng.choice("0122"),
    }


def _event(rng: random.Random, consent: date, today: date) -> dict[str, Any]:
    start = consent + timedelta(days=rng.randrange(0, max(1, (today - consent).days)))
    written = rng.choice(
        (
            start.isoformat(),
            start.isoformat(),
            f"{start:%Y-%m}",
            str(start.year),
            f"{start:%Y-%m}-UN",
        )
    )
    serious = rng.choice("00001")
    return {
        "ae_term": rng.choice(("皮疹", "腹泻", "ALT升高", "发热", "贫血")),
        "ae_start": _or_not(rng, written),
        "ae_end": _or_not(rng, start + timedelta(days=rng.randrange(1, 30)), 0.4),
        "ae_grade": _or_not(rng, rng.choice("1112234")),
        "ae_serious": _or_not(rng, serious, 0.05, 0),
        "ae_report": _or_not(rng, start + timedelta(days=2), 0.3) if serious == "1" else "",
        "ae_outcome": _or_not(rng, rng.choice("1239") if rng.random() < 0.2 else rng.choice("123")),
        "ae_complete": rng.choice("012"),
    }


def _medication(rng: random.Random, consent: date) -> dict[str, Any]:
    return {
        "med_name": rng.choice(("阿莫西林", "泼尼松", "对乙酰氨基酚")),
        "med_start": _or_not(rng, consent + timedelta(days=rng.randrange(-20, 100))),
        "med_dose": _or_not(rng, rng.choice(("0.5", "10", "250", "5E2", "<1"))),
        "med_class": _or_not(rng, rng.choice("129")),
        "med_complete": "2",
    }

"""Seven kinds of REDCap project, generated: what a study may look like that is not the demo's.

Each has a birth date that REDCap does not flag, subjects with data and one whose forms were never begun.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from demo.simulators.study import METADATA_COLUMNS
from study.metadata import StudyMetadata

TOKEN = "7" * 32
BIRTHS = ("1951-03-09", "1968-11-23")
DATE, NUMBER = "date_ymd", "number"


@dataclass(frozen=True)
class Kind:
    """One project as REDCap would export it.

    `births`: fields that hold or tell a birth date; `doubtful`: dates of which nobody can say whether they do;
    `filled`: records with data; `empty`: a record of which no form was begun; `started`: the field that tells
    enrolment, "" for none; `term`: a field of which questions can be asked, with its label.
    """

    name: str
    fields: Sequence[dict[str, str]]
    instruments: dict[str, str]
    records: Sequence[dict[str, Any]]
    filled: tuple[str, ...]
    empty: str
    births: frozenset[str]
    doubtful: frozenset[str] = frozenset()
    events: Sequence[dict[str, Any]] = ()
    mapping: Sequence[dict[str, Any]] = ()
    arms: Sequence[dict[str, Any]] = ()
    repeating: Sequence[dict[str, Any]] = ()
    started: str = ""
    term: tuple[str, str] = ("", "")
    project: dict[str, Any] = field(default_factory=dict)

    @property
    def about(self) -> dict[str, Any]:
        """REDCap's `project` content."""
        return {
            "project_id": 77,
            "project_title": f"Study of kind {self.name}",
            "is_longitudinal": int(bool(self.events)),
            "has_repeating_instruments_or_events": int(bool(self.repeating)),
            "surveys_enabled": 0,
            "missing_data_codes": "",
            **self.project,
        }

    @property
    def metadata(self) -> StudyMetadata:
        """The dictionary without a REDCap that would export it."""
        return StudyMetadata(**self.content)

    @property
    def content(self) -> dict[str, Any]:
        """The same as `study.models.Dictionary` stores it."""
        return {
            "metadata": [dict(row) for row in self.fields],
            "project": self.about,
            "events": list(self.events),
            "mapping": list(self.mapping),
            "repeating": list(self.repeating),
            "export_field_names": [],
            "instruments": [
                {"instrument_name": name, "instrument_label": label}
                for name, label in self.instruments.items()
            ],
        }

    def write(self, directory: Path) -> Path:
        """Files for `tests.support.stand_ins.StandIns`; returns the directory."""
        root = directory / "redcap"
        root.mkdir(parents=True)
        with (root / "metadata.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, METADATA_COLUMNS)
            writer.writeheader()
            writer.writerows(self.fields)
        parts = {
            "project": self.about,
            "instruments": self.metadata.instruments,
            "events": self.events,
            "mapping": self.mapping,
            "arms": self.arms,
            "repeating": self.repeating,
            "records": self.records,
        }
        for name, content in parts.items():
            (root / f"{name}.json").write_text(json.dumps(content), "utf-8")
        return directory


def spellings(births: Sequence[str] = BIRTHS) -> list[str]:
    """Birth dates as texts may spell them."""
    found = []
    for birth in births:
        year, month, day = birth.split("-")
        found += [
            birth,
            f"{year}/{month}/{day}",
            f"{year}{month}{day}",
            f"{day}-{month}-{year}",
            f"{day}/{month}/{year}",
            f"{month}-{day}-{year}",
            f"{year}年{int(month)}月{int(day)}日",
        ]
    return found


def item(form: str, name: str, label: str, kind: str = "text", **more: str) -> dict[str, str]:
    """A row of the dictionary; `check`: validation, `choices`: choices or calculation, `show`: branching."""
    short = {
        "check": "text_validation_type_or_show_slider_number",
        "choices": "select_choices_or_calculations",
        "show": "branching_logic",
        "note": "field_note",
        "required": "required_field",
        "action": "field_annotation",
        "low": "text_validation_min",
        "high": "text_validation_max",
    }
    own = {"form_name": form, "field_name": name, "field_label": label, "field_type": kind}
    return (
        dict.fromkeys(METADATA_COLUMNS, "")
        | own
        | {short.get(key, key): value for key, value in more.items()}
    )


def row(
    record: str,
    values: dict[str, str],
    event: str = "",
    form: str = "",
    instance: int | None = None,
) -> dict[str, Any]:
    """A row of a record."""
    return {
        "record": record,
        "event": event,
        "instrument": form,
        "instance": instance,
        "values": values,
    }


def _event(
    arm: int, label: str, unique: str, day: int, before: int = 0, after: int = 0
) -> dict[str, Any]:
    return {
        "event_name": label,
        "arm_num": arm,
        "unique_event_name": unique,
        "day_offset": day,
        "offset_min": before,
        "offset_max": after,
        "custom_event_label": None,
        "event_id": 500 + len(unique) * 31 + arm,
    }


def _mapped(places: Mapping[str, tuple[int, Sequence[str]]]) -> list[dict[str, Any]]:
    """Unique event -> (arm, forms)."""
    return [
        {"arm_num": arm, "unique_event_name": event, "form": form}
        for event, (arm, forms) in places.items()
        for form in forms
    ]


@cache
def longitudinal() -> Kind:
    """One arm with events, Chinese labels, a repeating form, a birth date as the form's first date."""
    fields = [
        item("demographics", "record_id", "受试者编号"),
        item("demographics", "csrq", "出生日期", check=DATE, required="y"),
        item("demographics", "sex", "性别", "radio", choices="1, 男 | 2, 女", required="y"),
        item("demographics", "icf_date", "知情同意签署日期", check=DATE, required="y"),
        item(
            "demographics",
            "age",
            "年龄",
            "calc",
            choices="rounddown(datediff([csrq], [icf_date], 'y'), 0)",
        ),
        item("demographics", "history", "既往史", "notes"),
        item("enrolment", "enrol_date", "入组日期", check=DATE, required="y"),
        item("visit", "visit_date", "访视日期", check=DATE, required="y"),
        item("visit", "sbp", "收缩压", check="integer", note="单位:mmHg", low="60", high="250"),
        item(
            "visit",
            "pregnancy",
            "妊娠试验",
            "radio",
            choices="0, 阴性 | 1, 阳性",
            show="[screening_arm_1][sex] = '2'",
            required="y",
        ),
        item("ae", "ae_term", "不良事件名称", required="y"),
        item("ae", "ae_start", "开始日期", check=DATE),
        item("ae", "ae_grade", "分级", "dropdown", choices="1, 1级 | 2, 2级 | 3, 3级"),
    ]
    events = [
        _event(1, "筛选", "screening_arm_1", 0),
        _event(1, "基线", "baseline_arm_1", 1),
        _event(1, "第4周", "week_4_arm_1", 28, 3, 3),
        _event(1, "记录", "log_arm_1", 99),
    ]
    places = {
        "screening_arm_1": (1, ("demographics",)),
        "baseline_arm_1": (1, ("enrolment", "visit")),
        "week_4_arm_1": (1, ("visit",)),
        "log_arm_1": (1, ("ae",)),
    }
    records = []
    for record, birth, sex in (("S-001", BIRTHS[0], "1"), ("S-002", BIRTHS[1], "2")):
        told = {"csrq": birth, "sex": sex, "icf_date": "2026-03-02", "demographics_complete": "2"}
        told |= {"age": "74" if sex == "1" else "57"}
        told |= {"history": f"{birth[:4]}年{int(birth[5:7])}月{int(birth[8:])}日建档,高血压病史8年"}
        started = {
            "enrol_date": "2026-03-05",
            "enrolment_complete": "2",
            "visit_date": "2026-03-05",
        }
        records += [
            row(record, told, "screening_arm_1"),
            row(record, started | {"sbp": "128", "visit_complete": "2"}, "baseline_arm_1"),
            row(record, {"visit_date": "2026-04-01", "sbp": "131"}, "week_4_arm_1"),
            row(record, {"ae_term": "恶心", "ae_start": "2026-03-20"}, "log_arm_1", "ae", 1),
        ]
    records.append(row("S-003", {}, "screening_arm_1"))
    return Kind(
        "longitudinal",
        fields,
        {"demographics": "基本信息", "enrolment": "入组", "visit": "访视", "ae": "不良事件"},
        records,
        ("S-001", "S-002"),
        "S-003",
        births=frozenset({"csrq"}),
        events=events,
        mapping=_mapped(places),
        arms=[{"arm_num": 1, "name": "研究组"}],
        repeating=[
            {"event_name": "log_arm_1", "form_name": "ae", "custom_form_label": "[ae_term]"}
        ],
        started="enrol_date",
        term=("sbp", "收缩压"),
    )


@cache
def classic() -> Kind:
    """No events, numbers as record ids, a birth date that only the calculation of the age gives away."""
    fields = [
        item("baseline", "record_id", "编号"),
        item("baseline", "dm_dt", "日期", check=DATE),
        item("baseline", "dm_dt2", "日期2", check=DATE),
        item("baseline", "sex", "性别", "radio", choices="1, 男 | 2, 女"),
        item("baseline", "icf_dt", "知情同意日期", check=DATE),
        item(
            "baseline",
            "age_y",
            "年龄（岁）",
            "calc",
            choices='rounddown(datediff([dm_dt],[icf_dt],"y"),0)',
        ),
        item("baseline", "height", "身高", check=NUMBER, note="cm"),
        item("labs", "lab_date", "采血日期", check=DATE, required="y"),
        item("labs", "alt", "谷丙转氨酶", check=NUMBER, note="U/L, 正常值 7-40", required="y"),
        item(
            "labs",
            "alt_why",
            "超限原因",
            "radio",
            choices="1, 药物<br>相关 | 2, &lt;24 h 复查 | 3, A|B 型 | 4",
            show="[alt] > 40",
        ),
    ]
    records = [
        row(
            str(number),
            {
                "dm_dt": birth,
                "dm_dt2": "2026-03-01",
                "sex": str(number),
                "icf_dt": "2026-03-02",
                "age_y": "74" if number == 1 else "57",
                "height": "170",
                "baseline_complete": "2",
                "lab_date": "2026-03-03",
                "alt": str(44 + number),
                "alt_why": str(number + 1),
                "labs_complete": "2",
            },
        )
        for number, birth in enumerate(BIRTHS, 1)
    ]
    return Kind(
        "classic",
        fields,
        {"baseline": "基线资料", "labs": "实验室检查"},
        [*records, row("3", {})],
        ("1", "2"),
        "3",
        births=frozenset({"dm_dt"}),
        doubtful=frozenset({"dm_dt2"}),
        term=("alt", "谷丙转氨酶"),
    )


@cache
def repeating() -> Kind:
    """A classic project whose visits and drugs are repeating forms; SDTM names, dates as day-month-year."""
    fields = [
        item("dm", "subjid", "受试者"),
        item("dm", "brthdtc", "BRTHDTC", check="date_dmy"),
        item("dm", "sex", "性别", "radio", choices="M, 男 | F, 女"),
        item("dm", "rficdtc", "知情同意日期", check="date_dmy"),
        item("sv", "svstdtc", "访视日期", check="date_dmy", required="y"),
        item("sv", "weight", "体重", check="number_1dp", note="kg", required="y"),
        item("cm", "cmtrt", "药物名称", required="y"),
        item("cm", "cmstdtc", "用药开始日期", check="date_dmy"),
    ]
    records = []
    for number, birth in enumerate(BIRTHS, 101):
        told = {"brthdtc": birth, "sex": "M", "rficdtc": "2026-03-02", "dm_complete": "2"}
        records += [
            row(str(number), told),
            row(str(number), {"svstdtc": "2026-03-05", "weight": "61.5"}, "", "sv", 1),
            row(str(number), {"svstdtc": "2026-04-02", "weight": "60.0"}, "", "sv", 2),
            row(str(number), {"cmtrt": "氨氯地平", "cmstdtc": "2026-03-06"}, "", "cm", 1),
        ]
    return Kind(
        "repeating",
        fields,
        {"dm": "人口学", "sv": "访视", "cm": "合并用药"},
        [*records, row("103", {})],
        ("101", "102"),
        "103",
        births=frozenset({"brthdtc"}),
        repeating=[
            {"event_name": "", "form_name": "sv", "custom_form_label": ""},
            {"event_name": "", "form_name": "cm", "custom_form_label": ""},
        ],
        term=("weight", "体重"),
    )


@cache
def arms() -> Kind:
    """Two arms whose unique event names tell neither arm nor order, as REDCap makes them of equal names."""
    fields = [
        item("start", "study_id", "受试者编号"),
        item("start", "s184099003", "184099003", check=DATE),
        item("start", "enrolled_on", "入组日期", check=DATE, required="y"),
        item("check", "check_date", "检查日期", check=DATE, required="y"),
        item("check", "hb", "血红蛋白", check=NUMBER, note="g/L", required="y"),
        item(
            "check",
            "hb_fall",
            "较上次下降",
            "calc",
            choices="if([previous-event-name][hb] = '', '', [previous-event-name][hb] - [hb])",
        ),
        item("check", "first_only", "首访备注", show="[event-name] = [first-event-name]"),
        item("check", "drug_a", "药物A剂量", check=NUMBER, show="[arm-number] = '2'"),
    ]
    events = [
        _event(1, "入组", "arm_2_start_arm_1", 0),
        _event(1, "复查", "check_arm_1", 14, 2, 2),
        _event(1, "复查", "check_arm_1b", 28, 2, 2),
        _event(2, "入组", "start_arm_2", 0),
        _event(2, "复查", "check_arm_2b", 14, 2, 2),
        _event(2, "复查", "check_arm_2", 28, 2, 2),
    ]
    places = {
        str(event["unique_event_name"]): (
            int(event["arm_num"]),
            ("start", "check") if event["day_offset"] == 0 else ("check",),
        )
        for event in events
    }
    records = []
    for record, birth, events_of in (
        ("A01", BIRTHS[0], ("arm_2_start_arm_1", "check_arm_1", "check_arm_1b")),
        ("A02", BIRTHS[1], ("start_arm_2", "check_arm_2b", "check_arm_2")),
    ):
        told = {"s184099003": birth, "enrolled_on": "2026-03-02", "start_complete": "2"}
        records.append(row(record, told, events_of[0]))
        for event, day, hb in zip(
            events_of,
            ("2026-03-02", "2026-03-16", "2026-03-30"),
            ("131", "128", "120"),
            strict=True,
        ):
            values = {"check_date": day, "hb": hb, "check_complete": "2"}
            records.append(row(record, values, event))
    records.append(row("A03", {}, "start_arm_2"))
    return Kind(
        "arms",
        fields,
        {"start": "入组登记", "check": "检查"},
        records,
        ("A01", "A02"),
        "A03",
        births=frozenset({"s184099003"}),
        events=events,
        mapping=_mapped(places),
        arms=[{"arm_num": 1, "name": "Drug A"}, {"arm_num": 2, "name": "Drug B"}],
        started="enrolled_on",
        term=("hb", "血红蛋白"),
    )


@cache
def english() -> Kind:
    """English labels; the birth date twice, once as free text, and the year apart; a copy of it elsewhere."""
    fields = [
        item("demographics", "record_id", "Record ID"),
        item("demographics", "q3", "Date of Birth", check="date_mdy", required="y"),
        item("demographics", "q3_txt", "DOB as on the card (dd/mm/yyyy)"),
        item("demographics", "q4", "Year of birth", check="integer"),
        item("demographics", "bw", "Birth weight", check=NUMBER, note="kg"),
        item("demographics", "sex", "Sex", "radio", choices="1, Male | 2, Female"),
        item("demographics", "consent_date", "Date of informed consent", check="date_mdy"),
        item("demographics", "icu", "Admitted to ICU", "yesno"),
        item("followup", "birth_shown", "As at baseline", action="@DEFAULT='[q3]'"),
        item("followup", "fu_date", "Date of follow-up", check="date_mdy", required="y"),
        item("followup", "score", "Pain score", "slider", choices="none | some | worst"),
        item(
            "followup",
            "work",
            "Work",
            "radio",
            choices="1, Full-time, paid | 2, Part-time | 3, None",
        ),
    ]
    records = [
        row(
            f"ENG{number}",
            {
                "q3": birth,
                "q3_txt": f"{birth[8:]}/{birth[5:7]}/{birth[:4]}",
                "q4": birth[:4],
                "bw": "3.2",
                "sex": "1",
                "consent_date": "2026-03-02",
                "icu": "0",
                "demographics_complete": "2",
                "birth_shown": birth,
                "fu_date": "2026-04-02",
                "work": "1",
                "followup_complete": "2",
            },
        )
        for number, birth in enumerate(BIRTHS, 1)
    ]
    return Kind(
        "english",
        fields,
        {"demographics": "Demographics", "followup": "Follow-up"},
        [*records, row("ENG3", {})],
        ("ENG1", "ENG2"),
        "ENG3",
        births=frozenset({"q3", "q3_txt", "q4", "birth_shown"}),
        term=("bw", "Birth weight"),
    )


@cache
def rescreened() -> Kind:
    """Who the subject is stands at two events, with a date of which nothing says what it dates."""
    fields = [
        item("enrol", "record_id", "受试者编号"),
        item("enrol", "enrol_date", "入组日期", check=DATE),
        item("demographics", "dm_dt", "日期", check=DATE),
        item("demographics", "sex", "性别", "radio", choices="1, 男 | 2, 女"),
        item("visit", "visit_date", "访视日期", check=DATE),
        item("visit", "round_dt", "日期", check=DATE),
        item("visit", "sbp", "收缩压", check="integer", note="单位:mmHg"),
    ]
    places = {
        "screening_arm_1": (1, ("enrol", "demographics", "visit")),
        "rescreening_arm_1": (1, ("demographics", "visit")),
    }
    records = []
    for number, birth in enumerate(BIRTHS, 1):
        who = {"dm_dt": birth, "sex": str(number), "demographics_complete": "2"}
        seen = {"visit_date": "2026-03-02", "round_dt": "2026-03-02", "sbp": "128"}
        first = {"enrol_date": "2026-03-02", "enrol_complete": "2", "visit_complete": "2"}
        records += [
            row(f"R-00{number}", who | seen | first, "screening_arm_1"),
            row(f"R-00{number}", who | {"visit_date": "2026-03-30"}, "rescreening_arm_1"),
        ]
    return Kind(
        "rescreened",
        fields,
        {"enrol": "入组", "demographics": "人口学资料", "visit": "访视"},
        [*records, row("R-003", {}, "screening_arm_1")],
        ("R-001", "R-002"),
        "R-003",
        births=frozenset(),
        doubtful=frozenset({"dm_dt"}),
        events=[
            _event(1, "筛选", "screening_arm_1", 0),
            _event(1, "再筛选", "rescreening_arm_1", 28),
        ],
        mapping=_mapped(places),
        arms=[{"arm_num": 1, "name": "研究组"}],
        started="enrol_date",
        term=("sbp", "收缩压"),
    )


FORMS = 63


@cache
def large() -> Kind:
    """1,900 fields on 64 forms: each form has a date, numbers, choices and a chain of branching fields."""
    fields = [
        item("f00", "record_id", "编号"),
        item("f00", "dob_x", "DOB", check=DATE),
        item("f00", "sex", "性别", "radio", choices="1, 男 | 2, 女", required="y"),
        item("f00", "icf", "知情同意日期", check=DATE, required="y"),
        item("f00", "site_no", "中心号", required="y"),
        item("f00", "age", "年龄", "calc", choices="datediff([dob_x],[icf],'y')"),
        item("f00", "bmi_note", "体型备注", "notes"),
        item("f00", "race", "民族分类", "dropdown", choices="1, 汉 | 2, 其他"),
        item("f00", "edu", "教育程度", "dropdown", choices="1, 小学 | 2, 中学 | 3, 大学"),
        item("f00", "smoke", "吸烟", "yesno"),
    ]
    instruments = {"f00": "基本资料"}
    for form in range(1, FORMS + 1):
        fields += _large_form(f"f{form:02}", form)
        instruments[f"f{form:02}"] = f"表单{form}"
    events = [_event(1, f"第{n}次访视", f"v{n}_arm_1", 1 + 14 * n, 3, 3) for n in range(6)]
    places = {
        str(event["unique_event_name"]): (
            1,
            ["f00"] * (n == 0) + [f"f{form:02}" for form in range(1, FORMS + 1) if form % 6 == n],
        )
        for n, event in enumerate(events)
    }
    records = [
        row(
            f"L{number:04}",
            {"dob_x": birth, "sex": "1", "icf": "2026-03-02", "site_no": "01", "age": "74"}
            | {"f00_complete": "2", "f06_date": "2026-03-03", "f06_n0": "5.5", "f06_complete": "1"},
            "v0_arm_1",
        )
        for number, birth in enumerate(BIRTHS, 1)
    ]
    records.append(row("L0003", {}, "v0_arm_1"))
    return Kind(
        "large",
        fields,
        instruments,
        records,
        ("L0001", "L0002"),
        "L0003",
        births=frozenset({"dob_x"}),
        events=events,
        mapping=_mapped(places),
        arms=[{"arm_num": 1, "name": "研究组"}],
        term=("f06_n0", "表单6数值0"),
    )


def _large_form(form: str, number: int) -> list[dict[str, str]]:
    """A date, a question, ten numbers, ten choices and eight fields that each depend on the one before."""
    date = item(form, f"{form}_date", f"表单{number}检查日期", check=DATE, required="y")
    done = item(form, f"{form}_done", f"表单{number}是否完成", "yesno", required="y")
    numbers = [
        item(
            form,
            f"{form}_n{n}",
            f"表单{number}数值{n}",
            check=NUMBER,
            required="y",
            low="0",
            high="99",
        )
        for n in range(10)
    ]
    coded = [
        item(
            form,
            f"{form}_c{n}",
            f"表单{number}选项{n}",
            "radio",
            choices="1, 有 | 0, 无",
            required="y",
        )
        for n in range(10)
    ]
    asked = f"{form}_done"
    chain = []
    for n in range(8):
        show = f"[{asked}] = '1'"
        name = f"{form}_b{n}"
        chain.append(item(form, name, f"表单{number}追问{n}", "yesno", show=show, required="y"))
        asked = name
    return [date, done, *numbers, *coded, *chain]


_ALL = (longitudinal, classic, repeating, arms, english, rescreened, large)
KINDS = {make.__name__: make for make in _ALL}

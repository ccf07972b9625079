"""Studies to understand messages in, built without a database: the demo study and one of another kind."""

from __future__ import annotations

import csv
import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from core.rules.context import StudyContext
from study.design import StudyDesign
from study.metadata import StudyMetadata
from study.proposals import ReferenceRange
from study.visits.calendar import VisitPlanSpec

DEMO = Path(__file__).parents[2] / "demo" / "study"


def _json(name: str) -> Any:
    return json.loads((DEMO / name).read_text(encoding="utf-8"))


def demo() -> tuple[StudyDesign, dict[str, Any]]:
    """The demo study, and what `understand` needs of it besides: ids, sites, pattern."""
    project = _json("project.json")
    with (DEMO / "redcap" / "metadata.csv").open(encoding="utf-8") as lines:
        dictionary = list(csv.DictReader(lines))
    redcap = {
        name: _json(f"redcap/{name}.json")
        for name in ("events", "mapping", "repeating", "dags", "instruments")
    }
    metadata = StudyMetadata(
        metadata=dictionary,
        project=_json("redcap/project.json"),
        events=redcap["events"],
        mapping=redcap["mapping"],
        repeating=redcap["repeating"],
        export_field_names=[],
        instruments=redcap["instruments"],
        dags=redcap["dags"],
    )
    context = StudyContext.build(
        dictionary,
        {
            "form_event_mapping": redcap["mapping"],
            "repeating": redcap["repeating"],
            "timezone": "Asia/Shanghai",
        },
    )
    design = StudyDesign(
        metadata=metadata,
        context=context,
        plan=VisitPlanSpec(visits=_json("visit_plan.json")),
        start=date.fromisoformat(project["start_date"]),
        target=project["target_enrolment"],
        enrolment_field=project["enrolment_field"],
        status_field="subject_status",
        sex_field="sex",
        mapped={row["alias_name"]: row["actual_name"] for row in _json("field_mappings.json")},
        unit_fields={"glucose": "glucose_unit"},
        form_dates={"labs": "lab_date", "ae": "ae_end", "conmed": "cm_start"},
        ranges={
            "alt": (ReferenceRange("alt", "", "", None, Decimal(40)),),
            "ast": (ReferenceRange("ast", "", "", None, Decimal(40)),),
            "tbil": (ReferenceRange("tbil", "", "", None, "tbil_uln"),),
        },
        hidden=metadata.identifier_fields,
    )
    ids = sorted({row["record"] for row in _json("redcap/records.json")})
    return design, {
        "subjects": ids,
        "sites": dict(metadata.sites),
        "pattern": project["record_id_pattern"],
    }


_SMALL = (
    # name, form, type, label, choices or validation, note
    ("sid", "base", "text", "研究编号", "", ""),
    ("initials", "base", "text", "姓名缩写", "", "y"),
    ("tel", "base", "text", "电话", "", "y"),
    ("gender", "base", "radio", "性别", "M, 男 | F, 女", ""),
    ("age", "base", "text", "年龄（岁）", "integer", ""),
    ("dm_years", "base", "text", "糖尿病病程（年）", "number", ""),
    ("smoker", "base", "yesno", "吸烟史", "", ""),
    ("op_date", "base", "text", "手术日期", "date_ymd", ""),
    ("arm_side", "base", "radio", "患侧", "1, 左足 | 2, 右足 | 3, 双足", ""),
    ("wagner", "base", "dropdown", "Wagner分级", "1, 1级 | 2, 2级 | 3, 3级 | 4, 4级", ""),
    ("phase", "base", "dropdown", "进展", "1, 筛查期 | 2, 治疗中 | 3, 已结束 | 4, 中止", ""),
    ("hba1c", "tests", "text", "糖化血红蛋白HbA1c（%）", "number", ""),
    ("k", "tests", "text", "血钾（mmol/L）", "number", ""),
    ("crp", "tests", "text", "C反应蛋白CRP（mg/L）", "number", ""),
    ("test_date", "tests", "text", "检验日期", "date_ymd", ""),
    ("wound_date", "wound", "text", "测量日期", "date_ymd", ""),
    ("wound_area", "wound", "text", "创面面积（cm²）", "number", ""),
    ("wound_depth", "wound", "text", "创面深度（mm）", "number", ""),
    ("wound_pus", "wound", "yesno", "有无渗液", "", ""),
    ("comp_name", "comp", "text", "并发症名称", "", ""),
    ("comp_start", "comp", "text", "发生日期", "date_ymd", ""),
    ("comp_level", "comp", "radio", "严重程度", "1, 轻度 | 2, 中度 | 3, 重度", ""),
    ("comp_end", "comp", "text", "终止日期", "date_ymd", ""),
)
_SMALL_FORMS = {
    "base": "入院资料",
    "tests": "检验结果",
    "wound": "创面记录",
    "comp": "并发症（不良事件）",
}


def small() -> tuple[StudyDesign, dict[str, Any]]:
    """A classic study of diabetic feet: no events, no visits, no sites, ids such as 07-012."""
    rows = [_row(*field) for field in _SMALL]
    repeating = [
        {"event_name": None, "form_name": form, "custom_form_label": ""}
        for form in ("wound", "comp")
    ]
    metadata = StudyMetadata(
        metadata=rows,
        project={"is_longitudinal": 0, "missing_data_codes": ""},
        events=[],
        mapping=[],
        repeating=repeating,
        export_field_names=[],
        instruments=[
            {"instrument_name": n, "instrument_label": t} for n, t in _SMALL_FORMS.items()
        ],
    )
    design = StudyDesign(
        metadata=metadata,
        context=StudyContext.build(
            rows, {"repeating": [{"form_name": "wound"}, {"form_name": "comp"}]}
        ),
        plan=VisitPlanSpec(visits=[]),
        start=date(2026, 3, 2),
        target=60,
        enrolment_field="op_date",
        status_field="phase",
        sex_field="gender",
        form_dates={"wound": "wound_date", "comp": "comp_start", "tests": "test_date"},
        synonyms={"脓水": "wound_pus", "口子": "wound_area"},
        hidden=metadata.identifier_fields,
    )
    return design, {"subjects": ["07-012", "07-013", "08-001"], "pattern": r"\d{2}-\d{3}"}


def _row(name: str, form: str, kind: str, label: str, more: str, identifier: str) -> dict[str, str]:
    coded = kind in ("radio", "dropdown")
    return {
        "field_name": name,
        "form_name": form,
        "field_type": kind,
        "field_label": label,
        "select_choices_or_calculations": more if coded else "",
        "text_validation_type_or_show_slider_number": "" if coded else more,
        "identifier": identifier,
        "branching_logic": "",
        "field_note": "",
    }

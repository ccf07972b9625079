"""What is wrong with the demo study on purpose, and who is clean (demo/study/README.md tells it in words)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Planted:
    """One error of one subject.

    It is found when the workflow `skill` says no pass by `rule` (blank: by its model), or when the standard
    check `check` does.
    """

    subject: str
    what: str
    skill: str
    rule: str = ""
    check: str = ""


QC, AE, VISIT = "qc_process", "qc_process:ae", "qc_process:visit"

PLANTED = (
    Planted("P002", "既往史过于含糊,无法判断", QC),
    Planted("P004", "ECOG 3", QC, "EL03"),
    Planted("P005", "V3 未做,窗口已关", VISIT, "VO3", "std.visit_window.V3"),
    Planted("P007", "年龄 17", QC, "EL01"),
    Planted("P009", "入组 3 天后才签知情同意", QC, "EL04", "std.consent.icf_date"),
    Planted("P010", "SAE 无首次报告日期", AE, "AE01", "std.required.sae_report_date"),
    Planted("P012", "间质性肺炎病史", QC),
    Planted("P013", "V2 迟 4 天", VISIT, "VW2", "std.visit_window.V2"),
    Planted("P015", "育龄女性无妊娠试验", QC, "EL08", "std.required.pregnancy_test"),
    Planted("P016", "V2 ALT 185,无 AE", AE, "LB01", "std.lab_ae.alt"),
    Planted("P017", "BMI 与身高体重不符", QC, "EL10", "std.calc.bmi"),
    Planted("P019", "治疗期间用酮康唑", AE, "CM01", "std.prohibited.cm_name"),
    Planted("P020", "年龄 76", QC, "EL02"),
    Planted("P022", "勾选排除标准 6", QC, "EL07"),
    Planted("P023", "AE 结束早于开始", AE, "AE02"),
    Planted("P024", "男性填了妊娠试验", QC, "EL08", "std.hidden.pregnancy_test"),
    Planted("P026", "活动性感染", QC, "EL06"),
    Planted("P027", "V4 日期在将来", VISIT, "VF4"),
    Planted("P028", "病理类型代码 9", QC, "EL09", "std.choice.histology"),
    Planted("P030", "首次用药早于入组", QC, "EL11"),
    Planted("P031", "V2 血糖无单位", AE, "LB02"),
    Planted("P033", "无知情同意日期", QC, "EL05", "std.required.icf_date"),
    Planted("P034", "基线血小板 ND?", AE, "LB03", "std.type.plt"),
    Planted("P036", "AE 早于首次用药", AE, "AE03"),
)
CLEAN = (
    "P001",
    "P003",
    "P006",
    "P008",
    "P011",
    "P014",
    "P018",
    "P021",
    "P025",
    "P029",
    "P032",
    "P035",
)

CHECKS: dict[str, dict[str, object]] = {
    "required": {},
    "range": {},
    "type": {},
    "choice": {},
    "hidden": {},
    "calc": {},
    "ae_medication": {},
    "consent": {},
    "visit_window": {},
    "visit_order": {},
    "duplicate": {},
    "lab_ae": {
        "times": 3,
        "words": {
            "alt": ["ALT", "转氨酶", "肝"],
            "ast": ["AST", "转氨酶", "肝"],
            "tbil": ["胆红素", "黄疸", "肝"],
        },
    },
    "prohibited": {"names": ["酮康唑", "伊曲康唑", "伏立康唑", "克拉霉素", "利福平", "卡马西平"]},
}
"""The standard checks as the demo's protocol wants them (8.3: strong CYP3A4 inhibitors and inducers)."""

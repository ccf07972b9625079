"""Unit conversion of laboratory analytes by a shipped table.

Sources: molar masses from PubChem (National Library of Medicine); they reproduce the factors of
the SI conversion table of the AMA Manual of Style, 11th edition, 17.5.8, e.g. glucose
18.016 mg/dL = 1 mmol/L (contracts.md), creatinine 1 mg/dL = 88.4 umol/L, urea nitrogen
2.801 mg/dL = 1 mmol/L urea, cholesterol 38.67, triglycerides 88.57, bilirubin 1 mg/dL = 17.1 umol/L.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from core.rules.arithmetic import Number, compute, divide, multiply
from core.rules.values import Range

# grams per mole (None: no defined molar mass, only mass units convert into each other), other names
_ANALYTES: dict[str, tuple[str | None, str]] = {
    "glucose": ("180.16", "葡萄糖 血糖"),
    "creatinine": ("113.12", "肌酐"),
    "bilirubin": ("584.66", "total_bilirubin direct_bilirubin 胆红素 总胆红素"),
    "urea": ("60.06", "尿素"),
    "bun": (
        "28.014",
        "urea_nitrogen blood_urea_nitrogen 尿素氮",
    ),  # urea nitrogen: two N in one mole of urea
    "cholesterol": (
        "386.65",
        "total_cholesterol hdl ldl hdl_cholesterol ldl_cholesterol 胆固醇 总胆固醇",
    ),
    "triglycerides": ("885.7", "triglyceride 甘油三酯"),  # as triolein
    "uric_acid": ("168.11", "urate 尿酸"),
    "calcium": ("40.078", "钙"),
    "magnesium": ("24.305", ""),
    "phosphorus": ("30.974", "phosphate"),
    "sodium": ("22.990", ""),
    "potassium": ("39.098", ""),
    "chloride": ("35.453", ""),
    "iron": ("55.845", ""),
    "lactate": ("90.08", ""),
    "vitamin_d": ("400.64", ""),  # 25-hydroxyvitamin D3
    "cortisol": ("362.46", ""),
    "testosterone": ("288.42", ""),
    "estradiol": ("272.38", ""),
    "hemoglobin": (
        "16114.5",
        "haemoglobin hgb hb 血红蛋白",
    ),  # monomer, as laboratories report mmol/L
    "albumin": (None, "白蛋白"),
    "total_protein": (None, "总蛋白"),
    "crp": (None, "c_reactive_protein"),
    "fibrinogen": (None, ""),
    "ferritin": (None, ""),
    "d_dimer": (None, ""),
}
_NAMES = {name: analyte for analyte, (_mass, names) in _ANALYTES.items() for name in names.split()}
_MILLIEQUIVALENTS = {"sodium": 1, "potassium": 1, "chloride": 1, "calcium": 2, "magnesium": 2}

# to grams per litre
_MASS = {
    "g/l": "1",
    "g/dl": "10",
    "g%": "10",
    "mg/dl": "0.01",
    "mg%": "0.01",
    "mg/l": "0.001",
    "mg/ml": "1",
    "ug/ml": "0.001",
    "ug/dl": "0.00001",
    "ug/l": "0.000001",
    "ng/ml": "0.000001",
    "ng/dl": "0.00000001",
    "ng/l": "0.000000001",
    "pg/ml": "0.000000001",
}
# to moles per litre
_MOLAR = {
    "mol/l": "1",
    "mmol/l": "0.001",
    "umol/l": "0.000001",
    "nmol/l": "0.000000001",
    "pmol/l": "0.000000000001",
}


def is_known_analyte(analyte: str) -> bool:
    """Whether the table knows the analyte."""
    return _analyte(analyte) in _ANALYTES


def analytes_in(text: str) -> list[str]:
    """The analytes that a label names in the script of the table's Chinese names, the longest first."""
    named = [name for name in _NAMES if not name.isascii() and name in text]
    return sorted(named, key=len, reverse=True)


def factor(unit: str, target: str, analyte: str) -> Fraction | None:
    """The factor from `unit` to `target`; None when the table can't tell."""
    name = _analyte(analyte)
    source, wanted = _scale(unit, name), _scale(target, name)
    return None if source is None or wanted is None else source / wanted


def convert(value: Decimal | Range, unit: str, target: str, analyte: str) -> Number | None:
    """`value` in the target unit, rounded at the end only; None when the table can't tell."""
    found = factor(unit, target, analyte)
    if found is None:
        return None
    return compute(
        divide, compute(multiply, value, Decimal(found.numerator)), Decimal(found.denominator)
    )


def _scale(unit: str, analyte: str) -> Fraction | None:
    """The unit in grams per litre of this analyte."""
    name = _unit(unit)
    if name in _MASS and analyte in _ANALYTES:
        return Fraction(_MASS[name])
    molar_mass, _names = _ANALYTES.get(analyte, (None, ""))
    if molar_mass is None:
        return None
    if name in _MOLAR:
        return Fraction(_MOLAR[name]) * Fraction(molar_mass)
    if name == "meq/l" and analyte in _MILLIEQUIVALENTS:
        return Fraction(molar_mass) / 1000 / _MILLIEQUIVALENTS[analyte]
    return None


def _analyte(name: str) -> str:
    key = "_".join(name.strip().casefold().replace("-", " ").replace("_", " ").split())
    return _NAMES.get(key, key)


def _unit(name: str) -> str:
    key = "".join(name.split()).casefold().replace("\u03bc", "u").replace("\u00b5", "u")
    return key.replace("mcg", "ug").replace("mcmol", "umol")

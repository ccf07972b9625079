"""Drugs, genes, enzymes, ranges, doses and codes are no subjects; subjects beside them still are masked."""

from __future__ import annotations

from datetime import date

import pytest

from core.privacy.clinical_terms import terms
from core.privacy.fold_text import normalise
from core.privacy.gate import Gate
from core.privacy.identifier_index import Known
from core.privacy.strangers import Strangers

# The ids of a study, the first of which the reader may see.
STUDIES = {
    "letter and three digits": ["P001", "P002", "P030"],
    "letter and two digits": ["P01", "P02", "P99"],
    "letter and one digit": ["A1", "B2", "C3"],
    "numbers": ["1", "2", "30"],
    "long numbers": ["10001", "10002"],
    "site and number": ["01-001", "02-003"],
    "site with a letter": ["S01-001", "S02-002"],
    "like a protein": ["S001", "S002"],
    "two numbers": ["1-1", "1-2"],
    "like a visit": ["V01", "V02"],
    "like a code of diseases": ["E01", "E02"],
}
AROUND = ("{}", "检查{}的结果", "受试者 {} 时", "患者{},", "记录 {}", "No. {}")


def gate(ids: list[str]) -> Gate:
    mine = ids[:1]
    return Gate(
        Known.of({}, keep=mine), strangers=Strangers.of(ids, mine), today=date(2026, 11, 23)
    )


def test_the_list_is_worth_its_name() -> None:
    assert len(set(terms())) == len(terms()) >= 80


@pytest.mark.full
@pytest.mark.parametrize("ids", STUDIES.values(), ids=STUDIES)
def test_no_listed_term_is_masked(ids: list[str]) -> None:
    one = gate(ids)
    texts = [around.format(term) for term in terms() for around in AROUND]
    assert [text for text in texts if one.text(text) not in (text, normalise(text))] == []


@pytest.mark.parametrize(
    "text",
    [
        "细胞色素 P450 3A4抑制剂", "年龄71～75岁的有几例", "患者71～75岁,女", "受试者18至75周岁",
        "受试者3级皮疹", "受试者 2.5～5 mg/kg", "患者 12 mmol/L", "病人50 mg/m2",
        "受试者5.8×10^9/L", "记录 37.2 ℃",
    ],
)  # fmt: skip
@pytest.mark.parametrize("ids", STUDIES.values(), ids=STUDIES)
def test_what_no_list_names(ids: list[str], text: str) -> None:
    assert gate(ids).text(text) in (text, normalise(text))


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("P002 EGFR L858R阳性", "[受试者#1] EGFR L858R阳性"),
        ("P450的ALT", "[受试者#1]的ALT"),
        ("P450 和 P002 谁高", "[受试者#1] 和 [受试者#2] 谁高"),
        ("P002 3级皮疹", "[受试者#1] 3级皮疹"),
        ("细胞色素P450与P030", "细胞色素P450与[受试者#1]"),
        ("CYP3A4、P 030、p-030", "CYP3A4、[受试者#1]、[受试者#1]"),
        ("P030 80 mg", "[受试者#1] 80 mg"),
        ("P001 80 mg", "P001 80 mg"),
    ],
)
def test_subjects_beside_them(text: str, masked: str) -> None:
    assert gate(["P001", "P002", "P030"]).text(text) == masked


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("受试者2,3级皮疹", "受试者[受试者#1],3级皮疹"),
        ("2号受试者71~75岁", "[受试者#1]号受试者71~75岁"),
        ("受试者 2、30", "受试者 [受试者#1]、[受试者#2]"),
        ("受试者30级别", "受试者[受试者#1]级别"),
    ],
)
def test_numbered_subjects_beside_them(text: str, masked: str) -> None:
    assert gate(["1", "2", "30"]).text(text) == masked


def test_numbers_that_the_study_knows() -> None:
    one = Gate(Known.of({"受试者": ["7", "12"]}))
    assert one.text("受试者 7、12 的皮疹") == "受试者 [受试者#1]、[受试者#2] 的皮疹"
    assert one.text("受试者7~12岁") == "受试者7~12岁"


def test_a_study_whose_ids_look_like_a_drug_keeps_its_ids() -> None:
    one = gate(["SHR-1001", "SHR-1002"])
    assert one.text("SHR-1210 与 SHR-1002") == "[受试者#1] 与 [受试者#2]"
    assert one.text("SHR-1001") == "SHR-1001"

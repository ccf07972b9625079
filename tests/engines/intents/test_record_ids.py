"""Rule 10 of the labelling rules: which subjects a message names."""

import pytest

from engines.assistant.read.offline import detect

FORMS = {
    "P052 的肌酐": ["P052"],
    "p052的肌酐": ["P052"],
    "Ｐ０５２　的肌酐": ["P052"],
    "P 052 的肌酐": ["P052"],
    "p 0 5 2 的肌酐": ["P052"],
    "P零五二的肌酐": ["P052"],
    "皮零五二 入组没": ["P052"],
    "P幺零三的血压": ["P103"],
    "P-052 的肌酐": ["P-052"],
    "s杠零零三一": ["S-0031"],
    "GZ杠零一杠零零四": ["GZ-01-004"],
    "gz－01－004 的血压": ["GZ-01-004"],
    "ID 8的患者": ["8"],
    "id 0042": ["0042"],
    "编号为0105的受试者": ["0105"],
    "受试者 14 他签字了吗": ["14"],
    "受试者12多大了": ["12"],
    "8号患者": ["8"],
    "十二号病人的AE": ["12"],
    "受试者十二他签了没": ["12"],
    "008 的AE": ["008"],
    "零零八的AE": ["008"],
    "给12号跑质控": ["12"],
    "再质控一下12号": ["12"],
    "P二十一那个人": ["P21"],
    "subject 014 labs": ["014"],
    "病人 0 2 7 的血糖": ["027"],
    "V001是谁": ["V001"],
}
MANY = {
    "P031和032都核一遍": ["P031", "032"],
    "P031、032、033 的AE": ["P031", "032", "033"],
    "P031-P035 跑一遍": ["P031", "P035"],
    "3、5、7号患者": ["3", "5", "7"],
    "把P031/P032都查下": ["P031", "P032"],
    "P032 P031 P032": ["P032", "P031"],
    "7号患者和007不是一个人": ["7", "007"],
}
NOT_SUBJECTS = [
    "01中心入了几个",
    "SH-01中心现在怎么样",
    "V3和V2D28分别在哪天",
    "C1D1要抽几管血",
    "W12的窗口",
    "2024-03-15出的报告",
    "3月5号之前出月报",
    "15号之前给我",
    "75岁以上的",
    "ECOG 2分",
    "血压132/84",
    "血红蛋白130的",
    "第12周周报",
    "CA125高的",
    "CA19-9高不高",
    "PD-L1阳性",
    "HER2阳性",
    "T790M突变",
    "COVID-19阳性",
    "NCT01234567",
    "批件号2024-018",
    "受试者3例",
    "患者一直咳嗽",
    "3号床的病人",
    "电话0571-88123456",
]


@pytest.mark.parametrize(("text", "expected"), [*FORMS.items(), *MANY.items()])
def test_subjects_are_found_in_their_usual_forms(text: str, expected: list[str]) -> None:
    assert detect(text).record_ids == expected


@pytest.mark.parametrize("text", NOT_SUBJECTS)
def test_other_numbers_are_no_subjects(text: str) -> None:
    assert detect(text).record_ids == []


def test_negated_and_quoted_subjects_count_in_order() -> None:
    found = detect("“P061”先不用管,查一下「P059」的血糖")
    assert found.record_ids == ["P061", "P059"]


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        (r"\d{4}", "1003 的AE,2024年入的组", ["1003"]),
        (r"SUBJ\d{3}", "subj 009 入组没,P001不算", ["SUBJ009"]),
        (r"X-\d\d-[A-Z]", "查X-12-A和Y99", ["X-12-A"]),
        (r"^K\d{2}$", "k07和k08质控一下", ["K07", "K08"]),
        (r"P\d{3}", "7号患者和P007", ["P007"]),
        ("(", "坏的表达式,P007", ["P007"]),
        ("", "P007", ["P007"]),
    ],
)
def test_a_projects_own_pattern_replaces_the_default(
    pattern: str, text: str, expected: list[str]
) -> None:
    assert detect(text, pattern=pattern).record_ids == expected

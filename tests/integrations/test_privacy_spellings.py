"""Identifiers as people really write them: split, wrapped, glued, in parts (edge case E47)."""

from __future__ import annotations

import json
from datetime import date

import pytest

from core.language.values import PLACEHOLDER
from core.privacy.gate import Gate
from core.privacy.identifier_index import Known
from core.privacy.identifying_fields import identifies

KNOWN = Known.of(
    {
        "subject_name": ["阿依古丽·买买提", "测试甲一", "Anna Li", "··"],
        "phone": ["13800138000"],
        "hospital_no": ["ZY9000001", "7654321"],
    },
    keep=["P001", "7"],
)
OTHERS = Known.of({"受试者": ["7", "12", "1-03", "B-003"]})


def mask(text: str, *more: Known) -> str:
    return str(Gate([KNOWN, *more], today=date(2026, 11, 21)).text(text))


@pytest.mark.parametrize(
    "secret",
    [
        "139—1234—5678",
        "139–1234–5678",
        "139/1234/5678",
        "139,1234,5678",
        "139，1234，5678",
        "139_1234_5678",
        "139 - 1234 - 5678",
        "13912 345678",
        "139123-45678",
        "1391234 5678",
        "139 12345678",
        "139\t1234\t5678",
        "1-3-9-1-2-3-4-5-6-7-8",
        "86-139-1234-5678",
        "(+86)139 1234 5678",
        "010 6234 5679",
        "0571 8765 4321",
        "(0571)8765-4321",
        "+86 571 8765 4321",
        "86-571-87654321",
        "021—58881234",
        "400-820-8820",
        "3201021985 1123 8812",
        "320102/19851123/8812",
        "320102，19851123，881X",
        "320102 1985 11 23 8812",
        "3201 0219 8511 2388 12",
        "3 2 0 1 0 2 1 9 8 5 1 1 2 3 8 8 1 2",
        "320102.19851123.8812",
        "110101 900307 457",
        "li.si (at) example.cn",
        "li.si@example .cn",
    ],
)
def test_a_split_identifier_is_one(secret: str) -> None:
    for text in (secret, f"请联系{secret}。", f"备注({secret})已核对"):
        masked = mask(text)
        left = PLACEHOLDER.sub("", masked)
        assert not any(c.isdigit() for c in left), masked
        assert "li.si" not in left


@pytest.mark.parametrize("text", ["tel13912345678x", "编码A13912345678", "x320102198511238812y"])
def test_letters_beside_a_number_do_not_hide_it(text: str) -> None:
    assert not any(c.isdigit() for c in PLACEHOLDER.sub("", mask(text)))


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("住院号(ZY20240013)", "ZY20240013"),
        ("住院号【88231】", "88231"),
        ("病案号“88231”", "88231"),
        ("门诊ID[882312]", "882312"),
        ("inpatient no. 882312", "882312"),
        ("Medical record number: 882312", "882312"),
        ("电话（62345678）", "62345678"),
        ("军官证军字第1234567号", "1234567"),
        ("DOB 02/01/1988", "1988"),
        ("出生日期: 02-01-1988", "1988"),
        ("birth date: Jan 2, 1988", "1988"),
        ("DOB 2-JAN-1988", "1988"),
        ("1988年1月2日出生,女", "1988"),
        ("生日3月7日", "3月7日"),
        ("出生:1988—01—02", "1988"),
        ("姓名:买买提·吐尔逊", "吐尔逊"),
    ],
)
def test_wrapped_numbers_and_written_birthdays(text: str, secret: str) -> None:
    assert secret not in mask(text)


@pytest.mark.parametrize("dot", "·•‧∙⋅・･.")
def test_every_middle_dot_of_a_name_of_several_parts(dot: str) -> None:
    masked = mask(f"问{dot.join(['阿依古丽', '买买提'])}的ALT")
    assert "阿依古丽" not in masked
    assert "买买提" not in masked


@pytest.mark.parametrize(
    "text", ["阿依古丽说头痛", "买买提来了吗", "Li, Anna", "LI ANNA", "测试—甲—一", "测试,甲一"]
)
def test_a_known_name_in_part_or_turned_round(text: str) -> None:
    assert "[姓名#1]" in mask(text)


@pytest.mark.parametrize("text", ["x13800138000", "13800138000号", "138,0013,8000", "A7654321B"])
def test_a_long_known_number_among_letters(text: str) -> None:
    assert not any(c.isdigit() for c in PLACEHOLDER.sub("", mask(text)))


def test_a_known_value_of_dots_alone_names_nobody() -> None:
    assert mask("P001··V2") == "P001··V2"


def test_numbers_in_data_are_looked_at_as_texts_are() -> None:
    sent = Gate(KNOWN).data({"a": 7654321, "b": 13912345678.0, "c": 35, "d": 2.5, "e": True})
    assert json.loads(sent) == {"a": "[就诊号#1]", "b": "[电话#1].0", "c": 35, "d": 2.5, "e": True}


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("受试者7的ALT", "受试者[受试者#1]的ALT"),
        ("受试者 7", "受试者 [受试者#1]"),
        ("患者编号为12,女", "患者编号为[受试者#1],女"),
        ("subject 7 and record #12", "subject [受试者#1] and record #[受试者#2]"),
        ("7号病人和12号", "[受试者#1]号病人和[受试者#2]号"),
        ("受试者7、8、12", "受试者[受试者#1]、8、[受试者#2]"),
        ("受试者 1-03", "受试者 [受试者#1]"),
        ("ID:7", "ID:[受试者#1]"),
        ("7、12号均已入组", "[受试者#1]、[受试者#2]号均已入组"),
        ("B003", "[受试者#1]"),
    ],
)
def test_a_subject_of_another_site_called_by_a_bare_number(text: str, masked: str) -> None:
    assert mask(text, OTHERS) == masked
    assert mask(masked, OTHERS) == masked


@pytest.mark.parametrize(
    "text",
    [
        "受试者 007 与受试者71",
        "ALT 7 U/L, 7 mg, 7.5, 0.7, 7%",
        "3月7号, 3月12号",
        "受试者7例, 患者 12 人, 患者12岁",
        "V7 Day 7 第12周",
        "血压 132/84 与 150/90 128/76",
        "PLT 150 132 140 88, 152 88 76 36 18",
        "1980 1990 2000",
        "-179,1028,-1856 与 139 1234,5678",
        "HBV-DNA 13912345678 IU/mL",
        "2026-03-21 10:30 ~ 2026-04-04 18:00",
        "住院(12天) 住院(2026-02-05)",
        "007 1500 3200",
    ],
)
def test_numbers_that_are_no_identifiers_stay(text: str) -> None:
    assert mask(text, OTHERS) == text


@pytest.mark.full
@pytest.mark.parametrize(
    "text",
    [
        *("电话" + " " * 20_000, "姓名" + " " * 20_000 + "x", "13 " * 8_000, "1 " * 10_000),
        *("受试者" + "7、" * 10_000, "甲·" * 10_000, "a@" + "a." * 10_000, "住址" + "甲" * 20_000),
    ],
    ids=range(8),
)
def test_long_texts_do_not_keep_a_worker_busy(text: str) -> None:
    assert mask(text, OTHERS)


def test_a_date_of_birth_below_its_label_becomes_an_age() -> None:
    gate = Gate(birth_fields={"dob"}, today=date(2026, 11, 21))
    values = {
        "出生日期": "1962-03-04",
        "出生体重(g)": "3200",
        "dob": "1962-03-04",
        "生日": "1962-03",
    }
    assert json.loads(gate.data({"values": values})) == {
        "values": {"age": 64, "出生体重(g)": "3200"}
    }


def test_an_age_that_was_entered_is_not_replaced() -> None:
    gate = Gate(birth_fields={"dob"}, today=date(2026, 11, 21))
    assert json.loads(gate.data({"age": "55", "dob": "1962-03-04"})) == {"age": "55"}


def test_a_name_of_several_parts_is_learnt_as_a_name() -> None:
    gate = Gate()
    gate.learn(["阿卜杜热合曼·吐尔逊"])
    assert gate.text("阿卜杜热合曼来了") == "[姓名#1]来了"


@pytest.mark.parametrize(
    ("text", "name"),
    [("其妻李梅,体健", "李梅"), ("老伴为王桂芳", "王桂芳"), ("哥哥赵刚说他", "赵刚")],
)
def test_relatives_have_names_too(text: str, name: str) -> None:
    assert name not in mask(text)


@pytest.mark.parametrize("text", ["弟弟高血压病史", "妹妹曾患肺炎", "其父于2010年去世"])
def test_what_relatives_had_is_no_name(text: str) -> None:
    assert mask(text) == text


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("name", ""), ("subject_name", ""), ("pt_name", ""), ("xm", ""),
        ("f1", "姓名"), ("f1", "姓名首字母"), ("f1", "拼音首字母"), ("id_card", ""),
        ("idcard", ""), ("sfz", ""), ("sfzh", ""), ("f1", "联系电话"),
        ("phone1", ""), ("mobile_phone", ""), ("tel", ""), ("f1", "家庭住址"),
        ("f1", "户口所在地"), ("zyh", ""), ("mzh", ""), ("mrn", ""),
        ("hosp_no", ""), ("admission_no", ""), ("f1", "登记号"), ("f1", "影像号"),
        ("f1", "病理号"), ("f1", "条码号"), ("f1", "QQ号"), ("qq", ""),
        ("f1", "社会保障号"), ("f1", "工作单位"), ("f1", "车牌号"), ("f1", "设备序列号"),
        ("device_id", ""), ("f1", "邮政编码"), ("zipcode", ""), ("f1", "Address"),
        ("f1", "Patient name"), ("f1", "First Name"), ("f1", "Phone number"), ("f1", "Mobile phone"),
        ("f1", "Telephone"), ("f1", "National ID"), ("f1", "Passport No."), ("f1", "E-mail address"),
        ("f1", "Medical record number"), ("f1", "Hospital number"), ("f1", "Contact person"),
        ("f1", "Initials"),
        ("patient_initials", ""), ("pt_initial", ""), ("cell", ""), ("mail", ""),
        ("bank", ""), ("bank_account", ""),
        ("zip", ""), ("f1", "手机号码是否有效"), ("cell_phone", ""),
    ],
)  # fmt: skip
def test_a_field_that_identifies_by_its_name_or_label(name: str, label: str) -> None:
    assert identifies(name, label)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("f1", "药品名称"), ("drug_name", ""), ("ae_name", ""), ("f1", "不良事件名称"),
        ("test_name", ""), ("hospital_name", ""), ("site_name", ""), ("f1", "是否电话随访"),
        ("contact_date", ""), ("f1", "最后一次联系日期"), ("f1", "Date of birth"), ("initial_dose", ""),
        ("f1", "Initial dose"), ("telomere", ""), ("addressed", ""), ("cell_count", ""),
        ("wbc_cell", ""), ("f1", "T cell count"), ("photosensitivity", ""), ("f1", "知情同意签署日期"),
        ("f1", "研究者签字日期"), ("f1", "Telephone visit done"), ("f1", "Contact with a case"),
        ("f1", "Tissue bank sample"),
        ("f1", "Was the address of the problem discussed"), ("blood_bank", ""),
        ("f1", "入组日期"), ("f1", "标本编号"),
        ("f1", "Hospitalised"),
    ],
)  # fmt: skip
def test_a_field_of_the_study_that_only_sounds_like_one(name: str, label: str) -> None:
    assert not identifies(name, label)

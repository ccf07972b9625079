"""No known identifier survives, whatever it is put into; what is no identifier does (design.md 9.1)."""

from __future__ import annotations

import json
import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.language.values import PLACEHOLDER
from core.privacy.dates import birth_spellings
from core.privacy.fold_text import normalise
from core.privacy.gate import Gate
from core.privacy.identifier_index import Known
from core.privacy.identifying_fields import identifies
from core.privacy.person_names import surname

VALUES = {
    "subject_name": ["张三", "欧阳娜娜", "测试甲一", "Anna Li"],
    "id_card": ["110101196201010008", "11010119900307451X"],
    "phone": ["13800138000", "010-62345678"],
    "hospital_no": ["ZY9000001"],
    "address": ["示例省示例市测试路1号"],
    "birth_date": ["1962-01-01"],
    "email": ["li.si@example.cn"],
    "wechat": ["lisi_1980"],
}
SECRETS = [value for values in VALUES.values() for value in values]
KNOWN = Known.of(VALUES, keep=["P001", "7", "13912345678"])
GAPS = ("", " ", "  ", "\u3000", "-", "—", ".", "·", "•", "\u200b", "_", ",", "/", "|")
AROUND = st.text(
    st.characters(blacklist_categories=["Cs"]) | st.sampled_from("患者的电话为,。 P001"),
    max_size=30,
)


def bare(text: str) -> str:
    return re.sub(r"[\s·•.,|_/—-]", "", text).casefold()


def wide(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


def mask(text: str) -> str:
    return str(Gate(KNOWN, today=date(2026, 11, 21)).text(text))


def is_word(before: str, secret: str, after: str) -> bool:
    """Latin and digit values stand as words; glued to other letters they are another value."""
    left = normalise(before)[-1:].isalnum() and secret[0].isascii()
    right = normalise(after)[:1].isalnum() and secret[-1].isascii()
    return not (left or right)


@given(AROUND, st.sampled_from(SECRETS), AROUND)
def test_no_known_identifier_survives_in_any_text(before: str, secret: str, after: str) -> None:
    if not is_word(before, secret, after):
        before, after = f"{before} ", f" {after}"
    assert secret not in mask(f"{before}{secret}{after}")


@given(st.sampled_from(SECRETS), st.sampled_from(GAPS), st.sampled_from(["问:", "患者", "(", "\n"]))
def test_nor_when_it_is_split(secret: str, gap: str, before: str) -> None:
    text = gap.join(secret)
    masked = mask(f"{before}{text},怎么样")
    assert bare(secret) not in bare(masked).replace("\u200b", "")


@given(st.sampled_from(SECRETS), AROUND)
def test_nor_in_full_width(secret: str, after: str) -> None:
    masked = mask(f"请问:{wide(secret)} {after}")
    assert wide(secret) not in masked
    assert secret not in masked


@given(
    st.sampled_from(SECRETS),
    st.recursive(
        st.none() | st.integers(-9, 9) | st.just("正常"),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["alt", "备注", "值"]), inner, max_size=3)
        ),
        max_leaves=6,
    ),
    st.sampled_from(["备注", "alt", "说明", "x"]),
)
def test_nor_anywhere_in_structured_data(secret: str, rest: object, key: str) -> None:
    gate = Gate(KNOWN, today=date(2026, 11, 21))
    for shape in ({key: secret}, {key: [rest, secret]}, [{"value": secret}, rest], {secret: rest}):
        sent = gate.data(shape)
        assert secret not in sent
        json.loads(sent)


@given(st.sampled_from(SECRETS), AROUND)
def test_masking_twice_changes_nothing(secret: str, around: str) -> None:
    once = mask(f"{around} {secret}")
    assert mask(once) == once


@given(AROUND, st.sampled_from(SECRETS))
def test_what_the_reader_typed_comes_back_and_nothing_else(around: str, secret: str) -> None:
    gate = Gate(KNOWN, today=date(2026, 11, 21))
    asked = gate.text(f"{secret} ?", own=True)
    told = gate.restore(asked)
    assert "#" not in told
    other = Gate(KNOWN, today=date(2026, 11, 21))
    assert secret not in other.restore(other.text(f"{secret} ?"))


@pytest.mark.parametrize(
    "text",
    ["张先生", "老张", "小张", "张阿姨", "张某", "张某某", "欧阳女士", "张XX", "张**", "那个老张"],
)
def test_family_names_of_known_people_with_a_title(text: str) -> None:
    masked = mask(f"{text}的血压怎么样")
    assert PLACEHOLDER.search(masked), masked
    assert "张" not in masked.replace("紧张", "")
    assert "欧阳" not in masked


@pytest.mark.parametrize(
    "text",
    [
        "紧张程度评分",
        "小程序里看",
        "老年患者的剂量",
        "开张典礼",
        "主张减量",
    ],
)
def test_words_with_a_family_name_inside_stay(text: str) -> None:
    assert mask(text) == text


@pytest.mark.parametrize("spelling", birth_spellings("1962-01-01"))
def test_a_known_date_of_birth_in_every_spelling(spelling: str) -> None:
    assert spelling not in mask(f"{spelling} 的那位")


def test_dates_that_are_no_birth_stay() -> None:
    assert mask("2026-01-01 入组") == "2026-01-01 入组"
    assert birth_spellings("1962-01") == []


@pytest.mark.parametrize(
    "text",
    [
        "ALT 38 U/L, AST 52 U/L, WBC 5.8×10⁹/L".replace("⁹", "9"),
        "HBV-DNA 13812345678 IU/mL",
        "病毒载量 15900001111 copies/mL",
        "病人P001和病人 7",
        "患者 P001,检查 2026-02-05,登记 2026-02-06",
        "住院 120 天,门诊 123 次",
        "住院 2021年5月",
        "顺铂 75mg/m2 d1, 培美曲塞 500mg/m2",
        "吉非替尼 250mg qd,连续 28 天",
        "V1 Day1±3, V2D28, 访视时ECOG 1分",
        "血压 132/84 mmHg,体温 36.5",
        "记录 13912345678",
        "2026-11-21 16:30:00",
        "相关度: 92.0%",
        "注册号 ChiCTR2600000001, 方案号 IIT-LUNG-2026-01 V2.1",
        "CTCAE 5.0 3级, RECIST 1.1",
        "第12周 100元 提高到 200元",
        "地高辛 0.125mg",
        "微信息量很少",
        "电话随访 3 次",
    ],
)
def test_clinical_text_is_left_alone(text: str) -> None:
    assert mask(text) == text


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("病理号:B2023-1234", "B2023-1234"),
        ("病人ID 88231", "88231"),
        ("住院号:０１２３４５", "012345"),
        ("MRN: 00451234", "00451234"),
        ("检查号 CT20260001", "CT20260001"),
        ("床位号 12-345", "12-345"),
        ("患者王小明也入组了", "王小明"),
        ("患者王小明明天来", "王小明"),
        ("王先生昨天来过", "王先生"),
        ("请问陈阿姨的结果", "陈阿姨"),
        ("李某,男,60岁", "李某"),
        ("+86-138-0013-8001", "138-0013-8001"),
        ("86 13800138001", "13800138001"),
        ("身份证 11010119900307451x", "11010119900307451x"),
        ("身份证尾号前是110101900307451", "110101900307451"),
        ("Tel: 021 6234 5678", "6234 5678"),
        ("银行卡 6222 0212 3456 7890 123", "6222"),
        ("email：zhang_san@163.com", "zhang_san"),
    ],
)
def test_strangers_are_masked_by_pattern(text: str, secret: str) -> None:
    assert secret not in mask(text)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("x1", "姓名"),
        ("x1", "患者姓名缩写"),
        ("x1", "身份证号码"),
        ("x1", "联系电话"),
        ("x1", "住院号"),
        ("x1", "门诊号"),
        ("x1", "病案号"),
        ("x1", "家庭住址"),
        ("x1", "电子邮箱"),
        ("x1", "微信号"),
        ("x1", "银行卡号"),
        ("x1", "医保卡号"),
        ("x1", "监护人电话"),
        ("patient_name", ""),
        ("pt_initials", ""),
        ("mobile", ""),
        ("home_phone", ""),
        ("mrn", ""),
        ("id_card", ""),
        ("email2", ""),
        ("home_address", ""),
        ("wechat_id", ""),
    ],
)
def test_fields_that_identify_by_name_or_label(name: str, label: str) -> None:
    assert identifies(name, label)
    gate = Gate(labels={name: label})
    assert gate.fields.drops(name)
    assert json.loads(gate.data({name: "某值", "alt": 1})) == {"alt": 1}


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("cm_name", "药物名称"),
        ("ae_term", "不良事件名称"),
        ("alt", "谷丙转氨酶ALT（U/L）"),
        ("enroll_date", "入组日期"),
        ("tel_visit_date", "电话随访日期"),
        ("last_contact_date", "最后一次联系日期"),
        ("contact_date", ""),
        ("histology", "病理类型"),
        ("subject_status", "受试者状态"),
        ("record_id", "受试者编号"),
        ("insurance_type", "医保类型"),
        ("stage_name", "分期名称"),
    ],
)
def test_fields_that_only_sound_alike(name: str, label: str) -> None:
    assert not identifies(name, label)


def test_family_names() -> None:
    assert [surname(n) for n in ("张三", "欧阳娜娜", "司马", "Anna", "买买提·艾力", "张")] == [
        "张",
        "欧阳",
        "司",
        "",
        "",
        "",
    ]


def test_placeholders_that_were_not_given_out_are_invented() -> None:
    gate = Gate(KNOWN)
    masked = gate.text("张三和13800138000")
    assert gate.invented(masked) == []
    assert gate.invented("[姓名#1]、[姓名#7]、[电话#2]、[其他]") == ["[姓名#7]", "[电话#2]"]


@given(st.text(max_size=300))
def test_no_text_is_slow_or_breaks(text: str) -> None:
    assert isinstance(mask(text), str)


@pytest.mark.parametrize("piece", ["1", "张", "省", "a@", "住院号", "138 ", "路1", "某", "-"])
def test_repetition_does_not_explode(piece: str) -> None:
    assert mask(piece * 4000) is not None

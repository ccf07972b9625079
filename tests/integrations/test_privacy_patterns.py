"""What the gate masks without knowing anybody (agents_memory.md 6)."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.language.values import PLACEHOLDER
from core.privacy.gate import Gate

DOCUMENTS = Path(__file__).parents[2] / "demo" / "study" / "documents"


def mask(text: str) -> str:
    return str(Gate(today=date(2026, 11, 21)).text(text))


@pytest.mark.parametrize(
    "secret",
    [
        "13800138000",
        "138 0013 8000",
        "138-0013-8000",
        "+8613800138000",
        "+86 138 0013 8000",
        "0086 13800138000",
        "１３８００１３８０００",
        "138\u200b0013\u200b8000",
        "1 3 8 0 0 1 3 8 0 0 0",
        "一三八零零一三八零零零",
        "010-62345678",
        "(021)62345678",
        "0571 87654321",
        "110101199003074514",
        "11010119900307451X",
        "11010119900307451x",
        "110101199003074519",
        "110101 19900307 4514",
        "110101900307451",
        "6222021234567890123",
        "6222 0212 3456 7890",
        "zhang.san@hospital.cn",
        "zhang.san＠hospital.cn",
        "上海市徐汇区漕溪北路88号1201室",
        "中关村大街27号",
    ],
)
def test_a_pattern_is_masked_wherever_it_stands(secret: str) -> None:
    for text in (secret, f"请联系{secret}。", f"电话:{secret},谢谢", f"({secret})"):
        masked = mask(text)
        assert secret not in masked
        digits = "".join(c for c in masked if c.isdigit() and c.isascii())
        assert len(digits) < 7, masked
        assert PLACEHOLDER.search(masked)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("住院号:0012345", "0012345"),
        ("门诊号 M-20391", "M-20391"),
        ("病案号为88231", "88231"),
        ("病历号 ZY9000001", "ZY9000001"),
        ("医保卡号:A12345678", "A12345678"),
        ("护照号 E12345678", "E12345678"),
        ("微信号:lisi_1980", "lisi_1980"),
        ("加我微信 wx_zhang88", "wx_zhang88"),
        ("QQ 123456789", "123456789"),
        ("家住北京市海淀区某小区", "某小区"),
        ("地址:示例省示例市测试路1号", "测试路1号"),
        ("座机 62345678", "62345678"),
        ("银行卡 622202 123456", "622202"),
    ],
)
def test_numbers_and_places_after_a_cue_word_are_masked(text: str, secret: str) -> None:
    assert secret not in mask(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("患者李四,电话", "李四"),
        ("患者李四，男，58岁", "李四"),
        ("受试者姓名:王小明", "王小明"),
        ("姓名 欧阳娜娜", "欧阳娜娜"),
        ("姓名:阿依古丽", "阿依古丽"),
        ("患者张伟今天血压132/84", "张伟"),
        ("病人赵六诉头痛", "赵六"),
        ("家属陈静签字", "陈静"),
        ("联系人:周建国", "周建国"),
        ("刘淑芬女士昨天来过", "刘淑芬"),
        ("patient John Smith had AE", "John Smith"),
        ("Name: Li Lei", "Li Lei"),
    ],
)
def test_names_after_a_cue_word_are_masked(text: str, name: str) -> None:
    assert name not in mask(text)


@pytest.mark.parametrize(
    "text",
    [
        "P001 入组日期:2026-02-05",
        "访视 2026-02-05 2026-02-07 2026-03-01 2026-03-08",
        "ALT 38 U/L, 血压 132/84, 体温 36.5",
        "受试者P001和P002",
        "受试者编号P003",
        "查询ID 7的患者情况",
        "007号患者的ECOG",
        "受试者应在签署知情同意后入组",
        "患者安全性和高血压病史",
        "患者记录数、患者时间、受试者和研究者",
        "[W12]: 增加受试者交通补贴,由每次访视100元提高到200元",
        "V2 Day 28±7,窗口 2026-03-21 ~ 2026-04-04",
        "累计入组:15 / 30 例,完成率 50%",
        "注册号 ChiCTR2600000001",
        "2026-11-21 16:30",
        "S-0020 SH-01-003",
    ],
)
def test_ordinary_study_text_passes_unchanged(text: str) -> None:
    assert mask(text) == text


@pytest.mark.full
def test_the_protocol_of_the_demo_study_is_not_torn_apart() -> None:
    masked = [
        found[0]
        for path in DOCUMENTS.glob("*.md")
        for line in path.read_text(encoding="utf-8").splitlines()
        for found in PLACEHOLDER.finditer(mask(line))
    ]
    assert len(masked) <= 12, masked


def test_a_date_of_birth_becomes_an_age() -> None:
    assert mask("出生日期:1960-03-02") == "年龄66岁"
    assert mask("生于1960年12月1日,男") == "年龄65岁,男"
    assert "1960" not in mask("出生日期 1960-03")


def test_a_date_of_birth_without_a_day_to_count_from_is_masked() -> None:
    assert "1960" not in str(Gate().text("出生日期:1960-03-02"))


@given(st.text(max_size=200))
def test_no_input_breaks_the_gate(text: str) -> None:
    once = Gate().text(text)
    assert Gate().text(str(once)) == once


@given(st.integers(3, 9), st.integers(0, 999_999_999), st.text("。,;、 请患者", max_size=6))
def test_every_mobile_number_is_masked(second: int, rest: int, around: str) -> None:
    number = f"1{second}{rest:09d}"
    assert number not in mask(f"{around}{number}{around}")

"""What is meant is masked, however it is written; what is not masked is left as it was written."""

from __future__ import annotations

import html
import json
import re
from datetime import date
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.language.values import PLACEHOLDER
from core.privacy.gate import Gate
from core.privacy.identifier_index import Known

KNOWN = Known.of(
    {
        "name": ["张三", "欧阳建国", "张國強", "王小明"],
        "phone": ["13800138000"],
        "email": ["zhangsan@163.com"],
        "hospital_no": ["ZY9000001"],
    },
    keep=["P001"],
)
SECRETS = ["张三", "欧阳建国", "王小明", "13800138000", "zhangsan@163.com", "ZY9000001"]
UNSEEN = [
    "\u200b", "\u00ad", "\u034f", "\ufe00", "\ufe0f", "\U000e0100", "\U000e01ef", "\u3164", "\uffa0", "\u115f",
    "\u1160", "\u17b4", "\u17b5", "\u180b", "\u180e", "\u180f", "\u2800", "\0", "\b", "\x7f", "\x85", "\ue000",
    "\U000f0000",
]  # fmt: skip


def mask(text: str, *more: Known) -> str:
    return str(Gate([KNOWN, *more], today=date(2026, 11, 21)).text(text))


def as_json(text: str) -> str:
    return "".join(f"\\u{ord(char):04x}" for char in text)


def as_numbers(text: str) -> str:
    return "".join(f"&#{ord(char)};" for char in text)


def as_hexadecimal(text: str) -> str:
    return "".join(f"&#x{ord(char):X};" for char in text)


def as_bold(text: str) -> str:
    return f"{text[:1]}<b>{text[1:]}</b>"


@pytest.mark.parametrize("unseen", UNSEEN, ids=ascii)
def test_what_is_not_seen_hides_nothing(unseen: str) -> None:
    for secret in (*SECRETS, "15912345678"):
        masked = mask(f"问{unseen.join(secret)}的ALT")
        assert re.fullmatch(r"问\[[\u4e00-\u9fff]+#1\]的ALT", masked)


@pytest.mark.parametrize("text", ["第一行\r\n第二行\t值", "⚠️ 注意", "✔️ 完成"])
def test_lines_and_signs_stay(text: str) -> None:
    assert mask(text) == text


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("張三", "[姓名#1]"),
        ("歐陽建國的訪視", "[姓名#1]的訪視"),
        ("歐阳建國的访視", "[姓名#1]的访視"),
        ("张国强和張國強", "[姓名#1]和[姓名#1]"),
        ("患者趙衛東今日複診", "患者[姓名#1]今日複診"),
        ("住院號：1234567", "住院號:[就诊号#1]"),
        ("出生時間1987年06月15日,發熱", "年龄39岁,發熱"),
        ("受試者陳建國", "受試者[姓名#1]"),
        ("聯繫電話:62756789", "聯繫電話:[电话#1]"),
        ("受試者P001發生於2024-03-15的皮疹,經治療後緩解", "受試者P001發生於2024-03-15的皮疹,經治療後緩解"),
    ],
)  # fmt: skip
def test_traditional_characters_are_read_and_left(text: str, masked: str) -> None:
    assert mask(text) == masked


def test_a_reader_gets_back_what_they_typed() -> None:
    gate = Gate(KNOWN)
    assert gate.restore(gate.text("張三的訪視", own=True)) == "張三的訪視"


@pytest.mark.parametrize("key", ["住院號", "電話", "患者姓名", "身份證號"])
def test_traditional_keys_are_read_too(key: str) -> None:
    assert json.loads(Gate().data({key: "赵六一", "alt": "38"})) == {"alt": "38"}


@given(
    st.sampled_from(SECRETS),
    st.sampled_from([as_json, as_numbers, as_hexadecimal, quote, as_bold]),
    st.sampled_from(["问:", "", "(", "\\n", "%20", "&nbsp;"]),
)
def test_no_escape_hides_a_known_value(secret: str, escape: object, before: str) -> None:
    written = escape(secret)  # type: ignore[operator]
    masked = mask(f"{before}{written},怎么样")
    assert written not in masked
    assert secret not in html.unescape(re.sub(r"</?b>", "", masked))
    assert PLACEHOLDER.search(masked)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ('{"n":"\\u5f20\\u4e09","alt":"\\u9ad8"}', '{"n":"[姓名#1]","alt":"\\u9ad8"}'),
        ("张\\n三", "[姓名#1]"),
        ("张&nbsp;三", "[姓名#1]"),
        ("张<br>三", "[姓名#1]"),
        ("\\\\u5f20\\\\u4e09", "[姓名#1]"),
        ("\\u60a3\\u8005\\u5218\\u6d0b,\\u9ad8\\u8840\\u538b", "\\u60a3\\u8005[姓名#1],\\u9ad8\\u8840\\u538b"),
        ("电话\\u003a159-1234-5678", "电话\\u003a[电话#1]"),
        ("lisi1980%40qq.com", "[邮箱#1]"),
    ],
)  # fmt: skip
def test_an_escape_that_hides_nothing_stays(text: str, masked: str) -> None:
    assert mask(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "缓解率 30%13 例, 50%20 例",
        "P<0.05 且 ALT<b 参考值",
        "<td>130</td><td>80</td>, 10<sup>9</sup>",
        "a\\b\\n\\t C:\\temp\\new &amp; &lt;x&gt; &bogus; \\u12 \\ud800 %FF %E5%BC",
        "<b>ALT</b> 升高 <span class='x'>38</span>",
        "第一二三部分, 一二三四五",
        "ISO 10l, O2 100, lO0",
    ],
)
def test_other_signs_are_no_escapes(text: str) -> None:
    assert mask(text) == text


def test_an_escape_does_not_hide_what_is_written() -> None:
    assert "6228480402564890018" not in mask("占比5%6228480402564890018")
    assert "13800138000" not in mask("占30%13800138000")


@pytest.mark.parametrize(
    "text",
    [
        "壹叁捌零零壹叁捌零零零", "138-零零一三-8000", "13800l38000", "1380013800O", "l38OO138OOO",
        "138零零1380零零",
        "一三八〇〇一三八〇〇〇", "身份证叁贰零伍零贰壹玖捌柒零陆壹伍叁叁壹捌", "固话零一零六二七五六七八九",
        "银行卡号六二二八四八零四零二五六四八九零零一八", "住院号一二三四五六七", "电话1591234五六七八",
    ],
)  # fmt: skip
def test_digits_written_as_characters_or_mistyped(text: str) -> None:
    left = PLACEHOLDER.sub("", mask(text))
    assert not re.search(r"[\d〇零一二三四五六七八九壹贰叁肆伍陆柒捌玖]", left), left


@pytest.mark.full
@pytest.mark.parametrize(
    "text",
    ["\\u5f20" * 5_000, "&#2435" * 5_000, "%E5%BC" * 5_000, "<b" * 20_000, "一" * 20_000, "l1" * 20_000,
     "<b " + " " * 20_000, "張" * 20_000, "1o" * 10 + "-" * 20_000, "住院号1234567" + "、1234568" * 3_000],
    ids=range(10),
)  # fmt: skip
def test_long_texts_do_not_keep_a_worker_busy(text: str) -> None:
    assert mask(text)


@given(
    st.text(
        st.characters(blacklist_categories=["Cs"]) | st.sampled_from("張%\\u<&;b4E5"), max_size=60
    )
)
def test_masking_twice_changes_nothing(text: str) -> None:
    assert mask(mask(text)) == mask(text)

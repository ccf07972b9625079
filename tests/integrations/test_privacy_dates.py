"""Dates of birth become an age or a placeholder, however they are written; other dates stay."""

from __future__ import annotations

import json
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.privacy.gate import Gate
from core.privacy.identifier_index import Known

TODAY = date(2026, 11, 21)
BORN = Known.of({"dob": ["1962-03-05"]})
MONTHS = "January February March April May June July August September October November December"


def mask(text: str, *known: Known) -> str:
    return str(Gate(known, today=TODAY).text(text))


@pytest.mark.parametrize(
    "text",
    [
        "AE发生于2024-03-15,2024-03-20恢复", "主治医生于2024-03-15查房", "血栓产生于2024年3月15日",
        "先生于2024-03-15来访",
        "学生于2024-03-15", "新生于2024-03-15", "研究生于2024-03-15随访", "实习生于2024/3/15抽血", "寄生于肠道",
        "进修生于2024-03-15", "博士生于2024-03-15", "再生于2024-03-15", "衍生于2024-03-15", "发生日2024-03-15",
        "2024年3月15日出生缺陷筛查", "出生于农村", "出生体重 3200 g",
    ],
)  # fmt: skip
def test_what_happened_on_a_day_was_not_born(text: str) -> None:
    assert mask(text) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("出生年月：196203", "出生年月:"), ("出生：1962", "出生:"), ("生于1962", "生于"), ("DOB: 3/5", "DOB: "),
        ("生日0305", "生日"), ("生日3.5", "生日"), ("生日 3/5", "生日 "), ("生日：12-25", "生日:"),
        ("62年3月生", "生"), ("1962年生人", "生人"), ("62年生人", "生人"), ("他1962年生", "他生"),
        ("1962年出生", "出生"), ("女,1962年生,汉族", "女,生,汉族"),
        ("3月5日是她生日", "是她生日"), ("她3月5号过生日", "她过生日"), ("3月5日是患者的生日", "是患者的生日"),
        ("born 5 Mar 62", "born "), ("born in 1962", "born in "), ("born March 5, 62", "born "),
        ("DOB 05-Mar-62", "DOB "), ("born Mar 62", "born "),
    ],
)  # fmt: skip
def test_a_birth_without_a_whole_date_is_masked_beside_its_words(text: str, left: str) -> None:
    told = mask(text)
    assert "[出生日期#1]" in told
    assert told.replace("[出生日期#1]", "") == left


@pytest.mark.parametrize(
    "text",
    [
        "3月5日生化检查", "2024年生化", "2024年3月生物样本", "2024年出生缺陷筛查", "2019年出生队列",
        "2024年出生体重", "1962 出生体重", "出生 3.5 kg", "出生2010例", "近10年出生的患儿", "2024年生存率",
        "随访10年生存", "5年生存率62%", "AE发生于2024", "AE发生2024", "发生日0305", "发生日3.5", "产生2024条",
        "医生于2024年查房", "3月5日学生日记", "3月5日发生日志", "2024年新生儿", "患者1962年确诊",
        "born 2000 g", "birth weight 3.5 kg", "birth 3.5",
    ],
)  # fmt: skip
def test_figures_beside_words_of_other_things_stay(text: str) -> None:
    assert mask(text) == text


@pytest.mark.parametrize(
    "text",
    ["患者生于1987-06-15", "她生于1987年6月15日", "女,生于1987-06-15", "刘女士生于1987-06-15", "生日1987/6/15",
     "诞生于1987-06-15", "出生于1987-06-15", "李中生于1987-06-15"],
)  # fmt: skip
def test_who_was_born_gets_an_age(text: str) -> None:
    assert mask(text).endswith("年龄39岁")


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("出生日期1987-06-15、1988-07-16", "年龄39岁、年龄38岁"),
        ("出生日期1987-06-15和1988-07-16及1989-07", "年龄39岁和年龄38岁及[出生日期#1]"),
        ("出生日期:1987-06-15;2024-03-15访视", "年龄39岁;2024-03-15访视"),
        ("出生日期:1987-06-15,2024-03-15访视", "年龄39岁,2024-03-15访视"),
    ],
)
def test_a_list_of_births(text: str, masked: str) -> None:
    assert mask(text) == masked


def spellings(day: date) -> list[str]:
    y, m, d = day.year, day.month, day.day
    month = MONTHS.split()[m - 1]
    digits = "〇一二三四五六七八九"
    han = "".join(digits[int(char)] for char in str(y))

    def number(n: int) -> str:
        tens, ones = divmod(n, 10)
        return ("" if tens == 0 else "十" if tens == 1 else f"{digits[tens]}十") + (
            digits[ones] if ones else ""
        )

    return [
        f"{y}-{m:02}-{d:02}", f"{y}-{m}-{d}", f"{y}/{m:02}/{d:02}", f"{y}/{m}/{d:02}", f"{y}.{m}.{d}",
        f"{y}{m:02}{d:02}",
        f"{y} {m:02} {d:02}", f"{y}年{m}月{d}日", f"{y}年{m:02}月{d:02}日", f"{y}年{m}月{d}号",
        f"{y} 年 {m} 月 {d} 日",
        f"{d}/{m}/{y}", f"{m}/{d}/{y}", f"{m:02}/{d:02}/{y}", f"{d:02}-{m:02}-{y}", f"{d}.{m}.{y}",
        f"{month} {d}, {y}", f"{month[:3]} {d} {y}", f"{d} {month[:3]} {y}", f"{d:02}-{month[:3]}-{y}",
        f"{d:02}{month[:3].upper()}{y}", f"{d} {month} {y}", f"{y}-{month[:3]}-{d:02}",
        f"{han}年{number(m)}月{number(d)}日", f"{han}年{number(m)}月{number(d)}", f"{y % 100:02}年{m}月{d}日",
        f"{y % 100:02}{m:02}{d:02}", f"{y % 100:02}-{m:02}-{d:02}", f"{y}-{m:02}-{d:02}T00:00",
    ]  # fmt: skip


@pytest.mark.full
@given(st.dates(date(1930, 1, 1), date(1999, 12, 31)), st.data())
def test_a_known_birth_in_every_spelling(day: date, data: st.DataObject) -> None:
    known = Known.of({"出生日期": [str(day)]})
    for spelling in spellings(day):
        assert mask(f"他{spelling},男", known).startswith("他[出生日期#1]")
    other = data.draw(st.dates(date(2001, 1, 1), date(2025, 12, 31)))
    for spelling in spellings(other)[:-4]:
        assert mask(f"访视{spelling},V2", known) == f"访视{spelling},V2"


@pytest.mark.parametrize(
    "stored",
    ["1962-03-05", "03/05/1962", "05-03-1962", "1962-03-05 00:00", "1962-3-5", "1962年3月5日", "19620305",
     "5 Mar 1962"],
)  # fmt: skip
def test_a_birth_however_it_is_stored(stored: str) -> None:
    known = Known.of({"dob": [stored]})
    for text in ("1962-03-05", "1962年3月5号", "March 5, 1962", "一九六二年三月五日"):
        assert mask(f"他{text}", known) == "他[出生日期#1]"


def test_one_birth_is_one_placeholder() -> None:
    assert mask("1962-03-05, 5 Mar 1962, 620305", BORN) == ", ".join(["[出生日期#1]"] * 3)


@pytest.mark.parametrize(
    "text",
    ["3月5日访视", "1962年", "1962-03-06", "WBC 6.20305", "620306", "2024-03-05", "62 3 50", "31/02/1962",
     "PLT 362, 305"],
)  # fmt: skip
def test_other_days_and_numbers_stay(text: str) -> None:
    assert mask(text, BORN) == text


def test_lists_with_other_births_are_others() -> None:
    assert Known.of({"dob": ["1962-03-05"]}) == BORN
    assert Known.of({"dob": ["1962-03-06"]}) != BORN


@pytest.mark.parametrize(
    ("row", "sent"),
    [
        ({"生日": "6月15日"}, {}),
        ({"birth_date": "15/06/1987"}, {}),
        ({"birthDate": "1987-06-15"}, {"age": 39}),
        ({"csrq": "1987-06-15"}, {"age": 39}),
        ({"birthday": "87-06-15"}, {}),
        ({"出生年份": "1987"}, {}),
        ({"x": {"生日": "June 15, 1987"}}, {"x": {}}),
        ({"values": [{"field": "q1", "label": "出生日期", "value": "1987-06-15"}]}, {"values": []}),
        ({"出生体重(g)": "2050"}, {"出生体重(g)": "2050"}),
        ({"birth_weight": "2050"}, {"birth_weight": "2050"}),
        ({"生日": "未知"}, {"生日": "未知"}),
        ({"visit_date": "2024-03-15"}, {"visit_date": "2024-03-15"}),
    ],
)
def test_a_birth_below_its_key(row: object, sent: object) -> None:
    assert json.loads(Gate(today=TODAY).data(row)) == sent

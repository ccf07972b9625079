"""Texts that come with every message are masked as any other text, however often they come."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.privacy.gate import Gate
from core.privacy.identifier_index import Known

NAMES = ["张三丰", "王晓明", "Anna Li"]
TODAY = date(2026, 3, 1)
PIECES = st.lists(
    st.sampled_from(
        [
            *NAMES,
            *[
                "王 晓 明",
                "老张",
                "13800000002",
                "出生日期:1960-02-03",
                "出生日期:1960-02-04",
                "P001",
            ],
            *[
                "[姓名#1]",
                "[Hot Memory]",
                "家住北京市朝阳区幸福路12号",
                "例会改为周三",
                "\n- ",
                ",",
                " ",
            ],
        ]
    ),
    max_size=12,
).map("".join)


def known(*more: str) -> Known:
    return Known.of({"patient_name": [*NAMES, *more], "phone": ["13800000002"]}, keep=["P001"])


def gate(*more: str) -> Gate:
    return Gate([known(*more), Known.of({"受试者": ["P002", "7"]})], today=TODAY)


@given(texts=st.lists(PIECES, max_size=4))
def test_the_same_as_each_text_alone(texts: list[str]) -> None:
    for _time in range(2):
        one, other = gate(), gate()
        assert one.blocks(texts) == "\n\n".join(other.text(text) for text in texts)
        assert one.replaced == other.replaced


@given(text=PIECES)
def test_another_list_masks_anew(text: str) -> None:
    plain = gate().blocks([f"赵六一在场。\n{text}"])
    assert "赵六一" in plain
    assert "赵六一" not in gate("赵六一").blocks([f"赵六一在场。\n{text}"])
    assert gate().blocks([f"赵六一在场。\n{text}"]) == plain


def test_what_a_record_taught_holds_at_once() -> None:
    one = gate()
    assert "赵六一" in one.blocks(["例会由赵六一主持"])
    one.learn(["赵六一"])
    assert "赵六一" not in one.blocks(["例会由赵六一主持"])


def test_numbers_of_placeholders_run_on_through_a_request() -> None:
    one = gate()
    assert one.text("王晓明来了") == "[姓名#1]来了"
    assert one.blocks(["张三丰来了", "王晓明也来了"]) == "[姓名#2]来了\n\n[姓名#1]也来了"


@pytest.mark.parametrize("day", [date(2026, 2, 2), date(2026, 2, 4)])
def test_an_age_is_of_the_day(day: date) -> None:
    years = 65 if day < date(2026, 2, 3) else 66
    assert f"年龄{years}岁" in Gate(today=day).blocks(["出生日期:1960-02-03"])

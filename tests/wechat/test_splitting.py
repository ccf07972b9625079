"""Long texts in parts of 2048 bytes: nothing lost, nothing torn (reference/wecom.md O15-O17)."""

from __future__ import annotations

import re

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from wechat.outbound.splitting import LIMIT, split

PREFIX = re.compile(r"\((\d+)/(\d+)\) ")
FAMILY = "👨‍👩‍👧‍👦"


def bodies(parts: list[str]) -> list[str]:
    """The parts without their numbers, which must count up."""
    if len(parts) == 1:
        return parts
    for number, part in enumerate(parts, 1):
        found = PREFIX.match(part)
        assert found
        assert (int(found[1]), int(found[2])) == (number, len(parts))
    return [PREFIX.sub("", part, count=1) for part in parts]


def size(text: str) -> int:
    return len(text.encode())


@pytest.mark.parametrize(("length", "count"), [(0, 1), (1, 1), (2048, 1), (2049, 2)])
def test_exactly_the_limit_is_one_message(length: int, count: int) -> None:
    """O17."""
    assert len(split("a" * length)) == count


def test_five_thousand_characters(  # O15
) -> None:
    text = "受试者已完成访视,各项指标正常。" * 320
    parts = split(text)
    assert all(size(part) <= LIMIT for part in parts)
    assert "".join(bodies(parts)) == text
    assert all(body.endswith("。") for body in bodies(parts))
    assert len(parts) == 8


def test_more_than_nine_parts_leave_room_for_the_longer_number() -> None:
    parts = split("中" * 7500)
    assert len(parts) > 9
    assert all(size(part) <= LIMIT for part in parts)
    assert "".join(bodies(parts)) == "中" * 7500


@pytest.mark.parametrize("mark", ["\n\n", "\n", "。", "!", "? ", ",", " "])
def test_a_cut_falls_on_the_best_boundary(mark: str) -> None:
    text = "x" * 50 + mark + "y" * 60
    assert bodies(split(text, 100))[0] == "x" * 50 + mark.rstrip(" ") + " " * mark.endswith(" ")


def test_a_paragraph_wins_over_a_sentence() -> None:
    text = "甲" * 15 + "\n\n" + "乙" * 8 + "。" + "丙" * 20
    assert bodies(split(text, 100))[0] == "甲" * 15 + "\n\n"


def test_a_boundary_too_early_is_not_taken() -> None:
    text = "a. " + "b" * 200
    assert len(bodies(split(text, 100))[0]) > 50


@pytest.mark.parametrize(
    "whole",
    [
        '<a href="https://h.cn/x?y=1">打开审核台</a>',
        "[打开](https://h.cn/review/42)",
        "**重要的一句话**",
        "`ae_serious = 1`",
        "https://h.cn/admin/engines/review/42/change/",
        '<font color="warning">逾期</font>',
        FAMILY,
        "e\u0301\u0302",
        "🇨🇳",
    ],
)
def test_markup_links_and_graphemes_stay_whole(whole: str) -> None:
    """O16: wherever the cut would fall."""
    for before in range(60, 100):
        parts = bodies(split("x" * before + whole + "y" * 60, 110))
        assert sum(whole in part for part in parts) == 1


def test_markup_larger_than_a_part_is_cut_all_the_same() -> None:
    text = f"**{'重' * 100}**"
    parts = split(text, 100)
    assert all(size(part) <= 100 for part in parts)
    assert "".join(bodies(parts)) == text


def test_a_grapheme_larger_than_a_part_is_cut_between_code_points() -> None:
    text = "a" + "\u0301" * 200
    parts = split(text, 100)
    assert all(size(part) <= 100 for part in parts)
    assert "".join(bodies(parts)) == text


PIECES = st.one_of(
    st.text(st.characters(exclude_categories=("Cs",)), max_size=30),
    st.sampled_from(
        [
            FAMILY,
            "🇨🇳",
            "e\u0301",
            "**粗体**",
            "[a](https://b.cn)",
            '<a href="x">y</a>',
            "\r\n",
            "\n\n",
            "。",
            "`",
            "<a ",
        ]
    ),
)


@given(st.lists(PIECES, max_size=40).map("".join), st.integers(64, 300))
@example("中" * 300, 64)
def test_any_text_is_cut_without_loss(text: str, limit: int) -> None:
    parts = split(text, limit)
    assert all(size(part) <= limit for part in parts)
    assert "".join(bodies(parts)) == text


MARKUP = st.one_of(
    st.from_regex(r"\*\*[^*\n]{1,20}\*\*", fullmatch=True),
    st.from_regex(r"\[[^\[\]\n]{0,9}\]\(https?://[a-z0-9./?=&]{1,20}\)", fullmatch=True),
    st.from_regex(r"`[^`\n]{1,20}`", fullmatch=True),
    st.from_regex(r'<font color="(info|warning|comment)">[^<]{0,9}</font>', fullmatch=True),
    st.from_regex(r'<a href="https://h\.cn/[a-z]{0,9}">[^<]{0,9}</a>', fullmatch=True),
)
WORDS = st.text(st.characters(categories=("Lo", "Ll", "Nd")), min_size=1, max_size=40)


@pytest.mark.full
@given(st.lists(st.tuples(WORDS, MARKUP), min_size=1, max_size=20))
def test_no_markup_is_torn_wherever_the_cuts_fall(pieces: list[tuple[str, str]]) -> None:
    """O16: what fits into a part is whole in one of them."""
    pieces = [(words, mark) for words, mark in pieces if size(mark) < 200]
    text = "\n".join(f"{words} {mark} {words}" for words, mark in pieces)
    parts = bodies(split(text, 256))
    for _words, mark in pieces:
        assert sum(part.count(mark) for part in parts) == text.count(mark)


@given(st.lists(PIECES, max_size=40).map("".join))
def test_no_grapheme_is_torn(text: str) -> None:
    graphemes = regex.findall(r"\X", text)
    if any(size(grapheme) > 100 for grapheme in graphemes):
        return
    ends, position = set(), 0
    for grapheme in graphemes:
        ends.add(position := position + len(grapheme))
    position = 0
    for body in bodies(split(text, 128)):
        position += len(body)
        assert position in ends or not text

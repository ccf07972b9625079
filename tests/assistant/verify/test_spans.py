"""Marks and what they cover (design.md 5a.5)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engines.assistant.verify.spans import sentences, unmarked

WORD = st.text("血红蛋白降至为、升高V的", min_size=1, max_size=8)
MARK = st.sampled_from(["[F1]", "【F2】", "[D3, W12a]", "［M1］", "[H1][F4]", ""])


def covers(answer: str) -> list[tuple[str, tuple[str, ...]]]:
    """Each piece with its marks."""
    return [(piece.text, piece.marks) for s in sentences(answer) for piece in s.pieces]


def test_a_mark_covers_the_text_back_to_the_mark_before_it() -> None:
    assert covers("基线143[F1]，V3 106[F2][F3]") == [
        ("基线143", ("F1",)),
        ("，V3 106", ("F2", "F3")),
    ]


def test_a_mark_does_not_reach_over_a_full_stop() -> None:
    assert covers("您好。V2 185[F1]")[0] == ("您好。", ())


def test_an_unmarked_tail_takes_all_marks_of_its_sentence() -> None:
    assert covers("V2 185[F1]、V3 28[F2]，偏高。")[-1] == ("，偏高。", ("F1", "F2"))


def test_a_mark_behind_the_full_stop_belongs_to_the_sentence_before() -> None:
    assert covers("V2为185。[F1]V3为28[F2]")[0] == ("V2为185", ("F1",))


def test_several_marks_and_a_row_of_them_in_one_pair_of_brackets() -> None:
    assert covers("均正常[F1,F3-F5]") == [("均正常", ("F1", "F3", "F4", "F5"))]


def test_a_mark_before_all_words_covers_the_tail_behind_it() -> None:
    assert covers("[F1]V2为185") == [("V2为185", ("F1",))]


def test_a_row_of_a_table_is_told_with_the_heads_of_its_columns() -> None:
    table = "| 访视 | ALT |\n|---|---|\n| V2 | 185[F1] |"
    assert covers(table) == [("访视 V2、ALT 185", ("F1",))]


def test_the_number_of_a_list_item_is_not_told_but_a_decimal_is() -> None:
    assert [text for text, _marks in covers("1. 基线 14[F1]\n2、V2 34\n3.5倍")] == [
        "基线 14",
        "V2 34",
        "3.5倍",
    ]


def test_a_question_mark_inside_quotation_marks_ends_nothing() -> None:
    assert len(sentences("不要写“ND?”或0[D1]")) == 1


@given(st.lists(st.tuples(WORD, MARK), min_size=1, max_size=6))
def test_nothing_of_an_answer_is_lost_and_every_mark_is_kept(parts: list[tuple[str, str]]) -> None:
    answer = "".join(word + mark for word, mark in parts)
    told = covers(answer)
    assert "".join(text for text, _marks in told) == unmarked(answer)
    given_marks = {
        m for _w, mark in parts for m in ("F1", "F2", "D3", "W12a", "M1", "H1", "F4") if m in mark
    }
    assert {m for _text, marks in told for m in marks} == given_marks


@given(st.text("[]F12【】。，|\n-1. ", max_size=40))
def test_any_text_can_be_cut(text: str) -> None:
    assert all(piece.text for s in sentences(text) for piece in s.pieces)

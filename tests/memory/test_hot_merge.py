"""Two writers at once: both edits in one text, and no line lost that nobody removed."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from memory.versioned import merge

BASE = "# 当前状态\n- 甲\n- 乙\n- 丙\n# 系统禁令\n- 丁"
LINE = st.sampled_from(["# a", "- 甲", "- 乙", "- 丙", "- 丁", "", "- 戊"])
TEXTS = st.lists(LINE, max_size=10).map("\n".join)


def test_edits_of_different_places_are_both_kept() -> None:
    found = merge(BASE, BASE.replace("甲", "甲一"), BASE.replace("丁", "丁一"))
    assert found.text == BASE.replace("甲", "甲一").replace("丁", "丁一")
    assert found.conflicts == ()


def test_one_removes_and_the_other_adds() -> None:
    found = merge(BASE, BASE.replace("- 乙\n", ""), BASE + "\n- 戊")
    assert found.text == BASE.replace("- 乙\n", "") + "\n- 戊"
    assert found.conflicts == ()


def test_the_same_edit_twice_is_one() -> None:
    both = BASE.replace("乙", "乙一")
    assert merge(BASE, both, both).text == both
    assert merge(BASE, both, both).conflicts == ()


def test_the_same_place_is_named_and_carries_both() -> None:
    found = merge(BASE, BASE.replace("乙", "我的"), BASE.replace("乙", "他的"))
    assert found.text == BASE.replace("- 乙", "- 他的\n- 我的")
    assert [(c.theirs, c.mine) for c in found.conflicts] == [(("- 他的",), ("- 我的",))]


def test_a_change_wins_over_a_removal_and_is_named() -> None:
    found = merge(BASE, BASE.replace("- 乙\n", ""), BASE.replace("乙", "乙一"))
    assert "- 乙一" in found.text
    assert "- 乙\n" not in found.text
    assert len(found.conflicts) == 1


def test_both_add_at_the_end() -> None:
    found = merge(BASE, BASE + "\n- 我", BASE + "\n- 他")
    assert found.text == BASE + "\n- 他\n- 我"


def test_without_a_common_text_nothing_is_lost() -> None:
    found = merge("", "- 甲\n- 乙", "- 乙\n- 丙")
    assert set(found.text.split("\n")) == {"- 甲", "- 乙", "- 丙"}


@given(TEXTS, TEXTS)
def test_who_changed_alone_is_followed(base: str, other: str) -> None:
    assert merge(base, other, base).text == other
    assert merge(base, base, other).text == other
    assert merge(base, base, base).text == base


@given(TEXTS, TEXTS, TEXTS)
def test_a_line_goes_only_where_somebody_removed_it(base: str, mine: str, theirs: str) -> None:
    was, my, their = (Counter(text.split("\n")) for text in (base, mine, theirs))
    now = Counter(merge(base, mine, theirs).text.split("\n"))
    removed = (was - my) + (was - their)
    assert not (was - removed) - now


@given(TEXTS, TEXTS, TEXTS)
def test_what_either_added_is_there(base: str, mine: str, theirs: str) -> None:
    was = set(base.split("\n"))
    now = set(merge(base, mine, theirs).text.split("\n"))
    added = (set(mine.split("\n")) | set(theirs.split("\n"))) - was
    assert added <= now


@given(TEXTS, TEXTS, TEXTS)
def test_nothing_is_made_up(base: str, mine: str, theirs: str) -> None:
    merged = set(merge(base, mine, theirs).text.split("\n"))
    assert merged <= set(base.split("\n")) | set(mine.split("\n")) | set(theirs.split("\n"))


@given(TEXTS, TEXTS, TEXTS)
def test_a_conflict_shows_what_both_wrote(base: str, mine: str, theirs: str) -> None:
    found = merge(base, mine, theirs)
    merged = found.text.split("\n")
    for conflict in found.conflicts:
        assert set(conflict.mine) | set(conflict.theirs) <= set(merged)
        assert set(conflict.mine) <= set(mine.split("\n"))
        assert set(conflict.theirs) <= set(theirs.split("\n"))

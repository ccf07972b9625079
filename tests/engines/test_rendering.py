"""Answers without the LLM, cut to length (seed 003, reply rules)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engines import render
from engines.parallel import run_all


@given(st.text(max_size=300), st.integers(2, 150))
def test_a_cut_text_is_short_enough(text: str, limit: int) -> None:
    assert len(render.cut(text, limit)) <= limit


def test_a_cut_prefers_the_end_of_a_sentence() -> None:
    text = "P001 已入组。入组日期 2026-02-05,首次用药 2026-02-06。" + "其他" * 40
    assert render.cut(text, 60).endswith("。")


def test_a_cut_never_goes_through_a_number() -> None:
    for limit in range(8, 20):
        shown = render.cut("受试者编号以及入组日期2026-02-05已登记", limit)
        assert "2026" not in shown or "2026-02-05" in shown


def test_whole_lines_as_far_as_they_fit() -> None:
    assert render.fit(["一二三", "四五六", "七八九"], 7) == "一二三\n四五六"
    assert len(render.fit(["一" * 50], 10)) <= 10


def test_a_line_of_several_lines_counts_once() -> None:
    lines = ["P001 既往史:高血压\n糖尿病\n痛风", "P001 年龄:64", "P001 性别:男"]
    shown = render.fit_all(lines, 34)
    assert shown.startswith(lines[0])
    assert "2" in shown.removeprefix(lines[0])
    assert render.fit_all(lines, 200) == "\n".join(lines)


def test_fitting_lines_come_first() -> None:
    lines = ["P001 性别:男", "P001 入组日期:2026-02-05"]
    assert render.ranked(lines, "P001 什么时候入组")[0] == lines[1]


def test_jobs_come_back_in_order() -> None:
    assert run_all([lambda n=n: n * n for n in range(6)]) == [0, 1, 4, 9, 16, 25]  # type: ignore[misc]
    assert run_all([]) == []

"""Rendering costs in proportion to the text, whatever it is; what people write looks as they mean it."""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from django.utils import translation
from hypothesis import given, settings
from hypothesis import strategies as st

from core.house import markdown
from core.house.markdown import MOST_CELLS

SIGNS = list('[]()!`*_><-+#|~=\\&":a好： \n\t')
LINKS = [
    "[a](",
    "[a](<",
    '[a](b "',
    "[a][b]",
    "[a]: b\n",
    "[a]:\n[a] ",
    "![a](b)",
    "[a](![a](b)",
    "[[]]",
    "[a](b)",
]
EMPHASIS = [
    "**a ",
    "*a _b ",
    "*a **b ",
    "a**b",
    "**好：**",
    "*：",
    "x*_",
    "`a``b```c ",
    "https://a.b/",
]
BLOCKS = [
    "``` \n",
    "~~~\n",
    "    a\n",
    "- a\n",
    "1. a\n",
    "- - ",
    "> > ",
    "> a\n",
    "> - ",
    "* * *\n",
]
LINES = ["a\n---\n", "a\n===\n", "# a\n", "- a\n\n  ", "\\\n", "a  \n", "\n\n"]
TABLES = ["|a|b|\n", "|a|b|\n|-|-|\n", "|-|\n", "|a\\|"]
HTML = ["<a ", "<a href='", "<!-- ", "<?", "<![CDATA[", "<!A", "</a", "<a@b", "<http:", "<div>\n"]
ENTITIES = ["&amp;", "&#35;", "&#x", "&a"]
PIECES = [*SIGNS, *LINKS, *EMPHASIS, *BLOCKS, *LINES, *TABLES, *HTML, *ENTITIES]
SHAPES: dict[str, Callable[[int], str]] = {
    "lists in lists": lambda size: _grown(lambda level: "  " * level + "- a\n", size),
    "quotes in quotes": lambda size: _grown(lambda level: ">" * level + " a\n", size),
    "quotes that end early": lambda size: (">``` \n<div>\n" * size)[:size],
    "ever longer code fences": lambda size: _grown(lambda level: "`" * level + " ", size),
    "ever longer emphasis": lambda size: _grown(lambda level: "*" * level + "a ", size),
    "opened, then closed": lambda size: "[" * (size // 2) + "](a)" * (size // 8),
    "emphasis around": lambda size: "*" * (size // 2) + "a" + "*" * (size // 2),
    "links opened, then closed": lambda size: "[a](![a](b)" * (size // 22) + ")" * (size // 2),
    "opened by one, closed by another": lambda size: "*a _b " * (size // 12) + "c_ d* " * (size // 12),
    "a wide table": lambda size: "|a" * (size // 4) + "|\n" + "|-" * (size // 4) + "|\n",
    "many references": lambda size: _grown(lambda level: f"[a{level}]: b\n", size // 2) + "[a1]" * (size // 8),
}  # fmt: skip
MOST_STEPS = 2_500
"""Lines of Python that one character may cost, by far the most that any shape below takes."""


class TooManySteps(Exception):
    pass


def _grown(piece: Callable[[int], str], size: int) -> str:
    pieces = itertools.accumulate(piece(level) for level in itertools.count(1))
    return next(text for text in pieces if len(text) >= size)[:size]


def steps(text: str, most: int) -> int:
    """How many lines of Python rendering `text` runs; raises TooManySteps at `most`."""
    count = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        count += 1
        if count > most:
            raise TooManySteps
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        markdown.render(text)
    finally:
        sys.settrace(before)
    return count


def assert_in_proportion(shape: Callable[[int], str], size: int = 500) -> None:
    """Where a piece is cut at one of two sizes, the texts differ: what grows goes on growing at the next."""
    few, more = (steps(shape(n), MOST_STEPS * (n + 20)) for n in (size, 4 * size))
    if more > 6 * few + 4_000:
        assert steps(shape(16 * size), MOST_STEPS * 16 * (size + 20)) <= 6 * more + 4_000


@pytest.mark.full
@pytest.mark.parametrize("piece", PIECES)
def test_a_piece_over_and_over(piece: str) -> None:
    assert_in_proportion(lambda size: (piece * size)[:size])


@pytest.mark.full
@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_that_grows(name: str) -> None:
    assert_in_proportion(SHAPES[name])


@pytest.mark.full
@settings(max_examples=12, deadline=None)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=4), st.integers(0, 3))
def test_any_pieces_in_turn(pieces: list[str], blocks: int) -> None:
    """A beginning over and over, then its end over and over."""
    begin, end = "".join(pieces[:blocks]), "".join(pieces[blocks:])
    assert_in_proportion(
        lambda size: (begin * size)[: size // 2] + (end * size)[: size // 2], size=500
    )


@pytest.mark.full
@pytest.mark.parametrize("columns", [1, 40, 256, 6_000])
@pytest.mark.parametrize("rows", [2, 256, 20_000])
def test_short_rows_are_filled_up_within_bounds(columns: int, rows: int) -> None:
    one = "|a" * columns + "|\n" + "|-" * columns + "|\n" + "|\n" * rows
    text = f"{one}\n" * (markdown.LONGEST // len(one) + 1)
    assert markdown.render(text[: markdown.LONGEST]).count("<t") < 4 * MOST_CELLS


@pytest.mark.full
def test_a_large_table_of_a_study_is_one() -> None:
    text = "| 受试者 | 访视 | 值 |\n|---|---|---|\n" + "| P001 | V2 | 185 |\n" * 2_000
    assert markdown.render(text).count("<td>") == 6_000


@pytest.mark.full
def test_the_longest_text_ends() -> None:
    """5,000 brackets took seven seconds, 20,000 did not end."""
    longest = "[" * markdown.LONGEST
    assert longest in markdown.render(longest)


def test_a_longer_text_is_refused_in_the_readers_language() -> None:
    with translation.override("en"), pytest.raises(markdown.TextTooLong, match="50000 characters"):
        markdown.render("字" * (markdown.LONGEST + 1))
    with translation.override("zh-hans"), pytest.raises(markdown.TextTooLong, match="最多"):
        markdown.render("字" * (markdown.LONGEST + 1))
    assert "字" in markdown.render("字" * markdown.LONGEST)


def test_a_longer_text_that_is_stored_is_shown_as_it_was_typed() -> None:
    text = "# 方案\n<script>alert(1)</script>\n" + "字" * markdown.LONGEST
    shown = markdown.render_markdown(text)
    assert "<pre># 方案\n&lt;script&gt;alert(1)&lt;/script&gt;\n字" in shown
    assert "50000" in shown


@pytest.mark.parametrize(
    "bad",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        '<a href="x" onclick="alert(1)">x</a>',
        "[x](javascript:alert(1))",
        "[x](&#106;avascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "[x](vbscript:x)",
        "<javascript:alert(1)>",
        "![x](https://example.org/x.png)",
        '[x](https://example.org "onmouseover=alert(1)")',
        '[a]: javascript:alert(1)\n\n[a]',
        "<style>*{display:none}</style>",
        "<iframe src=//example.org></iframe>",
        "| a |\n|---|\n| <svg onload=alert(1)> |",
        "```html\n<script>alert(1)</script>\n```",
        "```x\" onload=\"alert(1)\nx\n```",
    ],
)  # fmt: skip
def test_nothing_of_it_lives(bad: str) -> None:
    html = markdown.render(bad)
    tags = re.findall(r"<[^>]*>", html)
    assert all(re.fullmatch(r"</?\w+>|<br>|<a [^>]*>", tag) for tag in tags), tags
    assert not re.search(r"<(script|img|style|iframe|svg)", html)
    for attributes in re.findall(r"<a ([^>]*)>", html):
        assert re.fullmatch(
            r'(href="(https?|mailto):[^"]*" )?(title="[^"]*" )?rel="noopener noreferrer"',
            attributes,
        )


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("# 标题", "<h1>标题</h1>"),
        ("**注意：**不得删除", "<strong>注意：</strong>不得"),
        ("**“重要”**信息", "<strong>“重要”</strong>信息"),
        ("结论**（见方案）**如下", "结论<strong>（见方案）</strong>如下"),
        ("结论：**P001**。", "结论：<strong>P001</strong>。"),
        ("见*附录*。", "见<em>附录</em>。"),
        ("3 * 4 * 5", "3 * 4 * 5"),
        ("字段 alt_v1_x", "字段 alt_v1_x"),
        ("ALT < 40 & AST > 3", "ALT &lt; 40 &amp; AST &gt; 3"),
        ("甲\n乙", "甲<br>"),
        ("说明：\n- 甲\n- 乙", "<ul>\n<li>甲</li>"),
        ("- 甲\n  - 乙", "<li>甲\n<ul>\n<li>乙</li>"),
        ("1. 甲\n2. 乙", "<ol>\n<li>甲</li>"),
        ("> 引用", "<blockquote>"),
        ("| 甲 | 乙 |\n|---|---|\n| 1 | 2 |", "<td>1</td>"),
        ("[网](https://example.org/)", '<a href="https://example.org/"'),
        ("[网](https://example.org/a_(b_(c)))", '<a href="https://example.org/a_(b_(c))"'),
        ("[网](a(b(c(d(e)))))", "<p>[网](a(b(c(d(e)))))</p>"),
        ("`x < 1`", "<code>x &lt; 1</code>"),
        ("---", "<hr>"),
    ],
)
def test_what_people_write(text: str, html: str) -> None:
    assert html in markdown.render(text)

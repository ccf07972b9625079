"""Text of a model cannot become a link, a colour or a name in WeCom (reference/wecom.md O18)."""

from __future__ import annotations

import html
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wechat.outbound.neutralise import neutralise


@pytest.mark.parametrize(
    "text",
    [
        '<a href="http://evil.example">点我</a>',
        "<A HREF='x'>y</A>",
        "< a href=x>y</ a>",
        '<font color="warning">x</font>',
        "<@zhangyi>",
        "<a\nhref='x'>y</a >",
    ],
)
def test_live_tags_become_text(text: str) -> None:
    clean = neutralise(text)
    assert "<" not in clean
    assert clean.replace("＜", "<") == text


@pytest.mark.parametrize(
    "text",
    [
        "&lt;a href='x'&gt;y&lt;/a&gt;",
        "&LT;A HREF='x'>y",
        "&#60;font color='info'>",
        "&#0060a>",
        "&#x3C;@zhangyi>",
    ],
)
def test_a_tag_as_an_entity_is_no_tag_when_somebody_decodes_it(text: str) -> None:
    clean = neutralise(text)
    assert html.unescape(clean).replace("＜", "<") == html.unescape(text)
    assert "<" not in html.unescape(clean)


@pytest.mark.parametrize("text", ["$userName=zhangyi$", "$departmentName=1$", "a $userName = x$ b"])
def test_id_templates_become_text(text: str) -> None:
    assert "$userName" not in neutralise(text).replace("$departmentName", "$userName")


@pytest.mark.parametrize(
    "text", ["ALT <40 U/L", "<LOD", "3<5>2", "US$5 = 35元", "a\tb\nc", "P001: 5 < 7", "<5 mg", "🫡"]
)
def test_data_stay_as_they_are(text: str) -> None:
    assert neutralise(text) == text


def test_in_markdown_a_link_shows_its_address() -> None:
    assert (
        neutralise("[官网](http://evil.example/x)", markdown=True) == "官网 (http://evil.example/x)"
    )
    assert neutralise("[官网](x)") == "[官网](x)"


@pytest.mark.parametrize(
    "text",
    [
        "[官网](http://evil.example/a_(b))",
        '[官网](http://evil.example "title")',
        "[官网]( http://evil.example )",
        "[官[方]网](http://evil.example)",
        "[官\n网](http://evil.example)",
        "[![图](http://evil.example/a.png)](http://evil.example)",
        "[官网](<http://evil.example>)",
    ],
)
def test_no_spelling_of_a_link_stays_one(text: str) -> None:
    clean = neutralise(text, markdown=True)
    assert "](" not in clean
    assert "http://evil.example" in clean


def test_data_in_brackets_lose_nothing() -> None:
    text = "区间 [1, 2](含) 与 [a[b]](c)"
    assert re.sub(r"[\s\[\]]", "", neutralise(text, markdown=True)) == re.sub(r"[\s\[\]]", "", text)


def test_line_ends_are_made_one() -> None:
    assert neutralise("a\r\nb\rc") == "a\nb\nc"


@given(st.text(st.characters(exclude_categories=())))
def test_what_is_left_needs_no_json_escape(text: str) -> None:
    r"""Errcode 40033: no \uXXXX on the wire; a lone surrogate cannot be sent at all."""
    wire = json.dumps(neutralise(text), ensure_ascii=False).encode().decode()
    assert "\\u" not in wire.replace("\\\\", "")

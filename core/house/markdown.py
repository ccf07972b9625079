"""Markdown to safe HTML: raw HTML is off, what is left passes an explicit list (agents_memory.md 6).

The parser takes time in proportion to the text, and a text has a size.
"""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import nh3
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from markdown_it import MarkdownIt
from markdown_it.helpers import parseLinkDestination, parseLinkLabel, parseLinkTitle
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.blockquote import blockquote as markdown_quote
from markdown_it.rules_block.table import table as markdown_table
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.emphasis import tokenize

LONGEST = 50_000
TEXT = {"p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "strong", "em", "a"}
BLOCKS = {"code", "pre", "blockquote", "ul", "ol", "li"}
TABLES = {"table", "thead", "tbody", "tr", "th", "td"}


MOST_CELLS = 20_000
"""Of all tables of a text; from the one that comes to more, tables stay as they were typed."""
QUOTED_TIMES = 8
"""So often the quotes of a text may look at each of its lines on the average: more than a person nests them."""
_LEFT, _QUOTED = "cells left", "lines left"
MOST_BRACKETS = 3
"""One in another, as many as CommonMark asks for; markdown-it reads on for 32, again from each link."""
_SIGNS = r"\\[^ ]|[^\x00-\x20\x7f()\\]"
_ADDRESS = f"(?:{_SIGNS})*+"
for _depth in range(MOST_BRACKETS):
    _ADDRESS = rf"(?:{_SIGNS}|\({_ADDRESS}\))*+"
_BALANCED = re.compile(rf"(?!<){_ADDRESS}", re.DOTALL)
_WIDE = "\u2e80"
"""From here on Unicode has the scripts that put no spaces between words, and their punctuation."""
_QUOTES = "“”‘’…—"


class TextTooLong(ValueError):
    """More than is rendered at once."""

    def __init__(self) -> None:
        super().__init__(_("A text has at most %(most)d characters.") % {"most": LONGEST})


def check_length(text: str) -> None:
    """Raises TextTooLong."""
    if len(text) > LONGEST:
        raise TextTooLong


def render(text: str) -> str:
    """HTML of `text` without images, scripts or foreign schemes. Raises TextTooLong."""
    check_length(text)
    return nh3.clean(
        _PARSER.render(text),
        tags=TEXT | BLOCKS | TABLES,
        attributes={"a": {"href"}},
        url_schemes={"https", "http", "mailto"},
    )


def render_markdown(text: str) -> SafeString:
    """`text` rendered; as it was typed, with a word about it, where it is too long for that."""
    try:
        return mark_safe(render(text))  # noqa: S308 - nh3 has cleaned it
    except TextTooLong:
        told = _("This text has more than %(most)d characters and is shown as it was typed.")
        return format_html("<p>{}</p><pre>{}</pre>", told % {"most": LONGEST}, text)


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """markdown-it's rule, for as many cells as a text may have."""
    left = state.env.setdefault(_LEFT, MOST_CELLS)
    if left < 0 or not markdown_table(state, start, end, silent=True):
        return False
    if silent:
        return True
    state.env[_LEFT] = left = left - _cells(state, start, end, left)
    return left >= 0 and markdown_table(state, start, end, silent)


def _quote(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """markdown-it's rule, for as many lines as quotes may look at; further ones stay as they were typed.

    A quote looks at all lines up to the next blank one, and one that ends early leaves them to the next quote.
    """
    left = state.env.setdefault(_QUOTED, QUOTED_TIMES * state.lineMax)
    if left < 0:
        return False
    if not silent and markdown_quote(state, start, end, silent=True):
        last = next((line for line in range(start, end) if state.isEmpty(line)), end)
        state.env[_QUOTED] = left - (last - start)
    return markdown_quote(state, start, end, silent)


def _cells(state: StateBlock, start: int, end: int, enough: int) -> int:
    """How many cells the lines up to the next blank one may come to; counted no further than past `enough`."""
    columns = state.src.count("|", state.bMarks[start], state.eMarks[start]) + 1
    count = 0
    for line in range(start, end):
        if count > enough or state.isEmpty(line):
            break
        count += columns
    return count


def _destination(text: str, start: int, end: int) -> Any:
    """markdown-it's reading of an address; none where a bracket is not closed or stands too deep."""
    balanced = _BALANCED.match(text, start, end)
    if balanced and text.startswith("(", balanced.end(), end):
        return parseLinkDestination("", 0, 0)
    return parseLinkDestination(text, start, end)


def _emphasis(state: StateInline, silent: bool) -> bool:
    """markdown-it's rule; beside a Chinese sign `*` opens before and closes after whatever is no space."""
    start, first = state.pos, len(state.delimiters)
    if not tokenize(state, silent):
        return False
    before, after = state.src[max(start - 1, 0) : start], state.src[state.pos : state.pos + 1]
    if state.src[start] == "*" and (_is_wide(before) or _is_wide(after)):
        for delimiter in state.delimiters[first:]:
            delimiter.open = delimiter.open or bool(after.strip())
            delimiter.close = delimiter.close or bool(before.strip())
    return True


def _is_wide(sign: str) -> bool:
    return sign >= _WIDE or (bool(sign) and sign in _QUOTES)


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("table")
    parser.inline.ruler.at("emphasis", _emphasis)
    parser.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    parser.block.ruler.at(
        "blockquote", _quote, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
    parser.helpers = SimpleNamespace(  # type: ignore[assignment]
        parseLinkDestination=_destination,
        parseLinkLabel=parseLinkLabel,
        parseLinkTitle=parseLinkTitle,
    )
    # nh3 decides which addresses may stay, in one list.
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    return parser


_PARSER = _parser()

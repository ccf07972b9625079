"""Markdown to safe HTML: raw HTML is off, what is left passes an explicit list (agents_memory.md 6).

The parser takes time in proportion to the text, and a text has a size.
"""

from __future__ import annotations

import nh3
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from markdown_it import MarkdownIt

from house.markdown_emphasis import emphasis
from house.markdown_tables import table

LONGEST = 50_000
TEXT = {"p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "strong", "em", "a"}
BLOCKS = {"code", "pre", "blockquote", "ul", "ol", "li"}
TABLES = {"table", "thead", "tbody", "tr", "th", "td"}


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


def shown(text: str) -> SafeString:
    """`text` rendered; as it was typed, with a word about it, where it is too long for that."""
    try:
        return mark_safe(render(text))  # noqa: S308 - nh3 has cleaned it
    except TextTooLong:
        told = _("This text has more than %(most)d characters and is shown as it was typed.")
        return format_html("<p>{}</p><pre>{}</pre>", told % {"most": LONGEST}, text)


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("table")
    parser.inline.ruler.at("emphasis", emphasis)
    parser.block.ruler.at("table", table, {"alt": ["paragraph", "reference"]})
    # nh3 decides which addresses may stay, in one list.
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    return parser


_PARSER = _parser()

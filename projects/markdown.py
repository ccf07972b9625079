"""Markdown to safe HTML: raw HTML is off, what is left passes an explicit list (agents_memory.md 6)."""

from __future__ import annotations

import markdown
import nh3

TEXT = {"p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "strong", "em", "a"}
BLOCKS = {"code", "pre", "blockquote", "ul", "ol", "li"}
TABLES = {"table", "thead", "tbody", "tr", "th", "td"}


def render(text: str) -> str:
    """HTML of `text` without images, scripts or foreign schemes."""
    html = markdown.markdown(text, extensions=["tables", "sane_lists", "nl2br"])
    return nh3.clean(
        html,
        tags=TEXT | BLOCKS | TABLES,
        attributes={"a": {"href"}},
        url_schemes={"https", "http", "mailto"},
    )

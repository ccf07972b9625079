"""Markdown texts in the console."""

from __future__ import annotations

from django.utils.html import format_html
from django.utils.safestring import SafeString

from house import markdown


def rendered(text: str) -> SafeString:
    """`text` as safe HTML in the console's own type."""
    return format_html('<div class="iit-prose">{}</div>', markdown.shown(text))

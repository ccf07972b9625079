"""The Markdown editor of the console: text on the left, what it will look like on the right."""

from __future__ import annotations

from markdownx.widgets import MarkdownxWidget


class MarkdownWidget(MarkdownxWidget):
    """django-markdownx's widget in the console's own frame (django_style.md 2, problem 1)."""

    template_name = "memory/markdown_widget.html"

    class Media:
        css = {"all": ("iit/markdown.css",)}

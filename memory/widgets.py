"""The Markdown editor of the console: text on the left, what it will look like on the right."""

from __future__ import annotations

from typing import Any

from django.forms import Media
from django.urls import reverse
from markdownx.widgets import MarkdownxWidget
from unfold.widgets import TEXTAREA_CLASSES

from memory.hot.meter import gauges


class MarkdownWidget(MarkdownxWidget):  # type: ignore[misc]
    """django-markdownx's widget in the console's own frame (django_style.md 2, problem 1).

    Its script also uploads images; ours only asks for the preview.
    """

    template_name = "memory/markdown_widget.html"

    @property
    def media(self) -> Media:
        """Our script instead of the package's."""
        return Media(js=["iit/markdown.js"])

    def get_context(
        self, name: str, value: Any, attrs: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """The editor's attributes and the address of the preview."""
        classes = " ".join([*TEXTAREA_CLASSES, "iit-code"])
        own = {
            **(attrs or {}),
            "class": classes,
            "rows": 26,
            "data-preview": reverse("markdown_preview"),
        }
        context: dict[str, Any] = super().get_context(name, value, own)
        return context


class MeteredWidget(MarkdownWidget):
    """The editor of hot memory: with what it holds of what it may hold, counted as one types."""

    def get_context(
        self, name: str, value: Any, attrs: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """With the count of what stands there, and the address that counts what is written."""
        address = reverse("hot_memory_meter")
        context = super().get_context(name, value, {**(attrs or {}), "data-meter": address})
        context["widget"] |= {"meter": True, "gauges": gauges(value or "")}
        return context

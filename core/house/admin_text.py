"""Markdown texts and codes in the console."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.utils.html import format_html
from django.utils.safestring import SafeString

from core.house import markdown


def rendered(text: str) -> SafeString:
    """`text` as safe HTML in the console's own type."""
    return format_html('<div class="iit-prose">{}</div>', markdown.render_markdown(text))


def coded(model: type[Model], name: str) -> Callable[[Any], SafeString | str]:
    """A column whose values are names of REDCap, of a graph or of a program: shown as code, "-" where blank."""

    @admin.display(description=model._meta.get_field(name).verbose_name, ordering=name)  # type: ignore[union-attr]
    def show(obj: Any) -> SafeString | str:
        value = getattr(obj, name)
        return format_html('<span class="iit-code-word">{}</span>', value) if value else "-"

    return show

"""The reader's studies, for the switcher above the menu."""

from __future__ import annotations

from typing import Any

from django import template

from projects import switcher

register = template.Library()


@register.simple_tag(takes_context=True)
def studies(context: dict[str, Any]) -> dict[str, Any] | None:
    """{"all", "chosen", "is_many"}; None for a reader of one study or none, who has nothing to choose."""
    request = context.get("request")
    if request is None or not switcher.has_several(request.user):
        return None
    return {
        "all": switcher.studies(request.user),
        "chosen": switcher.chosen(request),
        "is_many": switcher.has_many(request.user),
    }

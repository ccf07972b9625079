"""What of a page a new protocol version touches and nobody has checked, for its top."""

from __future__ import annotations

from typing import Any

from django import template

from projects import switcher
from projects.models import Project
from study import registry

register = template.Library()


@register.inclusion_tag("study/flagged.html", takes_context=True)
def flagged(context: dict[str, Any]) -> dict[str, Any]:
    """Flags of the workflow, planned visit or study of the page; of a list of visits those of its studies."""
    row, request = context.get("original"), context["request"]
    if row is None:
        turned_to = switcher.chosen(request)
        projects = [turned_to] if turned_to else switcher.studies(request.user)
    else:
        projects = [row if isinstance(row, Project) else row.project]
    return {"flags": registry.flags(projects, row)}

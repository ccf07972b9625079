"""Whether a study's model cites the lines it is given: else it is answered over (design.md 5a.5)."""

from __future__ import annotations

from engines.assistant.told import in_trace
from engines.models import AgentTrace
from projects.models import Project

LOOKED_AT, LEAST = 20, 5
"""The newest answers that are looked at; of fewer worded ones nothing is said."""


def never_cites(project: Project) -> bool:
    """Whether no span of the model's last answers had a line behind it; False where it said too few to tell."""
    newest = AgentTrace.objects.filter(project=project).order_by("-created_at")[:LOOKED_AT]
    worded = [answered.spans for row in newest for answered in in_trace(row)]
    return len(worded) >= LEAST and not any(span["lines"] for spans in worded for span in spans)

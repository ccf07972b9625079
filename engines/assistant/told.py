"""What a model said, span by span with the lines behind it, as the traces keep it (design.md 5a.5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from engines.models import AgentTrace
from projects.models import Project

_APART = timedelta(minutes=10)
"""How far an answer and the trace of the message that it belongs to may be apart."""


@dataclass(frozen=True)
class Answered:
    """One try of a model: spans with `text`, `lines`, `refused_by` and `reason`."""

    spans: list[dict[str, Any]]

    @property
    def is_refused(self) -> bool:
        """Whether a rule refused a span, so that it did not go out."""
        return any(span["refused_by"] for span in self.spans)

    @property
    def text(self) -> str:
        """The whole of it."""
        return "".join(span["text"] for span in self.spans)


def in_trace(trace: AgentTrace) -> Iterator[Answered]:
    """What the model said for one message, in order."""
    for item in trace.trace or ():
        spans = [span for span in item.get("spans", ()) if span["text"].strip()]
        if spans:
            yield Answered(spans)


def behind(text: str, *, userid: str, project: Project | None, at: datetime) -> list[Answered]:
    """The words of a model that stand in an answer; none where they hold what the trace may not."""
    if project is None:
        return []
    near = AgentTrace.objects.filter(
        project=project, user_id__iexact=userid, created_at__range=(at - _APART, at + _APART)
    )
    told = (one for trace in near for one in in_trace(trace))
    plain = "".join(text.split())
    return [one for one in told if not one.is_refused and "".join(one.text.split()) in plain]

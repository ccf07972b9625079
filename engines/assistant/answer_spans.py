"""What was told, sentence by sentence with the lines behind it, as the traces keep it (design.md 5a.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from engines.models import AgentTrace
from projects.models import Project

_APART = timedelta(minutes=10)
"""How far an answer and the trace of the message that it belongs to may be apart."""
_HEAD = 12


@dataclass(frozen=True)
class ToldAnswer:
    """One answer: spans with `text` and `lines`."""

    spans: list[dict[str, Any]]

    def stands_in(self, plain: str) -> bool:
        """Whether some sentence of it begins in a text without white space: fitted answers are shorter."""
        heads = ("".join(str(span["text"]).split())[:_HEAD] for span in self.spans)
        return any(head and head in plain for head in heads)


def spans_in_trace(trace: AgentTrace) -> Iterator[ToldAnswer]:
    """What was told for one message, in order."""
    for item in trace.trace or ():
        spans = [span for span in item.get("spans", ()) if span["text"].strip()]
        if spans:
            yield ToldAnswer(spans)


def spans_behind(
    text: str, *, userid: str, project: Project | None, at: datetime
) -> list[ToldAnswer]:
    """The sentences of an answer with what they rest on."""
    if project is None:
        return []
    near = AgentTrace.objects.filter(
        project=project, user_id__iexact=userid, created_at__range=(at - _APART, at + _APART)
    )
    told = (one for trace in near for one in spans_in_trace(trace))
    plain = "".join(text.split())
    return [one for one in told if one.stands_in(plain)]

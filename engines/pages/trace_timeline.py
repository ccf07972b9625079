"""A trace as a timeline: what was done for one message step by step, and what each call of a model took."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from core.house.stored_labels import name
from core.llm.labels import PURPOSES
from core.llm.models import LlmUsage
from engines import labels
from engines.assistant.answer_spans import ToldAnswer
from engines.models import AgentTrace
from engines.models.traces import OPEN

# Calls are stored in the transaction of their trace.
_TOGETHER = timedelta(seconds=1)
STEPS: dict[str, Promise] = {
    "ask": _("understood as"),
    "say": _("told"),
    "study.query": _("asked the data"),
    "query refused": _("the query was refused"),
    "model off": _("no model was asked"),
    "token cap": _("the day's tokens were used up"),
    "llm": _("the model failed"),
    "privacy": _("held back by the privacy gate"),
    OPEN: _("not understood"),
    "failed": _("failed"),
}


def steps(trace: AgentTrace) -> list[dict[str, Any]]:
    """The steps in order: what, with what, what came of it, its tokens and time, the spans of an answer."""
    items = trace.trace if isinstance(trace.trace, list) else []
    return [_step(item) for item in items if isinstance(item, Mapping)]


def _step(item: Mapping[str, Any]) -> dict[str, Any]:
    thought = str(item.get("thought", ""))
    spans = [span for span in item.get("spans", ()) if span["text"].strip()]
    more = item.get("action_input")
    return {
        "what": STEPS.get(thought) or labels.name(labels.INTENTS, thought) or thought or "-",
        "action": str(item.get("action") or ""),
        "input": "" if more is None else str(more),
        "observation": str(item.get("observation", "")),
        "tokens": item.get("tokens"),
        "duration": item.get("duration"),
        "answers": [ToldAnswer(spans)] if spans else [],
    }


def calls(trace: AgentTrace) -> list[dict[str, Any]]:
    """Each call of a model for this message: for what, which model and prompt, tokens and time."""
    rows = LlmUsage.objects.filter(
        project=trace.project_id,
        user_id=trace.user_id,
        at__range=(trace.created_at - _TOGETHER, trace.created_at + _TOGETHER),
    )
    return [
        {"row": row, "purpose": name(PURPOSES, row.purpose)} for row in rows.order_by("at", "pk")
    ]

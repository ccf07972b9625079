"""An acceptance as `manage.py accept_model` leaves it, for tests of what follows from it."""

from __future__ import annotations

from typing import Any

from django.utils.timezone import now

from core.llm import acceptance
from core.llm.models import ModelAcceptance
from projects.models import Project


def accepted(project: Project, **more: Any) -> ModelAcceptance:
    """A run that was passed by today's models; not signed."""
    endpoints = acceptance.endpoints_of(project)
    case = {"id": "A01", "text": "P003的ECOG评分是几分"}
    found: dict[str, Any] = {
        "fingerprint": acceptance.fingerprint(endpoints),
        "endpoints": endpoints,
        "prompts": acceptance.versions(),
        "cases": [case | {"verdicts": ["passed"] * 3, "replies": ["P003 ECOG评分:1"] * 3}],
        **{"total": 1, "passed": 1, "wrong": 0, "least": 0.92, "most_wrong": 0},
        **{"started_at": now(), "ended_at": now(), "by": "admin"},
    }
    return acceptance.keep(ModelAcceptance(project=project, **(found | more)), "admin")

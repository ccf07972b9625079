"""What a study's models may be asked, as `manage.py llm_check` found it; an endpoint never checked may all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.integrations.llm import Mode
from core.llm.models import LlmCheck
from projects.endpoints import Purpose
from projects.models import Project

MET = 8
"""So many of ten probes, and the house relies on an ability."""
ASK, SAY = "ask", "say"
MODEL_OF: Mapping[str, Purpose] = {ASK: Purpose.SMALL, SAY: Purpose.CHAT}
"""Which of the study's models each ability is asked of."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Of one endpoint: the structured mode that works, and how many of ten probes each ability met."""

    mode: Mode | None = None
    found: Mapping[str, int] = field(default_factory=dict)

    def may(self, ability: str) -> bool:
        """Whether the house relies on it."""
        return self.found.get(ability, MET) >= MET


UNKNOWN = Standing()


def findings_of(project: Project) -> dict[tuple[str, str], Standing]:
    """(purpose, endpoint) → what was found; of another model or address nothing is known."""
    rows = LlmCheck.objects.filter(project_id=project.pk)
    return {(row.model_purpose, row.endpoint): Standing(_mode(row.mode), row.found) for row in rows}


def _mode(stored: str) -> Mode | None:
    """None also for what a later version may have stored: it is found out again."""
    return Mode(stored) if stored in {*Mode} else None


def off(project: Project) -> dict[str, int]:
    """Abilities that are switched off for a study → how many of ten they met, for the console."""
    rows = LlmCheck.objects.filter(project_id=project.pk)
    found = {
        (row.model_purpose, ability): met for row in rows for ability, met in row.found.items()
    }
    told = {ability: found.get((purpose, ability), MET) for ability, purpose in MODEL_OF.items()}
    return {ability: met for ability, met in told.items() if met < MET}


def keep(
    project: Project,
    purpose: Purpose,
    endpoint: str,
    mode: Mode | None,
    found: Mapping[str, int],
    prompts: str,
) -> None:
    """Store what was found; the newest replaces what was."""
    LlmCheck.objects.update_or_create(
        project=project,
        model_purpose=purpose,
        defaults={
            "endpoint": endpoint,
            "mode": mode or "",
            "found": dict(found),
            "prompts": prompts[:255],
        },
    )

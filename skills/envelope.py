"""Skills as seed 002 prints them, `{"skillType", "name", "triggerType", "cronSchedule", "config"}`, and back.

The names of our columns are read too; what is neither is refused by its name.
"""

from __future__ import annotations

import json
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, Field
from pydantic import ValidationError as Misshapen
from pydantic.alias_generators import to_camel

from house.db import atomic
from projects.models import Project
from skills.models import Skill
from skills.services import save_skill

MOST_SIGNS = 2_000_000
MOST = 50


class Envelope(BaseModel):
    """One skill of an import. What the database counts (id, version, times, project) is read past."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", strict=True
    )

    skill_type: str = Field(min_length=1)
    name: str = Field(min_length=1)
    config: dict[str, Any]
    trigger_type: str = Skill.Trigger.WEBHOOK
    cron_schedule: str | None = None
    is_active: bool = True
    id: Any = Field(None, exclude=True)
    project: Any = Field(None, exclude=True)
    project_id: Any = Field(None, exclude=True)
    version: Any = Field(None, exclude=True)
    created_at: Any = Field(None, exclude=True)
    updated_at: Any = Field(None, exclude=True)


def envelope(skill: Skill) -> dict[str, Any]:
    """A skill as the seed prints one; `take` reads it again."""
    names = ("skill_type", "name", "trigger_type", "cron_schedule", "config", "is_active")
    return Envelope(**{name: getattr(skill, name) for name in names}).model_dump(by_alias=True)


def take(*, project: Project, text: str, actor: object) -> list[Skill]:
    """Store every skill of a JSON text, one or a list: new, or as the next version of the one of its type.

    All of them or none. Raises ValidationError that says which skill, where and why.
    """
    return take_all(project=project, given=decoded(text), actor=actor)


def take_all(*, project: Project, given: object, actor: object) -> list[Skill]:
    """`take` for what was decoded already."""
    rows = given if isinstance(given, list) else [given]
    if not 0 < len(rows) <= MOST:
        raise ValidationError(_("From 1 to %d skills can be imported at once.") % MOST)
    with atomic():
        return [_store(project, _read(row, at), actor) for at, row in enumerate(rows, 1)]


def decoded(text: str) -> object:
    """What a text says as JSON. Raises ValidationError with the line that is none."""
    if len(text) > MOST_SIGNS:
        raise ValidationError(_("The text is too long."))
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        raise ValidationError(_("This is no JSON: line %d.") % line) from None


def _read(row: object, at: int) -> Envelope:
    try:
        return Envelope.model_validate(row)
    except Misshapen as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "-"
        told = _SAID.get(first["type"])
        said = told() if told else _("This is not what a skill has here.")
        raise ValidationError(
            _("Skill %(at)d, %(where)s: %(said)s") % {"at": at, "where": where, "said": said}
        ) from None


_SAID = {
    "missing": lambda: _("This is missing."),
    "extra_forbidden": lambda: _("A skill has no such entry."),
    "string_too_short": lambda: _("This is missing."),
}


def _store(project: Project, given: Envelope, actor: object) -> Skill:
    stored = Skill.objects.select_related("project").filter(
        project=project, skill_type=given.skill_type
    )
    skill = stored.first() or Skill(project=project)
    for name, value in given.model_dump().items():
        setattr(skill, name, value)
    try:
        return save_skill(skill=skill, actor=actor)
    except ValidationError as error:
        texts = [text for texts in error.message_dict.values() for text in texts]
        raise ValidationError([f"{given.skill_type}: {text}" for text in texts]) from None

"""Skills as seed 002 prints them, `{"skillType", "name", "triggerType", "cronSchedule", "config"}`, and back.

The names of our columns are read too; what is neither is refused by its name.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import BaseModel, ConfigDict, Field
from pydantic import ValidationError as Misshapen
from pydantic.alias_generators import to_camel

from core.house.admin_json import UnfitJsonError, strict_loads
from core.house.db import atomic
from projects.models import Project
from skills.models import Skill
from skills.services import save_skill
from skills.wording import error_text

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


def exported(skill: Skill) -> dict[str, Any]:
    """A skill as the seed prints one; `import_text` reads it again."""
    names = ("skill_type", "name", "trigger_type", "cron_schedule", "config", "is_active")
    return Envelope(**{name: getattr(skill, name) for name in names}).model_dump(by_alias=True)


def import_text(*, project: Project, text: str, actor: object) -> list[Skill]:
    """`import_rows` of a JSON text, one skill or a list."""
    return import_rows(project=project, given=parse_json(text), actor=actor)


def import_rows(*, project: Project, given: object, actor: object) -> list[Skill]:
    """Store every skill, one or a list: new, or as the next version of the one of its type.

    All of them or none. Raises ValidationError that says which skill, where and why.
    """
    rows = given if isinstance(given, list) else [given]
    if not 0 < len(rows) <= MOST:
        raise ValidationError(_("From 1 to %d skills can be imported at once.") % MOST)
    given_rows = [_read(row, at) for at, row in enumerate(rows, 1)]
    types = [one.skill_type for one in given_rows]
    if doubled := next((one for one in types if types.count(one) > 1), None):
        raise ValidationError(_("%s: two skills of this type were given.") % doubled)
    with atomic():
        return [_store(project, one, actor) for one in given_rows]


def parse_json(text: str) -> object:
    """What a text says as JSON. Raises ValidationError with the line that is none."""
    if len(text) > MOST_SIGNS:
        raise ValidationError(_("The text is too long."))
    try:
        return strict_loads(text)
    except UnfitJsonError as error:
        raise ValidationError(str(error)) from None
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        raise ValidationError(_("This is no JSON: line %d.") % line) from None


def _read(row: object, at: int) -> Envelope:
    try:
        return Envelope.model_validate(row)
    except Misshapen as error:
        first = error.errors()[0]
        values = {"at": at, "where": ".".join(map(str, first["loc"])) or "-"}
        values["said"] = error_text(first)
        raise ValidationError(_("Skill %(at)d, %(where)s: %(said)s") % values) from None


def _store(project: Project, given: Envelope, actor: object) -> Skill:
    stored = Skill.objects.select_related("project").filter(
        project=project, skill_type=given.skill_type
    )
    skill = stored.first()
    # What a text leaves out stays as it is; a new skill takes what is usual.
    said = given.model_dump(exclude_unset=skill is not None)
    skill = skill or Skill(project=project)
    for name, value in said.items():
        setattr(skill, name, value)
    try:
        return save_skill(skill=skill, actor=actor)
    except ValidationError as error:
        texts = [text for texts in error.message_dict.values() for text in texts]
        raise ValidationError([f"{given.skill_type}: {text}" for text in texts]) from None


# --- skills that fit any study, ready to be taken over (seed 002, 2.1; issue 17) ------------------

_STANDARD = Path(__file__).with_name("standard.v1.json")


@dataclass(frozen=True)
class StandardSkill:
    """One of `standard.v1.json` by its name there."""

    name: str
    title: Promise
    about: Promise


STANDARD = (
    StandardSkill(
        "qc_process",
        gettext_lazy("Standard checks"),
        gettext_lazy(
            "Required fields, ranges, types, choices and visits of one subject; nothing is asked of a model."
        ),
    ),
    StandardSkill(
        "qc_process_example",
        gettext_lazy("Enrolment checks of the design, as an example"),
        gettext_lazy(
            "Age, ECOG, history and medication; it names the fields age and ecog: "
            "map them first, then adapt it."
        ),
    ),
    StandardSkill(
        "visit_reminder",
        gettext_lazy("Daily visit reminder"),
        gettext_lazy(
            "Visits of the next 3 days, to the CRCs of their sites at 9:00; no model is needed."
        ),
    ),
    StandardSkill(
        "daily_briefing",
        gettext_lazy("Daily briefing"),
        gettext_lazy("Enrolment, visits, new findings and waiting reviews, to everybody at 8:30."),
    ),
    StandardSkill(
        "weekly_report",
        gettext_lazy("Weekly report"),
        gettext_lazy("The report of the week before, to PI and administrators on Mondays at 9:00."),
    ),
    StandardSkill(
        "visit_reminder_llm",
        gettext_lazy("Visit reminder worded by the model"),
        gettext_lazy(
            "The reminder as the design prints it: the model reads what is due and words the message."
        ),
    ),
)


def standard_rows(names: Collection[str]) -> list[dict[str, Any]]:
    """The skills of these names as `import_rows` takes them; raises KeyError for another."""
    stored = json.loads(_STANDARD.read_text("utf-8"))
    return [stored[name] for name in names]


TITLES = {one.name: one.title for one in STANDARD}


def started(name: str, taken: Collection[str]) -> dict[str, Any]:
    """What a new workflow opens with: the standard skill of this name, of a type that is not `taken`."""
    return _fresh(Envelope.model_validate(standard_rows([name])[0]), taken)


def copied(skill: Skill, taken: Collection[str]) -> dict[str, Any]:
    """The same of another workflow."""
    given = Envelope.model_validate(exported(skill))
    given.name = _("%s (copy)") % given.name
    return _fresh(given, taken)


def _fresh(given: Envelope, taken: Collection[str]) -> dict[str, Any]:
    kind, number = given.skill_type, 2
    while given.skill_type in taken:
        given.skill_type = f"{kind.partition(':')[0]}:{number}"
        number += 1
    return given.model_dump()

"""The skill of type `general_chat`: how the assistant of a study talks (seed 002, 2.1, its skill types).

The seed names the type and shows no configuration; decided here: a text that every prompt of the chat carries
after the house's own rules, and switches of what goes into it. A graph under this type stays a workflow.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated

from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictStr, ValidationError

from projects.models import Project
from skills.models import Skill
from skills.validation import Problem

TYPE = "general_chat"
LONGEST = 2000


class Switches(BaseModel):
    """What the chat uses; everything where the skill says nothing.

    `model`: off, answers are the data alone; `hot_memory`, `own_memory` and `session`: what prompts may hold
    beside the data; `ask_intent`: the small model is asked what an unclear message wants;
    `notes`: a few words of the model may stand under what is quoted.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: StrictBool = True
    hot_memory: StrictBool = True
    own_memory: StrictBool = True
    session: StrictBool = True
    ask_intent: StrictBool = True
    notes: StrictBool = False


class ChatSkill(BaseModel):
    """The configuration; `version` is that of the skill, 0 where a study has none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: StrictStr = ""
    system_prompt: Annotated[StrictStr, Field(max_length=LONGEST)] = ""
    switches: Switches = Switches()

    _version: int = 0

    @property
    def version(self) -> str:
        """What traces call it; blank where it adds no text."""
        return f"{TYPE}.{self._version}" if self.system_prompt else ""


def is_chat(skill: Skill) -> bool:
    """Whether the skill shapes the chat and is no workflow."""
    return skill.skill_type == TYPE and not _is_graph(skill.config)


def active_chat_skill(project: Project) -> ChatSkill:
    """The study's active chat skill; one that changes nothing where there is none."""
    skill = Skill.objects.filter(project=project, skill_type=TYPE, is_active=True).first()
    if skill is None or not is_chat(skill):
        return ChatSkill()
    found = ChatSkill.model_validate(skill.config)
    found._version = skill.version
    return found


def problems(config: object) -> Iterator[Problem]:
    """What keeps a configuration from being a chat skill's."""
    if not isinstance(config, dict):
        yield Problem("", _("This must be a JSON object."))
        return
    try:
        ChatSkill.model_validate(json.loads(json.dumps(config)))
    except ValidationError as error:
        for one in error.errors():
            path = ".".join(map(str, one["loc"]))
            yield Problem(path, _told(one["type"]))
    except (TypeError, ValueError, RecursionError):
        yield Problem("", _("The configuration is nested too deeply or is not JSON."))


def _told(kind: str) -> str:
    if kind == "extra_forbidden":
        allowed = ", ".join([*ChatSkill.model_fields, *Switches.model_fields])
        return _("A chat skill has these keys: %(keys)s.") % {"keys": allowed}
    if kind == "string_too_long":
        return _("This text has room for %(count)d characters.") % {"count": LONGEST}
    return _("This is of the wrong type: texts, and true or false for switches.")


def _is_graph(config: object) -> bool:
    return isinstance(config, dict) and bool({"nodes", "start_node"} & config.keys())

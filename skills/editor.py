"""The workflow editor of the console: what is wrong, at which line, and the workflow as a drawing.

It asks `skills.validation` as every save does; nothing is stored here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from django.contrib.admin.utils import label_for_field
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.views.decorators.http import require_GET, require_POST

from core.house.admin_json import PrettyJsonField, pretty
from projects.models import Project
from skills import chat, places, services
from skills.changes import changes
from skills.drawing import draw
from skills.graph import KINDS, schema
from skills.models import Skill
from skills.validation import Problem, validate
from study.blinding.mask import mask_of_user

MOST_SIGNS = 1_000_000
STARTS = ("skill_type", "trigger_type", "cron_schedule")
"""Columns that say what starts a skill; what its configuration must hold depends on them."""
CHAT_KEYS = {"system_prompt", "switches"}


def check_panel(
    written: Skill, skill: Skill | None, *, is_edited: bool, is_blinded: bool = False
) -> SafeString:
    """Problems and drawing of `written`, a row to be; what it changes of what `skill` runs, for editors."""
    shown = _of(written, pretty(written.config), skill if is_edited else None, is_blinded)
    return render_to_string("skills/check.html", shown | {"is_edited": is_edited})


@require_POST
def check_view(
    request: HttpRequest, projects: QuerySet[Project], skill: Skill | None
) -> HttpResponse:
    """The same for a text that is being written with what is to start it (`STARTS`), for one of `projects`.

    No project: a new skill.
    """
    project = None
    if key := request.POST.get("project"):
        project = find_project(projects, key)
    text = request.POST.get("config", "")[:MOST_SIGNS]
    try:
        config = PrettyJsonField(required=False).clean(text)
    except ValidationError as error:
        problems = [{"problem": Problem("", message), "line": 0} for message in error.messages]
        return render(request, "skills/check.html", {"problems": problems})
    is_blinded = bool(skill and mask_of_user(skill.project, request.user).hidden())
    starts = {name: request.POST[name] for name in STARTS if name in request.POST}
    written = Skill(project=project, config=config, **starts)
    shown = _of(written, text, skill, is_blinded)
    return render(request, "skills/check.html", shown | {"is_edited": True})


@require_GET
def schema_view(request: HttpRequest) -> HttpResponse:
    """The JSON Schema of a configuration, for other editors."""
    return JsonResponse(schema(), content_type="application/schema+json")


def kinds() -> list[dict[str, Any]]:
    """What each type of node takes: `needed` and `optional` names."""
    return [
        {
            "name": name,
            "label": kind.label,
            "needed": kind.needs,
            "optional": kind.names[len(kind.needs) :],
        }
        for name, kind in KINDS.items()
    ]


def find_project(projects: QuerySet[Project], key: str) -> Project:
    """The one of `projects` with this primary key. Raises PermissionDenied."""
    try:
        project = projects.filter(pk=key).first()
    except ValidationError as error:
        raise PermissionDenied from error
    if project is None:
        raise PermissionDenied
    return project


def _problems(written: Skill) -> Iterator[Problem]:
    """What a save would refuse of a workflow, or a chat skill where its keys stand there, and its start."""
    config, project = written.config, written.project if written.project_id else None
    is_chat = isinstance(config, dict) and bool(CHAT_KEYS & config.keys())
    yield from chat.problems(config) if is_chat else validate(config, project)
    for column, one in services.trigger_problems(written):
        name = "" if column == "config" else f"{label_for_field(column, Skill)}: "
        yield replace(one, message=f"{name}{one.message}")


def _of(written: Skill, text: str, skill: Skill | None, is_blinded: bool) -> dict[str, Any]:
    config = written.config
    found = [*_problems(written)]
    lines = places.lines_of_paths(text)
    rows = [{"problem": each, "line": places.line_of(lines, each.path)} for each in found]
    bad = {each.node for each in found if not each.is_warning}
    is_sound = all(each.is_warning for each in found)
    return {
        "problems": rows,
        "drawing": draw(config, bad),
        "is_checked": True,
        "skill": skill,
        "is_sound": is_sound,
        "changes": changes(skill.config, config, skill.project, is_blinded=is_blinded)
        if skill and is_sound
        else [],
    }

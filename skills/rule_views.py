"""The rule builder's two addresses: what it may offer for a study, and a rule told back. Nothing is stored."""

from __future__ import annotations

import json
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, JsonResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from core.rules.limits import MAX_BYTES
from projects.models import Project
from skills.editor import find_project
from skills.rule_offer import rule_choices, texts
from skills.rule_told import told
from study import dictionary
from study.blinding.mask import mask_of_user, names_blinded


@require_POST
def offer_view(request: HttpRequest, projects: QuerySet[Project]) -> JsonResponse:
    """JSON {"project"} -> the builder's offer for one of `projects`; only its words without a study."""
    given = _body(request)
    if not isinstance(given, dict) or not given.get("project"):
        return JsonResponse({"texts": texts()})
    project = find_project(projects, str(given["project"]))
    return JsonResponse(rule_choices(project) or {"texts": texts(), "unread": True})


@require_POST
def rule_view(request: HttpRequest, projects: QuerySet[Project]) -> JsonResponse:
    """JSON {"project", "rule"} -> words, problems and examples; {"problem"} and 400 where that cannot be."""
    given = _body(request)
    if not isinstance(given, dict) or not isinstance(given.get("rule"), dict):
        return _refused(_("This is not a rule: an object with “field”, “logic” and “message”."))
    project = find_project(projects, str(given.get("project") or ""))
    rule = {"field": "", "logic": None, **given["rule"]}
    if not isinstance(rule["field"], str):
        return _refused(_("The field of a rule is a text."))
    if not dictionary.stored(project):
        return _refused(_("The dictionary of the study was not read yet: no examples."))
    if mask_of_user(project, request.user).hidden() and names_blinded(project, rule):
        return _refused(
            _("The rule reads a field that unblinds: it is told to the unblinded only.")
        )
    return JsonResponse(told(project, rule))


def _body(request: HttpRequest) -> Any:
    try:
        return json.loads(request.body[: 2 * MAX_BYTES])
    except (ValueError, RecursionError):
        return None


def _refused(problem: str) -> JsonResponse:
    return JsonResponse({"problem": problem}, status=400)

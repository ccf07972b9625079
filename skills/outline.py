"""What the graph editor of the console draws its forms from: the schema of a workflow and the words for it."""

from __future__ import annotations

import json
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from projects.models import Project
from skills.drawing import ENDS, NAMES
from skills.graph import DEFAULT_TARGETS, KINDS, schema
from study import dictionary
from study.blinding.mask import mask_for_all
from study.models import Dictionary

LABELS: dict[str, Promise] = {
    "description": _("Description or question"),
    "rules": _("Rules"),
    "checks": _("Standard checks"),
    "instruction": _("Instruction"),
    "tools": _("Tools"),
    "threshold": _("Least confidence"),
    "severity": _("Severity"),
    "same_as": _("Same as the standard check"),
    "section": _("Section of the protocol"),
    "approve_label": _("Words for approving"),
    "reject_label": _("Words for rejecting"),
    "retry": _("Attempts after a fault"),
    "reviewers": _("Reviewers"),
    "on_timeout": _("When nobody answers"),
    "content": _("Content"),
    "roles": _("Recipients"),
    "days": _("Days ahead"),
    "when_empty": _("When there is nothing to say"),
    "field": _("Field"),
    "logic": _("Condition that must hold"),
    "message": _("Words of the finding"),
    "id": _("Name of the rule"),
    "times": _("Times"),
    "wait_s": _("Seconds between"),
    "remind_hours": _("Hours until a reminder"),
    "escalate_hours": _("Hours until the administrators are told"),
}
TEXTS: dict[str, Promise] = {
    "start": _("Start"),
    "key": _("Name of the node"),
    "make_start": _("Start here"),
    "remove": _("Remove"),
    "edit": _("Edit"),
    "add": _("Add"),
    "pick": _("Choose in the drawing"),
    "picking": _("Choose the node that “%s” leads to."),
    "default": _("default"),
    "none": _("Choose a node in the drawing or in the list to edit it."),
    "broken": _("The text is not a workflow: mend it below, or undo."),
    "json": _("Not JSON yet: this is not taken over."),
    "build": _("Take over as the condition"),
    "operator": _("Operator"),
    "value": _("Value"),
}


def outline() -> str:
    """Schema, types of nodes, edges, ends and words of the editor, as JSON."""
    kinds = {
        name: {
            "label": str(kind.label),
            "names": [one for one in kind.names if one not in kind.edges],
            "needs": kind.needs,
            "edges": kind.edges,
        }
        for name, kind in KINDS.items()
    }
    told: dict[str, Any] = {
        "schema": schema(),
        "kinds": kinds,
        "defaults": DEFAULT_TARGETS,
        "edges": _words(NAMES),
        "ends": _words({key: name for key, name in ENDS.items() if key != "cancelled"}),
        "labels": _words(LABELS),
        "texts": _words(TEXTS),
    }
    return json.dumps(told, ensure_ascii=False)


def fields(project: Project | None) -> list[tuple[str, str]]:
    """(name, label) of the fields of the study's dictionary; empty where it was never read.

    Without those that unblind: who may know them types their names.
    """
    if project is None:
        return []
    if not Dictionary.objects.filter(project=project).exclude(digest="").exists():
        return []
    metadata = dictionary.load(project)
    hidden = mask_for_all(project).hidden()
    return [(name, metadata.label(name)) for name in metadata.fields if name not in hidden]


def _words(words: dict[str, Promise]) -> dict[str, str]:
    return {name: str(word) for name, word in words.items()}

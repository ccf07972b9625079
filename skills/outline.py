"""What the graph editor of the console draws its forms from: the schema of a workflow and the words for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from projects.models import Role
from skills.drawing import ENDS, NAMES
from skills.graph import CHECKS, DEFAULT_TARGETS, KINDS, schema
from skills.validation import tool_names

LABELS: dict[str, Promise] = {
    "description": _("Description or question"),
    "rules": _("Rules"),
    "checks": _("Standard checks"),
    "instruction": _("Instruction"),
    "tools": _("Tools"),
    "threshold": _("Least confidence"),
    "severity": _("Severity"),
    "same_as": _("Same as the standard check"),
    "section": _("Section of the protocol: 4.1, and 3 for the third chapter"),
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
    "type": _("Type"),
    "name": _("Name"),
    "start_node": _("Start"),
    "match": _("Words that an order names it by"),
    "event": _("Event that starts it"),
    "event_form": _("Form that the event is about"),
    "event_field": _("Field that the event is about"),
    "max_steps": _("Most steps of a run"),
    "catch_up": _("Times that were missed"),
    "urgent": _("Urgent"),
    "times": _("Times"),
    "wait_s": _("Seconds between"),
    "remind_hours": _("Hours until a reminder"),
    "escalate_hours": _("Hours until the administrators are told"),
    "hours": _("Hours allowed"),
    "lab_ae.times": _("times the upper limit"),
    "lab_ae.days": _("days around"),
    "lab_ae.start": _("Field of the day an adverse event began"),
    "lab_ae.end": _("Field of the day an adverse event ended"),
    "lab_ae.term": _("Field that names an adverse event"),
    "lab_ae.words": _("Words of adverse events for a lab"),
    "ae_medication.field": _("Field of the adverse event that names a medication"),
    "ae_medication.medication": _("Field that names medications"),
    "prohibited.names": _("Prohibited medications"),
    "prohibited.field": _("Field that names medications"),
    "sae_report.serious": _("Field that says that an event is serious"),
    "sae_report.code": _("Its value for serious"),
    "sae_report.known": _("Field of when it became known"),
    "sae_report.reports": _("report to"),
    "sae_report.reports.field": _("Field of the report date"),
}
"""Words for an attribute, by its name; for one of a check by its whole path where its name says too little."""
_ROLES: dict[str, Promise | str] = {"PI": "PI", "CRC": "CRC", "ADMIN": Role.ADMIN.label}
ENTRIES: dict[str, Mapping[str, Promise | str]] = {
    "checks": CHECKS | {"sae_report": _("Serious event not reported in time")},
    "severity": {"error": _("Error"), "warning": _("Warning"), "info": _("Info")},
    "content": {
        "daily_briefing": _("Daily briefing"),
        "visit_reminder": _("Visit reminder"),
        "weekly_report": _("Weekly report"),
    },
    "reviewers": _ROLES,
    "roles": _ROLES,
    "when_empty": {"say": _("Say so"), "silent": _("Send nothing")},
    "event": {
        "record_changed": _("Data of a subject changed"),
        "ae_added": _("An adverse event was added"),
        "finding_opened": _("A finding was opened"),
    },
    "catch_up": {"latest": _("the last one"), "all": _("all"), "none": _("none")},
    "sae_report.reports": {
        "pi": _("Principal investigator"),
        "sponsor": _("Sponsor"),
        "ethics": _("Ethics committee"),
    },
}
"""Words for the values that an attribute may have."""
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
    "failed": _("The dry run could not be done; please try again."),
    "json": _("Not JSON yet: this is not taken over."),
    "taken": _("This field stands here already: this is not taken over."),
    "whole": _("The workflow itself"),
    "lines": _("one a line"),
}

PHRASES: dict[str, Promise] = {
    "Fold line": _("Fold line"),
    "Unfold line": _("Unfold line"),
    "folded code": _("folded"),
    "unfold": _("unfold"),
}
"""What the JSON box (CodeMirror) says, by its own English words."""


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
        "schema": _with_tools(),
        "kinds": kinds,
        "defaults": DEFAULT_TARGETS,
        "edges": _words(NAMES),
        "ends": _words({key: name for key, name in ENDS.items() if key != "cancelled"}),
        "labels": _words(LABELS),
        "entries": {name: _words(words) for name, words in ENTRIES.items()},
        "texts": _words(TEXTS),
        "phrases": _words(PHRASES),
    }
    return json.dumps(told, ensure_ascii=False)


def _with_tools() -> dict[str, Any]:
    """The schema with the tools that there are: what they are called `skills.graph` cannot know."""
    whole = deepcopy(schema())
    tools = whole["$defs"]["soft_instruction"]["properties"]["tools"]
    if names := tool_names():
        tools["items"] = {"enum": names}
    return whole


def _words(words: Mapping[str, Promise | str]) -> dict[str, str]:
    return {name: str(word) for name, word in words.items()}

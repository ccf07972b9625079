"""A rule told back to its author: in words, what is wrong with it, and its smallest examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from core.house.clock import today
from core.rules.evaluation import Outcome
from core.rules.examples import SHOWN, Example, examples, slots
from core.rules.limits import within_seconds
from core.rules.rule import Rule, compile_rule
from core.rules.samples import Slot, Value
from core.rules.values import Reason
from projects.models import Project
from skills.mapping import actual_rules, aliases
from skills.rule_check import check_rules, study_context
from skills.rule_words import in_words
from study import dictionary
from study.metadata import StudyMetadata

MOST_SECONDS = 2.0
LABELS: Mapping[Outcome, Promise] = {
    Outcome.PASS: gettext_lazy("Passes"),
    Outcome.FAIL: gettext_lazy("Fails"),
    Outcome.UNKNOWN: gettext_lazy("Cannot be said"),
}


def told(project: Project, rule: Mapping[str, Any]) -> dict[str, Any]:
    """`words`, `problems` and `table` of a rule as it is written, for a study whose dictionary was read.

    `rule` has a text `field` and a `logic`. The table has a column for each kind of example that was
    found, a row for each field; None stands where any value does.
    """
    problems = [one._asdict() for one in check_rules(project, [{**rule}])]
    [actual] = actual_rules([{**rule}], aliases(project))
    metadata = dictionary.load(project)
    shown: dict[str, Any] = {"problems": problems, "words": "", "table": None, "notes": []}
    context = study_context(project)
    compiled, _problems = compile_rule(actual, "", context)
    if compiled is None:
        return shown
    with within_seconds(MOST_SECONDS):
        found = examples(compiled, context, today(project.timezone))
    return shown | {
        "words": in_words(actual["logic"], metadata),
        "table": _table(compiled, found, slots(compiled, context), metadata),
        "notes": [*_notes(found)],
    }


def _table(
    rule: Rule, found: Mapping[Outcome, Example], read: Sequence[Slot], metadata: StudyMetadata
) -> dict[str, Any]:
    held = [slot for slot in read if any(slot in one.held for one in found.values())]
    rows = [
        {
            "name": name,
            "label": metadata.label(name),
            "event": metadata.event_label(event) if event else "",
            "cells": [_cell(one, (name, event), metadata) for one in found.values()],
        }
        for name, event in held
    ]
    kinds = [{"kind": kind.value, "label": str(LABELS[kind])} for kind in found]
    return {"kinds": kinds, "rows": rows}


def _cell(one: Example, slot: Slot, metadata: StudyMetadata) -> str | None:
    if slot not in one.held:
        return None
    value: Value = one.held[slot]
    if not value:
        return _("is blank")
    choices = metadata.choices(slot[0])
    codes = value if isinstance(value, tuple) else (value,)
    return "、".join(choices.get(code, code) for code in codes)


def _notes(found: Mapping[Outcome, Example]) -> list[str]:
    notes = [
        _("No example was found that “%(kind)s”.") % {"kind": LABELS[kind]}
        for kind in SHOWN
        if kind not in found
    ]
    reason = found[Outcome.UNKNOWN].verdict.reason if Outcome.UNKNOWN in found else None
    if reason is Reason.NOT_EXPORTED:
        notes.append(_("A field of the rule is on no form of this visit: choose its visit."))
    if reason is Reason.APPLICABILITY_UNKNOWN:
        notes.append(_("It cannot be said whether REDCap shows the field."))
    return notes

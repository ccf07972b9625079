"""What the rule builder of the console offers for a study: fields, visits, operators, and its words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from core.rules.context import Column, Kind
from projects.models import Project
from skills.mapping import aliases
from skills.rule_check import study_context
from study import dictionary
from study.blinding.mask import columns_of, mask_for_all
from study.metadata import StudyMetadata

_KINDS = {
    Kind.NUMBER: "number",
    Kind.INTEGER: "number",
    Kind.DATE: "date",
    Kind.DATETIME: "datetime",
    Kind.TIME: "time",
    Kind.CODE: "choice",
    Kind.FLAG: "choice",
    Kind.TICKS: "ticks",
    Kind.TEXT: "text",
}
_ORDER = ("eq", "ne", "lt", "le", "gt", "ge", "between")
_BLANK = ("blank", "filled")
_DATES = ("on", "not_on", "before", "not_after", "after", "not_before", "between", *_BLANK)
OPERATORS_OF: dict[str, tuple[str, ...]] = {
    "number": (*_ORDER, *_BLANK),
    "date": _DATES,
    "datetime": _DATES,
    "time": (*_ORDER, *_BLANK),
    "choice": ("is", "is_not", "one_of", "none_of", *_BLANK),
    "ticks": ("ticked", "not_ticked", *_BLANK),
    "text": ("eq", "ne", "contains", "lacks", *_BLANK),
}
OPERATORS: dict[str, Promise] = {
    "eq": _("equals"),
    "ne": _("does not equal"),
    "lt": _("is less than"),
    "le": _("is at most"),
    "gt": _("is greater than"),
    "ge": _("is at least"),
    "between": _("is between (both included)"),
    "on": _("is on the same day as"),
    "not_on": _("is not on the same day as"),
    "before": _("is before"),
    "not_after": _("is not after"),
    "after": _("is after"),
    "not_before": _("is not before"),
    "is": _("is the choice"),
    "is_not": _("is not the choice"),
    "one_of": _("is one of the choices"),
    "none_of": _("is none of the choices"),
    "ticked": _("has ticked"),
    "not_ticked": _("has not ticked"),
    "contains": _("contains the text"),
    "lacks": _("does not contain the text"),
    "blank": _("is blank"),
    "filled": _("is filled in"),
}
TEXTS: dict[str, Promise] = {
    "title": _("Rule builder"),
    "text": _("As text (JSON Logic)"),
    "all": _("All of these hold"),
    "any": _("At least one of these holds"),
    "not_all": _("Not all of these hold"),
    "not_any": _("None of these holds"),
    "joint": _("How the conditions are joined"),
    "condition": _("Condition %s"),
    "group": _("Group %s"),
    "add": _("Add a condition"),
    "add_group": _("Add a group"),
    "up": _("Move up"),
    "down": _("Move down"),
    "remove": _("Remove"),
    "field": _("Field"),
    "find": _("Part of a label or name"),
    "visit": _("Visit"),
    "same_visit": _("the visit in question"),
    "operator": _("Comparison"),
    "with": _("Compare with"),
    "value": _("Value"),
    "to": _("up to"),
    "other": _("another field"),
    "today": _("today"),
    "more": _("%s more: type more of the name."),
    "found": _("%s fields found"),
    "nothing": _("No field has this in its label or name."),
    "no_field": _("Choose a field."),
    "no_value": _("Give a value."),
    "empty": _("No conditions yet."),
    "empty_group": _("This group has no condition yet."),
    "moved": _("Moved."),
    "removed": _("Removed."),
    "no_study": _("Choose the study first; until then the rule is written as text."),
    "unread": _("The dictionary of the study was not read yet; the rule is written as text."),
    "failed": _("The server did not answer; the rule can be written as text."),
    "unfit": _("The builder cannot show this rule, so it stays as it is; change it as text."),
    "not_offered": _(
        "The rule reads a field that is not offered here, so it stays as it is; change it as text."
    ),
    "examples": _("Smallest examples, worked out by the rule engine"),
    "any_value": _("any"),
    "reads": _("Reads:"),
}


def rule_choices(project: Project) -> dict[str, Any]:
    """Fields with type and choices, forms with their visits, and all words; {} where no dictionary was read.

    Without fields that unblind or identify a person: who may know them types their names.
    """
    if not dictionary.stored(project):
        return {}
    metadata = dictionary.load(project)
    shown = _shown(project, metadata)
    names = {column.field for column in shown}
    boxes = _boxes(metadata)
    return {
        "fields": [_field(column, metadata, boxes) for column in shown],
        "forms": {form: _form(form, metadata) for form in {column.form for column in shown}},
        "events": [(event, metadata.event_label(event)) for event in metadata.arms],
        "aliases": {alias: name for alias, name in aliases(project).items() if name in names},
        "kinds": OPERATORS_OF,
        "operators": {name: str(word) for name, word in OPERATORS.items()},
        "texts": texts(),
    }


def texts() -> dict[str, str]:
    """The words of the builder, for readers without a study, too."""
    return {name: str(word) for name, word in TEXTS.items()}


def _shown(project: Project, metadata: StudyMetadata) -> list[Column]:
    hidden = columns_of(metadata, mask_for_all(project).hidden()) | metadata.identifier_fields
    columns = study_context(project).columns.values()
    return [one for one in columns if one.kind in _KINDS and not hidden & {one.name, one.field}]


def _boxes(metadata: StudyMetadata) -> Mapping[str, Mapping[str, str]]:
    """Of each checkbox its columns with their codes."""
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for name, (field, code) in metadata.columns.items():
        if code:
            found[field][name] = code
    return found


def _field(
    column: Column, metadata: StudyMetadata, boxes: Mapping[str, Mapping[str, str]]
) -> dict[str, Any]:
    return {
        "name": column.name,
        "label": metadata.label(column.name),
        "kind": _KINDS[column.kind],
        "form": column.form,
        "choices": [*metadata.choices(column.name).items()],
        "boxes": boxes.get(column.name, {}) if column.kind is Kind.TICKS else {},
    }


def _form(form: str, metadata: StudyMetadata) -> dict[str, Any]:
    held = {str(row["unique_event_name"]) for row in metadata.mapping if row["form"] == form}
    events = [event for event in metadata.arms if event in held]
    return {"label": metadata.form_label(form), "events": events}

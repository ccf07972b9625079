"""The dictionary's own logic, branching and calculations: what of it is worked out here, and why not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import gettext as _

from rules.errors import RuleError
from rules.redcap.calculation import formula_of
from rules.redcap.parser import parse_logic
from study.metadata import StudyMetadata


@dataclass(frozen=True, slots=True)
class OwnLogic:
    """The logic of a field; `why_not`: why it is not worked out, "" where it is."""

    field: str
    text: str
    is_calculation: bool
    why_not: str = ""


def calculations(metadata: StudyMetadata) -> Iterator[OwnLogic]:
    """`calc` fields, @CALCTEXT and @CALCDATE; no export tells on which day one was saved that asks for it."""
    for name, row in metadata.fields.items():
        if text := formula_of(row):
            yield OwnLogic(name, text, is_calculation=True, why_not=_why_not(text, is_dated=True))


def branching(metadata: StudyMetadata) -> Iterator[OwnLogic]:
    """Fields that are shown under a condition."""
    for name, row in metadata.fields.items():
        if text := str(row.get("branching_logic") or "").strip():
            yield OwnLogic(name, text, is_calculation=False, why_not=_why_not(text, is_dated=False))


def _why_not(text: str, *, is_dated: bool) -> str:
    try:
        logic = parse_logic(text)
    except RuleError as error:
        return str(error)
    if is_dated and logic.is_dated:
        return _("It depends on the day on which it was saved.")
    return ""

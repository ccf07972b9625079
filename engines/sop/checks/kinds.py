"""The kinds of standard checks, with the words of the console and what each may be told."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

Checks = Mapping[str, Mapping[str, Any]]
"""What is switched on: kind -> what it is told."""


class Kind(StrEnum):
    """What a standard check looks for; the values stand in workflows and in the keys of findings."""

    REQUIRED = "required"
    RANGE = "range"
    TYPE = "type"
    CHOICE = "choice"
    HIDDEN = "hidden"
    CALC = "calc"
    CONSENT = "consent"
    LAB_AE = "lab_ae"
    AE_MEDICATION = "ae_medication"
    PROHIBITED = "prohibited"
    VISIT_WINDOW = "visit_window"
    VISIT_ORDER = "visit_order"
    DUPLICATE = "duplicate"


LABELS: dict[Kind, Promise] = {
    Kind.REQUIRED: _("Required field is blank"),
    Kind.RANGE: _("Value beyond the range of the dictionary"),
    Kind.TYPE: _("Value is not of the field's type"),
    Kind.CHOICE: _("Code is no choice of the field"),
    Kind.HIDDEN: _("Hidden field is filled"),
    Kind.CALC: _("Calculated field differs from its formula"),
    Kind.CONSENT: _("Procedure before consent"),
    Kind.LAB_AE: _("Lab value far beyond its limit without an adverse event"),
    Kind.AE_MEDICATION: _("Adverse event names a medication that no row holds"),
    Kind.PROHIBITED: _("Prohibited medication"),
    Kind.VISIT_WINDOW: _("Visit outside its window or missed"),
    Kind.VISIT_ORDER: _("Visits out of order"),
    Kind.DUPLICATE: _("Subject enrolled twice"),
}

SEVERITIES: dict[Kind, str] = {
    Kind.RANGE: "warning",
    Kind.VISIT_WINDOW: "warning",
}
"""Where it is not an error."""


def key(kind: Kind, about: str) -> str:
    """The rule key of a check about a field or a visit."""
    return f"std.{kind}.{about}"[:100]


def kind_of(rule_key: str) -> Kind | None:
    """The standard check that a rule key belongs to; None for a rule of the study."""
    start, _dot, rest = rule_key.partition(".")
    name = rest.partition(".")[0]
    return Kind(name) if start == "std" and name in set(Kind) else None


def severity(kind: Kind) -> str:
    """error or warning."""
    return SEVERITIES.get(kind, "error")

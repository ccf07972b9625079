"""The table of standard checks: kinds with words and help, groups, severities, what their facts are about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import TextChoices
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from skills.graph import CHECKS

Checks = Mapping[str, Mapping[str, Any]]
"""What is switched on: kind -> what it is told."""


class Kind(TextChoices):
    """What a standard check looks for; the values stand in workflows and in the keys of findings."""

    REQUIRED = "required", CHECKS["required"]
    RANGE = "range", CHECKS["range"]
    TYPE = "type", CHECKS["type"]
    CHOICE = "choice", CHECKS["choice"]
    HIDDEN = "hidden", CHECKS["hidden"]
    CALC = "calc", CHECKS["calc"]
    CONSENT = "consent", CHECKS["consent"]
    LAB_AE = "lab_ae", CHECKS["lab_ae"]
    AE_MEDICATION = "ae_medication", CHECKS["ae_medication"]
    PROHIBITED = "prohibited", CHECKS["prohibited"]
    VISIT_WINDOW = "visit_window", CHECKS["visit_window"]
    VISIT_ORDER = "visit_order", CHECKS["visit_order"]
    DUPLICATE = "duplicate", CHECKS["duplicate"]


HELP: Mapping[Kind, Promise] = {
    Kind.REQUIRED: _("Once somebody began a form, its required fields are filled."),
    Kind.RANGE: _("Between the least and the greatest value of the dictionary."),
    Kind.TYPE: _("A number is a number, a date is a day that there is."),
    Kind.CHOICE: _("A stored code is one of the field's choices."),
    Kind.HIDDEN: _("A field that branching logic hides is blank."),
    Kind.CALC: _(
        "What is stored is what the formula gives; one that reads the day of saving is not compared."
    ),
    Kind.CONSENT: _("No visit, anchor or examination is before the consent."),
    Kind.LAB_AE: _("A lab value beyond so many times its limit has an adverse event near."),
    Kind.AE_MEDICATION: _("A medication that an adverse event names has its own row."),
    Kind.PROHIBITED: _("No medication whose name holds one of the list."),
    Kind.VISIT_WINDOW: _("Each visit is within its window and none is missed."),
    Kind.VISIT_ORDER: _("Visits are dated in the planned order."),
    Kind.DUPLICATE: _("Nobody's identifier is also another subject's."),
}
"""What holds where the check finds nothing; told beside its box."""
OF_VALUE = frozenset({Kind.REQUIRED, Kind.TYPE, Kind.CHOICE, Kind.HIDDEN})
"""What is wrong with one value; it can be one of them at a time."""
OF_VISITS = frozenset({Kind.VISIT_WINDOW, Kind.VISIT_ORDER})
OF_SUBJECT = OF_VISITS | {Kind.CONSENT, Kind.DUPLICATE}
"""Facts that a subject has once, wherever the values stand."""
OF_ROW = frozenset({Kind.PROHIBITED})
"""Facts of a whole row, whichever of its fields tells them."""
OF_OTHER_ROWS = frozenset({Kind.LAB_AE, Kind.AE_MEDICATION, Kind.DUPLICATE})
"""Checks that an entry in another row can put right."""
SAFETY = frozenset({Kind.LAB_AE, Kind.AE_MEDICATION, Kind.PROHIBITED})
OF_COURSE = OF_VISITS | {Kind.CONSENT}
GROUPS: tuple[tuple[Promise, frozenset[Kind]], ...] = (
    (_("data checks"), frozenset(Kind) - SAFETY - OF_COURSE),
    (_("safety checks"), SAFETY),
    (_("consent and visit checks"), OF_COURSE),
)
"""What people call several of them."""
PROPOSED = frozenset(Kind) - {Kind.PROHIBITED}
"""Those that need to be told nothing."""
_WARNINGS = {Kind.RANGE, Kind.VISIT_WINDOW}


def key(kind: Kind, about: str) -> str:
    """The rule key of a check about a field or a visit."""
    return f"std.{kind}.{about}"[:100]


def kind_of(rule_key: str) -> Kind | None:
    """The standard check that a rule key belongs to; None for a rule of the study."""
    start, _dot, rest = rule_key.partition(".")
    name = rest.partition(".")[0]
    return Kind(name) if start == "std" and name in Kind.values else None


def severity(kind: Kind) -> str:
    """error or warning."""
    return "warning" if kind in _WARNINGS else "error"

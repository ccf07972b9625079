"""Skills that fit any study, ready to be taken over (seed 002, 2.1; issue 17, "standard checks")."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

_PATH = Path(__file__).with_name("standard.v1.json")


@dataclass(frozen=True)
class Standard:
    """One of `standard.v1.json` by its name there."""

    name: str
    title: Promise
    about: Promise


SKILLS = (
    Standard(
        "qc_process",
        _("Standard checks"),
        _(
            "Required fields, ranges, types, choices and visits of one subject; nothing is asked of a model."
        ),
    ),
    Standard(
        "qc_process_example",
        _("Enrolment checks of the design, as an example"),
        _(
            "Age, ECOG, history and medication; it names the fields age and ecog: "
            "map them first, then adapt it."
        ),
    ),
    Standard(
        "visit_reminder",
        _("Daily visit reminder"),
        _("Visits of the next 3 days, to the CRCs of their sites at 9:00; no model is needed."),
    ),
    Standard(
        "daily_briefing",
        _("Daily briefing"),
        _("Enrolment, visits, new findings and waiting reviews, to everybody at 8:30."),
    ),
    Standard(
        "weekly_report",
        _("Weekly report"),
        _("The report of the week before, to PI and administrators on Mondays at 9:00."),
    ),
    Standard(
        "visit_reminder_llm",
        _("Visit reminder worded by the model"),
        _(
            "The reminder as the design prints it: the model reads what is due and words the message."
        ),
    ),
)


def envelopes(names: Collection[str]) -> list[dict[str, Any]]:
    """The skills of these names as envelopes; raises KeyError for another."""
    stored = json.loads(_PATH.read_text("utf-8"))
    return [stored[name] for name in names]

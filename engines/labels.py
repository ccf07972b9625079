"""What the console calls things that the engines store as plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from core.house.stored_labels import name as name
from memory.labels import INTENTS as INTENTS
from skills.drawing import ENDS as ENDS
from skills.drawing import title
from skills.graph import KINDS

if TYPE_CHECKING:
    from engines.models import PendingAction
    from study.metadata import StudyMetadata
    from study.models import RedcapQuery

NODES: dict[str, Promise] = {
    "read": _("Read from REDCap"),
    **{name: kind.label for name, kind in KINDS.items()},
    "decision": _("Decision"),
    "fault": _("Fault"),
}
OUTCOMES: dict[str, Promise] = {
    "pass": _("Passed"),
    "fail": _("Not passed"),
    "error": _("Error"),
    "waiting": _("Waiting"),
    "approve": _("Approved"),
    "reject": _("Rejected"),
    "approved": _("Approved"),
    "rejected": _("Rejected"),
    "would_ask_person": _("A person would be asked"),
    "would_ask_llm": _("The language model would be asked"),
    "would_notify": _("A message would be sent"),
    "postponed": _("Put off"),
}
AI_GENERATED = _("AI-generated")
"""Behind a text that a model wrote, where it goes into a file."""
VERDICTS: dict[str, Promise] = {
    "PASS": _("Passed"),
    "FAIL": _("Not passed"),
    "UNKNOWN": _("Cannot be told"),
    "NOT_APPLICABLE": _("Does not apply"),
    "ERROR": _("Error"),
}
EVENTS: dict[str, Promise] = {
    "observed": _("Observed again"),
    "reopened": _("Open again"),
    "resolved by data change": _("Resolved by data change"),
    "closed": _("Closed"),
    "confirmed": _("Confirmed"),
    "confirm": _("Confirmed"),
    "reject": _("Rejected as a false alarm"),
    "query": _("Query sent"),
    "answer": _("Query answered"),
    "correct": _("Corrected"),
    "reopen": _("Taken up again"),
    "accept": _("Closed by data change"),
    "assign": _("Assigned"),
    "comment": _("Comment"),
    "gone": _("Record deleted in REDCap"),
    "back": _("Record is in REDCap again"),
}
# Why a rule could not be decided or had to fail (contracts.md, check_rules).
REASONS: dict[str, Promise] = {
    "missing": _("The value is missing"),
    "missing_code": _("A code for a missing value stands there"),
    "censored": _("The value is a limit (below or above)"),
    "partial_date": _("The date is incomplete"),
    "not_exported": _("The study's token does not show the field"),
    "invalid_choice": _("The code is no choice of the field"),
    "unit_missing": _("The unit is missing"),
    "type_mismatch": _("The value is of another type"),
    "applicability_unknown": _("Whether the field applies cannot be told"),
    "hidden_with_value": _("The field is hidden but has a value"),
}


def node_title(config: dict[str, Any], key: str | None) -> str:
    """What the node of a run's configuration is called, an end by its name; "" for nowhere."""
    return title(key, config.get("nodes", {}).get(key)) if key else ""


def place_of_finding(row: PendingAction | RedcapQuery, metadata: StudyMetadata | None) -> str:
    """Event, form of a repeat and its number, and the field, as the dictionary names them; "" for none."""
    event, form, field = row.event, row.instrument, row.field
    if metadata is not None:
        event, form = metadata.event_label(event or ""), metadata.form_label(form or "")
        field = metadata.label(field) if field else field
    repeat = f"{form} #{row.instance}".strip() if row.instance else ""
    return " · ".join(part for part in (event, repeat, field) if part)

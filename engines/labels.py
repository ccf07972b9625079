"""What the console calls things that the engines store as plain words."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from memory.labels import INTENTS as INTENTS
from projects.words import name as name

NODES: dict[str, Promise] = {
    "read": _("Read from REDCap"),
    "hard_rule": _("Hard rules"),
    "soft_instruction": _("Soft rule"),
    "human_review": _("Human review"),
    "notify": _("Message"),
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
ENDS: dict[str, Promise] = {
    "end": _("Ended"),
    "end_success": _("Passed"),
    "end_with_violation": _("Ended with a violation"),
    "end_review_required": _("Ended, review required"),
    "end_rejected": _("Rejected"),
    "end_error": _("Ended with an error"),
    "cancelled": _("Cancelled"),
}
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
}
PURPOSES: dict[str, Promise] = {
    "chat": _("Answer in chat"),
    "react": _("Question answered in steps"),
    "ground": _("Answer corrected by its sources"),
    "shorten": _("Answer shortened"),
    "intent": _("What a message asks for"),
    "soft_rule": _("Soft rule"),
    "remember": _("Facts of a user"),
    "distil": _("Hot memory of the day"),
    "weekly": _("Weekly report"),
    "check": _("Check of the endpoint"),
}
MODEL_PURPOSES: dict[str, Promise] = {
    "chat": _("Answers in chat"),
    "engines": _("Engines"),
    "small": _("Small work"),
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

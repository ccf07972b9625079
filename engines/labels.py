"""What the console calls things that the engines store as plain words."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

NODES: dict[str, Promise] = {
    "read": _("Read from REDCap"),
    "hard_rule": _("Hard rules"),
    "soft_instruction": _("Soft rule"),
    "human_review": _("Human review"),
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
EVENTS: dict[str, Promise] = {
    "observed": _("Observed again"),
    "reopened": _("Open again"),
    "resolved by data change": _("Resolved by data change"),
    "closed": _("Closed"),
}


def name(names: dict[str, Promise], word: str | None) -> str:
    """The name of a word; the word itself where the study made it up."""
    return str(names.get(word or "", word or ""))

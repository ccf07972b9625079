"""What a rule says of one row, and the small numbers that stand for it in compiled rules."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from rules.values import Reason

Cause: TypeAlias = tuple[str, str | None]
"""A field and its event; None is the row itself."""


class Outcome(StrEnum):
    """What a rule came to on one row."""

    PASS = "PASS"  # noqa: S105
    FAIL = "FAIL"
    UNKNOWN = "UNKNOWN"
    NOT_APPLICABLE = "NOT_APPLICABLE"
    ERROR = "ERROR"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Outcome and reason; `message` where it is not the rule's, `cause` where an undecided field is
    named instead of the rule's, `is_broken` where the rule could not be computed at all."""

    outcome: Outcome
    reason: Reason | None = None
    message: str | None = None
    cause: Cause | None = None
    is_broken: bool = False


STATES: Final = (
    Verdict(Outcome.FAIL),
    Verdict(Outcome.PASS),
    *(Verdict(Outcome.UNKNOWN, reason) for reason in Reason),
)
"""The verdicts of a condition by number: 0 false, 1 true, above that undecided for a reason."""

NUMBERS: Final = {verdict: number for number, verdict in enumerate(STATES)}

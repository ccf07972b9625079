"""What a rule came to, in the shape of contracts.md."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field as default
from enum import StrEnum
from typing import Any

from engines.rules.values import Reason


class Outcome(StrEnum):
    """What a rule came to on one row."""

    PASS = "PASS"  # noqa: S105
    FAIL = "FAIL"
    UNKNOWN = "UNKNOWN"
    NOT_APPLICABLE = "NOT_APPLICABLE"
    ERROR = "ERROR"


@dataclass(frozen=True, slots=True)
class RuleResult:
    """One rule on one row, in the shape of contracts.md.

    `field` is the rule's, except for applicability_unknown: there it names the undecided field.
    """

    rule: str
    field: str
    event: str | None
    instrument: str | None
    instance: int | None
    outcome: Outcome
    value: Any
    message: str
    severity: str
    reason: Reason | None = None
    detail: list[dict[str, Any]] = default(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {name: getattr(self, name) for name in self.__slots__}

"""What a rule came to, in the shape of contracts.md."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field as default
from enum import StrEnum
from typing import Any

from engines.rules.convert import Reading
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
    `readings` are what the rule read; `detail` shows them, made when it is asked for.
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
    readings: tuple[Reading, ...] = default(default=(), repr=False, compare=False)

    @property
    def detail(self) -> list[dict[str, Any]]:
        """Every var with its raw value, label, converted value and place; each place once."""
        entries = {(reading.name, reading.place): reading for reading in self.readings}
        return [reading.as_detail() for reading in entries.values()]

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON, in the order of contracts.md."""
        return {name: getattr(self, name) for name in _KEYS}


_KEYS = (
    *("rule", "field", "event", "instrument", "instance"),
    *("outcome", "value", "message", "severity", "reason", "detail"),
)

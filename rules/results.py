"""What a rule came to, in the shape of contracts.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from dataclasses import field as default
from enum import StrEnum
from typing import Any

from rules import parse
from rules.convert import Reading
from rules.expression import Type
from rules.values import Reason, Unknown, Value

_PARSERS: dict[Type, Callable[[str], Value]] = {
    Type.NUMBER: parse.number,
    Type.DATE: parse.moment,
    Type.TIME: parse.clock,
}


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
    `readings` are what the rule read, `types` what it took text for; `detail` shows both, made when
    it is asked for.
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
    types: Mapping[str, Type] = default(default_factory=dict, repr=False, compare=False)

    @property
    def detail(self) -> list[dict[str, Any]]:
        """Every var with its raw value, label, converted value and place; each place once for each
        unit it was converted into."""
        entries = {(one.name, one.place, one.unit): one for one in self.readings}
        converted = {(name, place) for name, place, unit in entries if unit}
        shown = [e for e in entries.values() if e.unit or (e.name, e.place) not in converted]
        return [_taken(entry, self.types.get(entry.name)).as_detail() for entry in shown]

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON, in the order of contracts.md."""
        return {name: getattr(self, name) for name in _KEYS}


def _taken(reading: Reading, type_: Type | None) -> Reading:
    """A text as what the rule took it for."""
    parser = None if type_ is None else _PARSERS.get(type_)
    if parser is None or not isinstance(reading.value, str):
        return reading
    value = parser(reading.value)
    return replace(reading, value=Unknown(Reason.TYPE_MISMATCH) if value is None else value)


_KEYS = (
    *("rule", "field", "event", "instrument", "instance"),
    *("outcome", "value", "message", "severity", "reason", "detail"),
)

"""What a rule came to, in the shape of contracts.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from core.rules import evaluation, parse
from core.rules.context import Column, Kind, StudyContext
from core.rules.convert import Reading
from core.rules.evaluation import Outcome, Verdict
from core.rules.expression import Type
from core.rules.record import Record, Row
from core.rules.rule import Rule
from core.rules.values import Reason, Unknown, Value

_PARSERS: dict[Type, Callable[[str], Value]] = {
    Type.NUMBER: parse.number,
    Type.DATE: parse.moment,
    Type.TIME: parse.clock,
}


@dataclass(slots=True, eq=False)
class RuleResult:
    """One rule on one row, in the shape of contracts.md: the verdict, and what it rests on, which is
    read when it is asked for."""

    about: Rule
    row: Row
    verdict: Verdict

    @property
    def rule(self) -> str:
        """The rule's id, or the hash of its logic."""
        return self.about.key

    @property
    def field(self) -> str:
        """The rule's, except for applicability_unknown: there the undecided field."""
        return self.verdict.cause[0] if self.verdict.cause else self.about.field

    @property
    def event(self) -> str | None:
        """The row's redcap_event_name."""
        return self.row.place.event

    @property
    def instrument(self) -> str | None:
        """The row's redcap_repeat_instrument."""
        return self.row.place.instrument

    @property
    def instance(self) -> int | None:
        """The row's redcap_repeat_instance."""
        return self.row.place.instance

    @property
    def outcome(self) -> Outcome:
        """PASS, FAIL, UNKNOWN, NOT_APPLICABLE or ERROR."""
        return self.verdict.outcome

    @property
    def reason(self) -> Reason | None:
        """Why it is not decided, or had to fail."""
        return self.verdict.reason

    @property
    def message(self) -> str:
        """The rule's, with the reason where it could not be computed."""
        own = self.verdict.message
        return self.about.message if own is None else own

    @property
    def severity(self) -> str:
        """error, warning or info."""
        return self.about.severity

    @property
    def value(self) -> Any:
        """The raw value of `field`."""
        cause = self.verdict.cause
        return (
            evaluation.read_column(self.row, *cause) if cause else self.row.read(self.about.field)
        ).raw

    @property
    def detail(self) -> list[dict[str, Any]]:
        """Every var with its raw value, label, converted value and place; each place once for each
        unit it was converted into."""
        readings = evaluation.readings(self.about, self.row, self.verdict)
        entries = {(one.name, one.place, one.unit): one for one in readings}
        shown = list(entries.values())
        if self.about.conversions:
            converted = {(name, place) for name, place, unit in entries if unit}
            shown = [e for e in shown if e.unit or (e.name, e.place) not in converted]
        types = self.about.types
        return [(_taken(e, types.get(e.name)) if types else e).as_detail() for e in shown]

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON, in the order of contracts.md."""
        return {name: getattr(self, name) for name in _KEYS}


def refused(rule: Any, message: str) -> RuleResult:
    """An ERROR about a rule that could not be compiled; it stands at no row."""
    known = rule if isinstance(rule, Mapping) else {}
    name = str(known.get("field") or "")
    about = Rule(
        key=str(known.get("id") or ""),
        field=name,
        message=message,
        severity="error",
        node=lambda _scope: None,
        column=Column(name, name, "", Kind.RAW),
        reads=(),
        looks_for=(),
        logic=None,
        types={},
        conversions=(),
    )
    nowhere = Record(StudyContext.build(None), [{}], date.min).rows[0]
    return RuleResult(about, nowhere, Verdict(Outcome.ERROR, is_broken=True))


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

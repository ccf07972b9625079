"""The rules, each named after what it refuses; a rule says why, or "" where it has nothing against a clause."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engines.assistant.verify.clause import Clause
from engines.assistant.verify.rules import (
    absences,
    causes,
    conduct,
    dates,
    measured,
    named,
    order,
    scope,
    states,
    turned,
    values,
    wording,
)

Rule = Callable[[Clause], str]


def _any(*rules: Rule) -> Rule:
    """Several that refuse the same kind of thing, as one."""
    return lambda clause: next((reason for rule in rules if (reason := rule(clause))), "")


RULES: Mapping[str, Rule] = {
    "conduct": _any(conduct.identity, conduct.self_told, conduct.advice),
    "assent": conduct.assent,
    "uncited": conduct.uncited,
    "value": values.value,
    "subject": _any(conduct.stranger, values.subject, values.row, named.whose),
    "field": _any(values.instance, values.field),
    "place": values.place,
    "unit": values.unit,
    "date_role": values.date_role,
    "choice": _any(values.choice, values.quoted),
    "flag": _any(values.flag, named.flagged, named.polarity),
    "happened": named.happened,
    "limit": _any(measured.limit, measured.reached),
    "level": measured.level,
    "direction": order.direction,
    "comparison": _any(order.comparison, dates.order),
    "extremum": order.extremum,
    "arithmetic": measured.arithmetic,
    "count": scope.count,
    "every": _any(scope.every, scope.every_time),
    "only": _any(scope.only, absences.absence, absences.presence),
    "blank": _any(states.blank, states.filled),
    "state": _any(states.state, states.ongoing, states.current),
    "unsaid": wording.unsaid,
    "figure": turned.figure,
    "negation": turned.negation,
    "modality": turned.modality,
    "claim": _any(causes.cause, causes.verdict, causes.deed),
}

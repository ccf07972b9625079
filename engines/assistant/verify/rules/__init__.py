"""The rules, each named after what it refuses; a rule says why, or "" where it has nothing against a clause."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engines.assistant.verify.reading import Clause
from engines.assistant.verify.rules import conduct, measured, named, scope, values, wording

Rule = Callable[[Clause], str]

RULES: Mapping[str, Rule] = {
    "stranger": conduct.stranger,
    "identity": conduct.identity,
    "language": conduct.language,
    "self": conduct.self_told,
    "advice": conduct.advice,
    "assent": conduct.assent,
    "uncited": conduct.uncited,
    "value": values.value,
    "subject": values.subject,
    "instance": values.instance,
    "field": values.field,
    "place": values.place,
    "unit": values.unit,
    "date_role": values.date_role,
    "choice": values.choice,
    "flag": values.flag,
    "row": values.row,
    "quoted": values.quoted,
    "whose": named.whose,
    "flagged": named.flagged,
    "happened": named.happened,
    "polarity": named.polarity,
    "limit": measured.limit,
    "level": measured.level,
    "direction": measured.direction,
    "comparison": measured.comparison,
    "order": measured.order,
    "extremum": measured.extremum,
    "reached": measured.reached,
    "arithmetic": measured.arithmetic,
    "count": scope.count,
    "every": scope.every,
    "every_time": scope.every_time,
    "only": scope.only,
    "absence": scope.absence,
    "presence": scope.presence,
    "blank": scope.blank,
    "filled": scope.filled,
    "ongoing": scope.ongoing,
    "state": scope.state,
    "current": scope.current,
    "unsaid": wording.unsaid,
    "figure": wording.figure,
    "negation": wording.negation,
    "modality": wording.modality,
    "cause": wording.cause,
    "verdict": wording.verdict,
    "deed": wording.deed,
}

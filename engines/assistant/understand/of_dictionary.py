"""Questions about what the study collects: forms, fields, units and choices, of nobody's data."""

from __future__ import annotations

from engines.assistant.understand.clause import Clause
from engines.assistant.understand.tokens import CODED, Kind
from engines.assistant.understand.types import Shape, Slots, Topic

_MAY = frozenset(
    {
        Kind.DICTIONARY,
        Kind.FIELD,
        Kind.FORM,
        Kind.WHAT,
        Kind.YES_NO,
        Kind.FILL,
        Kind.AND,
        Kind.FOLLOW,
        Kind.TOOK,
        Kind.NOT,
        Kind.AMONG,
    }
)
"""Of these a question of the dictionary is made; any other word asks for data, or for a rule."""
_UNKNOWN = frozenset({Kind.LEFT, Kind.ABSENT, Kind.TERM})
_WORDS = ("choices", "unit", "fields", "forms", "collected", "crf", "entered")


def of_collection(clause: Clause) -> bool:
    """不良事件收集到什么时候: it speaks of what is collected, of nobody's data, and asks for a rule."""
    of_data = (Kind.SUBJECT, Kind.PRONOUN, Kind.WHO, Kind.COUNT, Kind.AGGREGATE, Kind.SHARE)
    return clause.has(Kind.DICTIONARY) and not clause.has(*of_data) and not of_dictionary(clause)


def of_dictionary(clause: Clause) -> Slots | None:
    """The slots of a question of the dictionary, what it asks in `aspect`; None for any other."""
    said = clause.values(Kind.DICTIONARY)
    aspect = next((word for word in _WORDS if word in said), "")
    words = {token.kind for place, token in enumerate(clause.tokens) if not _counts(place, clause)}
    unknown = bool(words & _UNKNOWN)
    if not aspect or not words - _UNKNOWN <= _MAY:
        return None
    setting = clause.setting
    named = [r.name for t in clause.all(Kind.FIELD) for r in t.readings if r.name[:1] != "@"]
    forms = [t.name for t in clause.all(Kind.FORM)]
    if aspect == "entered":
        # 转归怎么选: by its choices; what is typed in, the documents tell better.
        aspect = "choices"
    if aspect == "choices" and not any(setting.column_kind(name) in CODED for name in named):
        return None
    if aspect == "unit" and not named:
        return None
    if aspect in ("collected", "crf") and not (named or forms):
        if unknown:
            return _slots("collected", ()) if clause.has(Kind.YES_NO) else None
        return _slots("forms", ())
    if aspect == "forms" and (named or forms):
        aspect = "collected"
    if aspect in ("collected", "crf") and forms and not named and clause.has(Kind.WHAT):
        # 收集了哪些化验指标: of a form that is collected what it holds.
        aspect = "fields"
    if unknown or (aspect == "fields" and not (named or forms)):
        return None
    return _slots(aspect, tuple(dict.fromkeys(named or forms)))


def _counts(place: int, clause: Clause) -> bool:
    """几个选项, 都有哪些字段: how many, or that all are meant, says nothing of data."""
    token, after = clause.tokens[place], clause.tokens[place + 1 : place + 2]
    if token.kind in (Kind.COUNT, Kind.COUNT_ROWS):
        return [t.kind for t in after] == [Kind.DICTIONARY]
    return (token.kind, token.said) == (Kind.ROWS, "都")


def _slots(aspect: str, names: tuple[str, ...]) -> Slots:
    aspect = "collected" if aspect == "crf" else aspect
    return Slots(topic=Topic.DICTIONARY, shape=Shape.DICTIONARY, select=names, aspect=aspect)

"""The dates that words of a question stand for, and two of them that are compared with each other."""

from __future__ import annotations

from collections.abc import Sequence

from engines.assistant.understand.clause import Clause, Setting
from engines.assistant.understand.standing import stands
from engines.assistant.understand.tokens import Kind, Token

DATED = (Kind.FIELD, Kind.ENROLLED, Kind.PLACE)


def day_of(token: Token, setting: Setting) -> str:
    """The date that a word stands for: its own, that of the enrolment, of a visit, of an event's name."""
    design = setting.design
    if token.kind is Kind.ENROLLED:
        return design.enrolment_field
    if token.kind is Kind.FIELD:
        return token.name
    planned = (v.date_field for v in design.plan.visits if v.visit == token.name)
    named = (
        name
        for name in design.metadata.fields
        if name not in design.hidden
        and setting.is_date(name)
        and design.metadata.label(name).startswith(token.said)
        and stands(design, name, token.name)
    )
    return next(planned, "") or next(named, "")


def apart(clause: Clause, place: int) -> tuple[str, str] | None:
    """签字晚于入组: the dates on both sides of a comparison; None where there are not two."""
    before = _dates(clause.tokens[:place][::-1], clause.setting)
    after = _dates(clause.tokens[place + 1 :], clause.setting)
    if not after and any(t.said == "比" for t in clause.tokens[:place]):
        # 签字比入组还晚
        before, after = before[1:], before[:1]
    if not before or not after or before[0] == after[0]:
        return None
    return before[0], after[0]


def _dates(tokens: Sequence[Token], setting: Setting) -> list[str]:
    told = [_named(token, setting) for token in tokens]
    return [name for name in told if name and setting.is_date(name)]


def _named(token: Token, setting: Setting) -> str:
    if token.kind is Kind.FORM and not setting.repeats(token.name):
        return setting.day_of(token.name)
    return day_of(token, setting) if token.kind in DATED else ""

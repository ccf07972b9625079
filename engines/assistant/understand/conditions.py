"""The conditions of a clause: comparisons, choices, what is empty, what happened and what did not."""

from __future__ import annotations

from engines.assistant.understand.clause import Clause, speaks_of_events
from engines.assistant.understand.comparisons import compared
from engines.assistant.understand.found import Conditions, is_flag, negated
from engines.assistant.understand.rows_told import told_of_rows
from engines.assistant.understand.tokens import Kind, Token
from engines.assistant.understand.types import Query
from rules.context import Kind as ColumnKind

_OR = ("或", "或者", "or")


def conditions(clause: Clause) -> Conditions:
    """The conditions of a clause in the order of its words."""
    found = Conditions()
    compared(clause, found)
    _empties(clause, found)
    _unreported(clause, found)
    _choices(clause, found)
    told_of_rows(clause, found)
    _alternatives(clause, found)
    return found


def _alternatives(clause: Clause, found: Conditions) -> None:
    """超过30或者低于18: the conditions on both sides of an or, where both are comparisons of one field."""
    for place, token in enumerate(clause.tokens):
        before = [i for i, at in enumerate(found.at) if at < place]
        after = [i for i, at in enumerate(found.at) if at > place]
        if token.kind is not Kind.AND or token.said not in _OR or not before or not after:
            continue
        left, right = max(before, key=found.at.__getitem__), min(after, key=found.at.__getitem__)
        if found.where[left].get("field") == found.where[right].get("field") is not None:
            found.where[left] = {"any": [found.where[left], found.where.pop(right)]}
            found.at.pop(right)
            return


def _empties(clause: Clause, found: Conditions) -> None:
    """没填体重, 没签知情, 还没结束: the row is there and the field is not filled."""
    told = clause.has(Kind.EMPTY)
    if told and asks_blanks(clause):
        found.blanks = True
        return
    for place, token in enumerate(clause.tokens):
        name = _may_be_empty(clause, token)
        if not name or place in found.used or token.value == "why":
            continue
        coded = clause.setting.column_kind(name) is ColumnKind.CODE
        if told or ((coded or clause.setting.is_date(name)) and negated(clause, place)):
            found.add({"field": name, "op": "blank"}, place, {place}, name)


def _unreported(clause: Clause, found: Conditions) -> None:
    """还有几个SAE没报: behind what happened a no to reporting is a report day that is blank."""
    words = clause.setting.vocabulary
    name = words.reports.get(words.event_form)
    for place, token in enumerate(clause.tokens):
        told = Clause(clause.tokens[:place], clause.setting)
        ahead = clause.tokens[place + 1 :]
        if token.kind is not Kind.NOT or token.value != "report" or not name:
            continue
        if speaks_of_events(told) and not any(t.kind is Kind.FORM for t in ahead):
            found.add({"field": name, "op": "blank"}, place, {place}, name)


def asks_blanks(clause: Clause) -> bool:
    """P010的SAE还缺啥没填: of whom or of which rows is said, and what is not filled in is asked for."""
    if _are_visits(clause):
        return False
    what = any(t.value == "" and t.said != "呢" for t in clause.all(Kind.WHAT))
    fields = [t for t in clause.all(Kind.FIELD) if not is_flag(clause, t.name)]
    return what and not clause.many and not fields and clause.has(Kind.SUBJECT, Kind.PRONOUN)


def _are_visits(clause: Clause) -> bool:
    """P004还有哪些访视没做: a visit is done, a value is filled in."""
    done = any(t.said.endswith("做") for t in clause.all(Kind.EMPTY, Kind.NOT))
    return done and clause.has(Kind.VISIT, value="topic")


def _may_be_empty(clause: Clause, token: Token) -> str:
    """A field of the study, or the day of a form."""
    if token.kind is Kind.FORM and not clause.setting.repeats(token.name):
        return clause.setting.day_of(token.name)
    return token.name if token.kind is Kind.FIELD and not token.name.startswith("@") else ""


def _choices(clause: Clause, found: Conditions) -> None:
    groups: dict[str, list[tuple[int, str, bool]]] = {}
    for place, token in enumerate(clause.tokens):
        if token.kind is Kind.CHOICE and place not in found.used and token.readings:
            for reading in token.readings:
                hit = (place, reading.code, negated(clause, place))
                groups.setdefault(reading.name, []).append(hit)
    for name, hits in groups.items():
        spent = {place for place, _code, _no in hits}
        if _told_of_one(clause, name):
            found.fields += [name] if name not in found.fields else []
            found.used |= spent
            continue
        codes = list(dict.fromkeys(code for _place, code, _no in hits))
        if len(codes) == 2 and _from_to(clause, *(place for place, _code, _no in hits)):
            codes = _through(codes, list(clause.setting.design.metadata.choices(name)))
        denied = hits[0][2]
        ticked = clause.setting.column_kind(name) is ColumnKind.TICKS
        if denied:
            condition: Query = (
                {
                    "none": [
                        {"field": name, "op": "contains" if ticked else "=", "value": c}
                        for c in codes
                    ]
                }
                if ticked or len(codes) > 1
                else {"field": name, "op": "!=", "value": codes[0]}
            )
        elif ticked:
            parts = [{"field": name, "op": "contains", "value": code} for code in codes]
            condition = parts[0] if len(parts) == 1 else {"any": parts}
        elif len(codes) == 1:
            condition = {"field": name, "op": "=", "value": codes[0]}
        else:
            condition = {"field": name, "op": "in", "value": codes}
        found.add(condition, hits[0][0], spent, name)


def _from_to(clause: Clause, first: int, last: int) -> bool:
    """0到2分: with nothing but a to between two choices."""
    return [t.said for t in clause.tokens[first + 1 : last]] in (["到"], ["至"])


def _through(ends: list[str], codes: list[str]) -> list[str]:
    """The choices from one to the other as the dictionary orders them."""
    first, last = sorted(map(codes.index, ends))
    return codes[first : last + 1]


def _told_of_one(clause: Clause, name: str) -> bool:
    """P023是阴性还是阳性: of a subject, what they have is asked, unless rows are chosen by it."""
    spoken_of = clause.has(Kind.PRONOUN) and clause.setting.state.subjects
    one = (clause.has(Kind.SUBJECT) or spoken_of) and not clause.many
    return bool(one) and not clause.setting.repeats(clause.setting.design.form_of(name))

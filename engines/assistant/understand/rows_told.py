"""Conditions on what happened to subjects: flags, rows of repeating forms by their names, enrolment."""

from __future__ import annotations

from engines.assistant.understand.clause import Clause
from engines.assistant.understand.found import Conditions, is_flag, negated
from engines.assistant.understand.tokens import Kind
from engines.assistant.understand.types import Query


def told_of_rows(clause: Clause, found: Conditions) -> None:
    """Add the conditions that flags, events, drugs and enrolments are."""
    _flags(clause, found)
    _terms(clause, found)
    _enrolled(clause, found)


def _flags(clause: Clause, found: Conditions) -> None:
    """A yes-no field is a condition of a repeating form's rows, and where subjects are looked for."""
    setting = clause.setting
    for place, token in enumerate(clause.tokens):
        if token.kind is not Kind.FIELD or place in found.used or not is_flag(clause, token.name):
            continue
        repeats = setting.repeats(setting.design.form_of(token.name))
        if not repeats and not clause.many and not clause.has(Kind.AGGREGATE):
            continue
        ticked: Query = {"field": token.name, "op": "=", "value": "1"}
        if negated(clause, place):
            ticked = {"none": [ticked]} if repeats else ticked | {"value": "0"}
        found.add(ticked, place, {place}, token.name)


def _terms(clause: Clause, found: Conditions) -> None:
    """得过皮疹, 那个皮疹, 用过酮康唑: what a row of a repeating form is called; 没报AE: no row at all."""
    setting, named = clause.setting, dict[str, list[Query]]()
    for place, token in enumerate(clause.tokens):
        if place in found.used:
            continue
        form = token.value if token.kind is Kind.TERM else ""
        if form and (
            name := token.readings[0].name if token.readings else setting.naming_field(form)
        ):
            condition: Query = {"field": name, "op": "contains", "value": token.said}
            if negated(clause, place):
                found.add({"none": [condition]}, place, {place}, name)
                continue
            # 恶心和腹泻: no row is called both.
            either = named.setdefault(name, [])
            either.append(condition)
            if len(either) > 1:
                before: Query = either[0] if len(either) == 2 else {"any": either[:-1]}
                found.where[found.where.index(before)] = {"any": [*either]}
                found.used.add(place)
                continue
            found.add(condition, place, {place}, name)
        elif token.kind is Kind.FORM and setting.repeats(token.name) and negated(clause, place):
            filled = {"field": setting.naming_field(token.name), "op": "filled"}
            found.add({"none": [filled]}, place, {place})
        elif token.kind is Kind.TOOK and token.value == "now" and not clause.has(Kind.PERIOD):
            ends = setting.vocabulary.ends.get(setting.vocabulary.drug_form, "")
            if ends:
                found.add({"field": ends, "op": "blank"}, place, {place}, ends)


def _enrolled(clause: Clause, found: Conditions) -> None:
    for place, token in enumerate(clause.tokens):
        if token.kind is not Kind.ENROLLED or clause.has(Kind.TARGET):
            continue
        denied = negated(clause, place)
        alone = not (
            clause.has(Kind.FIELD, Kind.CHOICE, Kind.FORM, Kind.TERM) or clause.many or denied
        )
        asked = clause.has(Kind.WHEN, Kind.YES_NO) or (
            clause.has(Kind.SUBJECT, Kind.PRONOUN) and not clause.many
        )
        if asked and not clause.many:
            continue
        if alone and not clause.has(Kind.WHAT):
            continue
        condition = {"field": "@enrolled", "op": "blank" if denied else "filled"}
        found.add(condition, place, {place}, "")
        return

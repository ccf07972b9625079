"""None, where there is one; some, where there is none: by the whole result."""

from __future__ import annotations

from engines.assistant.understand.tokens import Kind as Meant
from engines.assistant.verify import evidence
from engines.assistant.verify.clause import Clause
from engines.assistant.verify.lexer import Token
from engines.assistant.verify.rules.measured import is_from_prose
from engines.assistant.verify.rules.results import flags_of, holding, results_for, rows_of
from engines.assistant.verify.whole import is_whole


def absence(clause: Clause) -> str:
    """None, where there is one, or where not everything was read."""
    words = [t for t in clause.claims("none") if not t.claims & {"blank"}]
    if not words or is_from_prose(clause) or clause.has("asked", "blank") or not clause.lines:
        return ""
    after = [t for t in clause.tokens if t.at >= words[0].end]
    forms = {r.name for t in after if t.is_a is Meant.FORM for r in t.readings}
    flags = [t for t in flags_of(clause) if t in after]
    choices = [t for t in after if t.is_a is Meant.CHOICE and not t.claims]
    forms |= {clause.sheet.design.form_of(n) for t in (*flags, *choices) for n in t.names()}
    if not forms:
        return _absent_field(clause, after)
    for form in forms:
        for scope in results_for(clause, form):
            rows = rows_of(clause, scope, form)
            held = holding(clause, scope, rows, [*flags, *choices]) if flags or choices else rows
            if held:
                return f"读到的结果里有{len(held)}条,不是「{words[0].text}」"
            if is_whole(scope, clause):
                return ""
    return f"没有一行引用能支持「{words[0].text}」"


def presence(clause: Clause) -> str:
    """Some, where the whole result has none."""
    words = [t for t in clause.tokens if t.text in ("有", "有过", "发生过", "出现过", "存在")]
    if not words or is_from_prose(clause) or clause.has("asked", "none", "not") or not clause.lines:
        return ""
    after = [t for t in clause.tokens if t.at >= words[0].end]
    flags = [t for t in flags_of(clause) if t in after]
    forms = {r.name for t in after if t.is_a is Meant.FORM for r in t.readings}
    forms |= {clause.sheet.design.form_of(n) for t in flags for n in t.names()}
    whole = False
    for form in forms:
        for scope in results_for(clause, form):
            rows = rows_of(clause, scope, form)
            if holding(clause, scope, rows, flags) if flags else rows:
                return ""
            whole = whole or is_whole(scope, clause)
    return "读到的结果里一条也没有" if whole else ""


def _absent_field(clause: Clause, after: list[Token]) -> str:
    names = {n for t in after if t.is_a is Meant.FIELD for n in t.names()}
    if not names:
        return ""
    found = [
        f for f in evidence.facts_of(clause.sheet)
        if f.field in names and f.subject in clause.about.subjects and evidence.is_filled(f)
        and (not clause.about.events or f.event in clause.about.events)
        and (clause.about.rows is None or (f.subject, f.instrument, f.instance) in clause.about.rows)
    ]  # fmt: skip
    return "读到的结果里有这一项" if found else ""

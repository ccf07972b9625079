"""Counts, all, only, none, blanks and states: by the whole result that a line is of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from engines.assistant.lines.types import Line, Scope, Source
from engines.assistant.understand.tokens import Kind as Meant
from engines.assistant.verify import compute, evidence, prose
from engines.assistant.verify.lexer import Kind, Token
from engines.assistant.verify.reading import Clause, events_of, prose_of
from engines.assistant.verify.rules.measured import _is_at, _is_prose, _negated, _numbers, _side
from engines.assistant.verify.whole import is_whole
from language.claims import STATES
from rules.context import Kind as Column
from study.facts import Fact
from study.facts import Kind as Of

_ISO = re.compile(r"20\d\d-\d\d-\d\d")
_LIKE = 0.6
_Row = tuple[str, str, str, int | None]


def _scopes(clause: Clause, form: str = "") -> Iterator[Scope]:
    """The results of the cited lines, else of any line on a form and the subject spoken of."""
    subjects = set(clause.about.subjects)
    for line in clause.lines:
        if line.scope is not None and (not form or _is_on(clause, line.scope, form)):
            yield line.scope
    for line in clause.sheet.lines if form else ():
        fits = (
            line.scope and _is_on(clause, line.scope, form) and subjects <= set(line.scope.subjects)
        )
        if line.scope is not None and fits:
            yield line.scope


def _is_on(clause: Clause, scope: Scope, form: str) -> bool:
    items = [item for item in scope.query.get("select") or () if isinstance(item, str)]
    return any(clause.sheet.design.form_of(item) == form or item == form for item in items)


def _rows(clause: Clause, scope: Scope, form: str = "") -> set[_Row]:
    subjects = set(clause.about.subjects) if clause.about.subjects else None
    facts = evidence.result(clause.sheet, scope)
    return {
        evidence.row_of(f) for f in facts
        if (not form or f.instrument == form) and (subjects is None or f.subject in subjects) and f.subject
    }  # fmt: skip


def _flags(clause: Clause) -> list[Token]:
    """Words for fields that are a yes or a no: SAE."""
    columns = clause.sheet.design.context.columns
    return [
        t for t in clause.tokens
        if t.is_a is Meant.FIELD and any(n in columns and columns[n].kind is Column.FLAG for n in t.names())
    ]  # fmt: skip


def _holding(clause: Clause, rows: Iterable[_Row], tokens: Iterable[Token]) -> set[_Row]:
    """The rows in which each of the choices, or yes of each of the flags, stands."""
    left = set(rows)
    for token in tokens:
        codes = {(r.name, r.code or "1") for r in token.readings}
        left &= {
            evidence.row_of(f)
            for f in evidence.facts_of(clause.sheet)
            if (f.field, str(f.value)) in codes
        }
    return left


def count(clause: Clause) -> str:
    """A number of people or rows that the whole result has not."""
    for said in clause.said:
        token = said.token
        if (
            not compute.is_count(token)
            or token.kind is not Kind.NUMBER
            or said.fits
            or not clause.lines_of(token)
        ):
            continue
        if _is_prose(clause) or (
            compute.is_computed(clause, token) and compute.is_right(clause, token)
        ):
            continue
        if not _counts(clause, token):
            return f"全部结果里不是{token.text}"
    return ""


def _counts(clause: Clause, token: Token) -> bool:
    said = int(token.number or 0)
    cited = {
        (f.event, f.date) for f, _line in clause.evidence.facts if evidence.decimal(f) is not None
    }
    if token.unit == "次" and said == len(cited):
        return True
    if token.unit == "次" and clause.beside(token, "latest"):
        told = [f for line in clause.around for f in line.facts if evidence.decimal(f) is not None]
        return said == 1 or said == len({(f.event, f.date) for f in told})
    qualities = [t for t in clause.tokens if t.is_a is Meant.CHOICE] + _flags(clause)
    forms = {r.name for t in clause.tokens if t.is_a is Meant.FORM for r in t.readings}
    forms |= {clause.sheet.design.form_of(n) for t in _flags(clause) for n in t.names()}
    for scope in _scopes(clause, next(iter(forms), "")):
        rows = _rows(clause, scope, next(iter(forms), ""))
        if qualities:
            rows = _holding(clause, rows, qualities)
        own = len(rows) if rows or qualities or clause.about.subjects else scope.count
        if is_whole(scope, clause) and said in {
            own,
            scope.count
            if not qualities
            and set(scope.subjects) <= set(clause.about.subjects or scope.subjects)
            and not forms
            else own,
        }:
            return True
        people = {row[0] for row in rows}
        if is_whole(scope, clause) and token.unit in "例人名位" and said == len(people) and people:
            return True
    return False


def every(clause: Clause) -> str:
    """All of them, where one is not so or not read."""
    words = [t for t in clause.claims("all") if "everyone" not in t.claims]
    if not words or _is_prose(clause) or not clause.lines or clause.has("self"):
        return ""
    return _every_value(clause) or _every_level(clause) or _every_state(clause)


def _every_value(clause: Clause) -> str:
    fitted = [s for s in clause.said if s.fits]
    for said in fitted:
        fact, misses = said.best or said.fits[0]
        several = len(said.about.subjects) > 1 and not said.about.asked
        if misses or compute.is_count(said.token) or several:
            continue
        if len(said.about.events) > 1:
            if not set(said.about.events) <= {f.event for f, missed in said.fits if not missed}:
                return f"没有引用每次访视的「{said.token.text}」"
        elif len(fitted) == 1 and not all(
            evidence.says(f, said.token, True)
            for f in _population(clause, fact)
            if evidence.is_filled(f)
        ):
            return f"并不都是「{said.token.text}」"
    return ""


def _every_level(clause: Clause) -> str:
    places = clause.about.events if any(t.is_a is Meant.PLACE for t in clause.tokens) else ()
    if len(places) > 1 or sum(bool(s.fits) for s in clause.said) > 1 or _is_listed(clause):
        return ""
    for token in clause.claims("high", "low", "normal"):
        wanted = _side(token, _negated(clause, token) and "normal" not in token.claims)
        told = {evidence.row_of(s.best[0]) for c in clause.before for s in c.said if s.best}
        rest = told if any(w in clause.text for w in ("其余", "其他")) else set()
        for fact in [f for one in _numbers(clause)[:1] for f in _population(clause, one)]:
            if fact.limit and evidence.row_of(fact) not in rest and not _is_at(fact, wanted):
                return f"并不都是「{token.text}」"
    return ""


def _every_state(clause: Clause) -> str:
    windows = [
        f
        for f in evidence.facts_of(clause.sheet)
        if f.field == "@visits.state" and f.subject in clause.about.subjects
    ]
    for token in clause.claims(*STATES):
        if not clause.about.events and any(str(f.value) not in _states(token) for f in windows):
            return f"并不都是「{token.text}」"
    return ""


def every_time(clause: Clause) -> str:
    """A value told of every visit, where a reading is another one."""
    times, words = clause.claims("every_time"), clause.claims("all")
    if not times or not words or _is_prose(clause):
        return ""
    start = max(times[-1].at, min(t.at for t in words if t.at >= times[-1].at or t is words[-1]))
    for said in clause.said:
        fact = said.best[0] if said.best else None
        if fact is None or said.token.at < start or compute.is_count(said.token):
            continue
        series = [f for f in clause.evidence.series(fact, None) if evidence.is_filled(f)]
        if not all(evidence.says(f, said.token, True) for f in series):
            return f"并不每次都是「{said.token.text}」"
    for token in (t for t in clause.tokens if t.kind is Kind.UNIT and t.at > start):
        series = [f for one in _numbers(clause)[:1] for f in clause.evidence.series(one, None)]
        if any(f.unit and not evidence.unit_fits(f, token) for f in series):
            return f"并不每次都是「{token.text}」"
    return ""


def _is_listed(clause: Clause) -> bool:
    """Whether the readings it speaks of are given one by one right before 都."""
    at = next((t.at for t in clause.claims("all")), 0)
    return sum(1 for s in clause.said if s.token.at < at) > 1


def _population(clause: Clause, fact: Fact) -> list[Fact]:
    scope = next((line.scope for f, line in clause.evidence.facts if f is fact), None)
    if len(clause.about.subjects) == 1 and fact.subject:
        return clause.evidence.series(fact, scope)
    return [f for f in evidence.result(clause.sheet, scope) if f.field == fact.field]


def only(clause: Clause) -> str:
    """Only these, where there are others."""
    words = [t for t in clause.claims("only") if t.text != "只是"]
    if not words or _is_prose(clause) or not clause.lines or clause.has("self", "brief"):
        return ""
    level = clause.claims("high", "low", "normal")
    facts = _numbers(clause)
    if level and facts:
        wanted = _side(level[0], _negated(clause, level[0]) and "normal" not in level[0].claims)
        rows = {evidence.row_of(f) for f in facts}
        others = [
            f for f in _population(clause, facts[0]) if evidence.row_of(f) not in rows and f.limit
        ]
        return "不只这一次" if any(_is_at(f, wanted) for f in others) else ""
    named = {r for c in (*clause.before, clause) for r in (c.about.rows or ())}
    if any(t.kind is Kind.ROW for t in clause.tokens) and named:
        form = next(iter(named))[1]
        mine = {
            f
            for f in evidence.facts_of(clause.sheet)
            if f.instrument == form and f.subject in clause.about.subjects
        }
        others_rows = {(f.subject, f.instrument, f.instance) for f in mine} - named
        whole = any(is_whole(s, clause) for s in _scopes(clause, form))
        return "还有别的记录" if others_rows or not whole else ""
    counted = any(compute.is_count(s.token) for s in clause.said)
    if facts and clause.about.events and not counted:
        filled = [f for f in _population(clause, facts[0]) if evidence.is_filled(f)]
        return "还有别的读数" if len(filled) > len({evidence.row_of(f) for f in facts}) else ""
    return ""


def absence(clause: Clause) -> str:
    """None, where there is one, or where not everything was read."""
    words = [t for t in clause.claims("none") if not t.claims & {"blank"}]
    if not words or _is_prose(clause) or clause.has("asked", "blank") or not clause.lines:
        return ""
    after = [t for t in clause.tokens if t.at >= words[0].end]
    forms = {r.name for t in after if t.is_a is Meant.FORM for r in t.readings}
    flags = [t for t in _flags(clause) if t in after]
    choices = [t for t in after if t.is_a is Meant.CHOICE and not t.claims]
    forms |= {clause.sheet.design.form_of(n) for t in (*flags, *choices) for n in t.names()}
    if not forms:
        return _absent_field(clause, after)
    for form in forms:
        for scope in _scopes(clause, form):
            rows = _rows(clause, scope, form)
            held = _holding(clause, rows, [*flags, *choices]) if flags or choices else rows
            if held:
                return f"读到的结果里有{len(held)}条,不是「{words[0].text}」"
            if is_whole(scope, clause):
                return ""
    return f"没有一行引用能支持「{words[0].text}」"


def presence(clause: Clause) -> str:
    """Some, where the whole result has none."""
    words = [t for t in clause.tokens if t.text in ("有", "有过", "发生过", "出现过", "存在")]
    if not words or _is_prose(clause) or clause.has("asked", "none", "not") or not clause.lines:
        return ""
    after = [t for t in clause.tokens if t.at >= words[0].end]
    flags = [t for t in _flags(clause) if t in after]
    forms = {r.name for t in after if t.is_a is Meant.FORM for r in t.readings}
    forms |= {clause.sheet.design.form_of(n) for t in flags for n in t.names()}
    whole = False
    for form in forms:
        for scope in _scopes(clause, form):
            rows = _rows(clause, scope, form)
            if _holding(clause, rows, flags) if flags else rows:
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


def blank(clause: Clause) -> str:
    """Said to be empty, where something stands or nothing was read."""
    words = clause.claims("blank")
    if not words or _is_prose(clause) or not clause.lines:
        return ""
    names = {
        n for t in clause.tokens if t.is_a is Meant.FIELD for n in t.names()
    } or clause.about.names
    for fact, _line in clause.evidence.facts:
        fits = not names or fact.field in names
        at = (
            not clause.about.events
            or fact.event in clause.about.events
            or fact.instance is not None
        )
        own = (
            clause.about.rows is None
            or (fact.subject, fact.instrument, fact.instance) in clause.about.rows
        )
        if fits and at and own and not evidence.is_filled(fact):
            return ""
    if any(line.scope and line.scope.count == 0 and not line.facts for line in clause.lines):
        return ""
    return f"引用的行不支持「{words[0].text}」"


def filled(clause: Clause) -> str:
    """Said to be filled in, where a blank stands."""
    words = clause.claims("filled")
    if not words or _is_prose(clause) or not clause.lines:
        return ""
    facts = [f for f, _line in clause.evidence.facts]
    names = {
        n for t in clause.tokens if t.is_a is Meant.FIELD for n in t.names()
    } or clause.about.names
    told = [f for f in facts if not names or f.field in names]
    every = [f for one in told for f in _population(clause, one)] if clause.has("all") else told
    return (
        "" if told and all(map(evidence.is_filled, every)) else f"引用的行不支持「{words[0].text}」"
    )


def ongoing(clause: Clause) -> str:
    """Still going on, where the row has ended."""
    words = clause.claims("ongoing")
    if not words or _is_prose(clause):
        return ""
    ends = [f for f, _line in clause.evidence.facts if "结束" in f.label and f.instance is not None]
    return f"引用的行已结束，不是「{words[0].text}」" if any(map(evidence.is_filled, ends)) else ""


def _states(token: Token) -> frozenset[str]:
    return frozenset().union(*(states for claim, states in STATES.items() if claim in token.claims))


def _is_state(token: Token, windows: list[Fact]) -> bool:
    """Whether all of some windows are in a state that a word is said of."""
    return bool(windows) and all(str(f.value) in _states(token) for f in windows)


def state(clause: Clause) -> str:
    """A visit done, missed, early or late, where its window says otherwise."""
    visits = set(events_of(clause.sheet).values())
    events = [e for e in clause.about.events if e in visits]
    if not clause.lines or (_is_prose(clause) and clause.lines[0].source is not Source.FACT):
        return ""
    windows = [f for f, _line in clause.evidence.facts if f.field == "@visits.state"]
    if not windows:
        windows = [
            f
            for f in evidence.facts_of(clause.sheet)
            if f.field == "@visits.state" and f.event in events
        ]
    windows = [
        f
        for f in windows
        if (not events or f.event in events)
        and (not clause.about.subjects or f.subject in clause.about.subjects)
    ]
    cited = any(f.kind is Of.WINDOW for f, _line in clause.evidence.facts)
    denied = [t for t in clause.claims(*STATES) if _negated(clause, t)]
    if cited and not clause.has("asked") and any(_is_state(t, windows) for t in denied):
        return f"访视的状态是「{denied[0].text}」"
    for token in clause.claims(*STATES):
        if token in denied or not (events or cited) or clause.has("asked"):
            continue
        if "请" in clause.text[: token.at]:
            continue
        if "done" in token.claims and (
            re.search("最晚|最迟|前|内", clause.text[: token.at]) and not clause.has("in_window")
        ):
            continue
        if token.claims & {"small"} and not cited and "done" not in token.claims:
            continue
        if not windows:
            done = [
                f
                for f in evidence.facts_of(clause.sheet)
                if f.event in events and f.role == "actual" and f.subject in clause.about.subjects
            ]
            if (
                "done" in token.claims
                and events
                and not any(evidence.is_filled(f) for f in done)
                and not _numbers(clause)
            ):
                return f"没有引用能支持「{token.text}」的访视"
            continue
        if not any(str(f.value) in _states(token) for f in windows):
            return f"访视的状态不支持「{token.text}」"
    return ""


def _is_overtaken(clause: Clause, line: Line) -> bool:
    """Whether a line of a later day says the like."""
    own = _day(line)
    return bool(own) and any(
        (day := _day(other)) and day > own and prose.match(clause.text, other.text).share >= _LIKE
        for other in clause.sheet.lines
        if other.source is not Source.FACT
    )


def _day(line: Line) -> str:
    found = _ISO.search(line.text)
    return line.day.isoformat() if line.day else found[0] if found else ""


def current(clause: Clause) -> str:
    """Now, where the sources hold something newer."""
    several = any(s.token.unit == "次" and (s.token.number or 0) > 1 for s in clause.said)
    if not clause.has("now") and (several or not clause.has("latest")):
        return ""
    for line in clause.lines:
        told = (
            clause.has("now")
            and line.source is not Source.FACT
            and any(prose_of(line, clause.sheet))
        )
        if told and (not line.is_newest or _is_overtaken(clause, line)):
            return "这一行已被更新的内容取代"
    for said in clause.said:
        fact = said.best[0] if said.best and not said.best[1] else None
        if (
            fact is None
            or fact.kind is not Of.VALUE
            or not fact.subject
            or fact.instance is not None
        ):
            continue
        filled = [f for f in clause.evidence.series(fact, None) if evidence.is_filled(f)]
        if filled and evidence.row_of(filled[-1]) != evidence.row_of(fact):
            return "有更新的读数"
    return ""

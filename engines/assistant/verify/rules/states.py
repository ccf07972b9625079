"""Blank or filled in, done or not, still so or overtaken: what the rows and the windows say."""

from __future__ import annotations

import re

from engines.assistant.lines.types import Line, Source
from engines.assistant.understand.tokens import Kind as Meant
from engines.assistant.verify import compute, evidence, prose
from engines.assistant.verify.clause import Clause, events_of, prose_of
from engines.assistant.verify.lexer import Kind, Token
from engines.assistant.verify.rules.measured import is_from_prose, is_negated, numbers_of
from engines.assistant.verify.rules.scope import population, states_of
from language.claims import STATES
from study.facts import Fact
from study.facts import Kind as Of

_ISO = re.compile(r"20\d\d-\d\d-\d\d")
_LIKE = 0.6
_DAYS_OFF = ("晚", "晚了", "早", "早了", "已过", "提前", "提前了", "延后", "推迟", "迟", "迟了")
"""Words that, beside a number of days, compare two dates and tell no state."""


def blank(clause: Clause) -> str:
    """Said to be empty, where something stands or nothing was read."""
    words = clause.claims("blank")
    if not words or is_from_prose(clause) or not clause.lines:
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
    if not words or is_from_prose(clause) or not clause.lines:
        return ""
    facts = [f for f, _line in clause.evidence.facts]
    names = {
        n for t in clause.tokens if t.is_a is Meant.FIELD for n in t.names()
    } or clause.about.names
    told = [f for f in facts if not names or f.field in names]
    every = [f for one in told for f in population(clause, one)] if clause.has("all") else told
    return (
        "" if told and all(map(evidence.is_filled, every)) else f"引用的行不支持「{words[0].text}」"
    )


def ongoing(clause: Clause) -> str:
    """Still going on, where the row has ended."""
    words = clause.claims("ongoing")
    if not words or is_from_prose(clause):
        return ""
    ends = [f for f, _line in clause.evidence.facts if "结束" in f.label and f.instance is not None]
    return f"引用的行已结束，不是「{words[0].text}」" if any(map(evidence.is_filled, ends)) else ""


def _is_state(token: Token, windows: list[Fact]) -> bool:
    """Whether all of some windows are in a state that a word is said of."""
    return bool(windows) and all(str(f.value) in states_of(token) for f in windows)


def _is_days_off(clause: Clause, token: Token) -> bool:
    days = [t for t in clause.tokens if t.unit == "天"]
    return token.text in _DAYS_OFF and any(compute.is_right(clause, t) for t in days)


def state(clause: Clause) -> str:
    """A visit done, missed, early or late, where its window says otherwise."""
    visits = set(events_of(clause.sheet).values())
    events = [e for e in clause.about.events if e in visits]
    if not clause.lines or (is_from_prose(clause) and clause.lines[0].source is not Source.FACT):
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
    denied = [t for t in clause.claims(*STATES) if is_negated(clause, t)]
    if cited and not clause.has("asked") and any(_is_state(t, windows) for t in denied):
        return f"访视的状态是「{denied[0].text}」"
    for token in clause.claims(*STATES):
        if token in denied or not (events or cited) or clause.has("asked"):
            continue
        if "请" in clause.text[: token.at] or _is_days_off(clause, token):
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
                and not numbers_of(clause)
            ):
                return f"没有引用能支持「{token.text}」的访视"
            continue
        if not any(str(f.value) in states_of(token) for f in windows) or _is_not_of_all(
            clause, token, windows
        ):
            return f"访视的状态不支持「{token.text}」"
    return ""


def _is_not_of_all(clause: Clause, token: Token, windows: list[Fact]) -> bool:
    """Whether one of several subjects or visits that are named together is in another state."""
    subjects = (
        set() if clause.about.asked else {t.name for t in clause.tokens if t.kind is Kind.SUBJECT}
    )
    places = {e for e in clause.about.events if any(t.is_a is Meant.PLACE for t in clause.tokens)}
    named = [
        [f for f in windows if (f.subject if one in subjects else f.event) == one]
        for group in (subjects, places)
        for one in (group if len(group) > 1 else ())
    ]
    return any(own and not any(str(f.value) in states_of(token) for f in own) for own in named)


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

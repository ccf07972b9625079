"""Counts, all, only, none, blanks and states: by the whole result that a line is of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from engines.assistant.lines.types import Line
from engines.assistant.understand.tokens import Kind as Meant
from engines.assistant.verify import compute, evidence
from engines.assistant.verify.clause import Clause
from engines.assistant.verify.lexer import Kind, Lexer, Token
from engines.assistant.verify.rules.measured import (
    is_at,
    is_from_prose,
    is_negated,
    is_within,
    numbers_of,
    side,
)
from engines.assistant.verify.rules.results import (
    flags_of,
    holding,
    results_for,
    rows_of,
)
from engines.assistant.verify.whole import is_whole
from language.claims import COUNTERS, STATES
from language.folding import folded
from study.facts import Fact

_SEVERAL = 2
_STATE = "@visits.state"


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
        if is_from_prose(clause) or (
            compute.is_computed(clause, token) and compute.is_right(clause, token)
        ):
            continue
        if not _counts(clause, token):
            return f"全部结果里不是{token.text}"
    return ""


def _counts(clause: Clause, token: Token) -> bool:
    said = int(token.number or 0)
    if clause.text[: token.at].rstrip().endswith("/") and _is_target(clause, said):
        return True
    if token.text == "一次" and clause.has("max", "min", "latest"):
        return True
    if clause.has("difference", "equal", "than", "max", "min") and said == len(
        {f.subject for line in clause.around for f in line.facts if f.subject}
    ):
        return True
    cited = {
        (f.event, f.date) for f, _line in clause.evidence.facts if evidence.decimal(f) is not None
    }
    if token.unit == "次" and said == len(cited):
        return True
    if token.unit == "次" and clause.beside(token, "latest"):
        told = [f for line in clause.around for f in line.facts if evidence.decimal(f) is not None]
        return said == 1 or said == len({(f.event, f.date) for f in told})
    if _stands_in_scope(clause, token) or _is_of_named(clause, token):
        return True
    if any(_numerator(fact, line) == said for fact, line in clause.evidence.facts):
        return True
    qualities = [t for t in clause.tokens if t.is_a is Meant.CHOICE] + flags_of(clause)
    forms = {r.name for t in clause.tokens if t.is_a is Meant.FORM for r in t.readings}
    forms |= {clause.sheet.design.form_of(n) for t in flags_of(clause) for n in t.names()}
    for scope in results_for(clause, next(iter(forms), "")):
        rows = rows_of(clause, scope, next(iter(forms), ""))
        if qualities:
            rows = holding(clause, scope, rows, qualities)
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


def _is_target(clause: Clause, said: int) -> bool:
    """27/30: how many are to be enrolled, which the sheet has, cited or not."""
    figures = (f for f in evidence.facts_of(clause.sheet) if f.field == "@project.target")
    return any(evidence.decimal(f) == said for f in figures)


def _stands_in_scope(clause: Clause, token: Token) -> bool:
    """Whether a line on what was read has the number beside a word that stands beside it here."""
    at = clause.text.find(token.text)
    beside = clause.text[max(0, at - 6) : at] + "|" + clause.text[token.end : token.end + 6]
    words = {"".join(pair) for pair in pairwise(beside)}
    number = re.compile(rf"(?<![\d.]){token.number}\s?[{''.join(COUNTERS)}]")
    parts = (
        part for line in clause.lines_of(token) if line.scope and not line.facts
        for part in re.split("[,;:]", folded(line.text))
    )  # fmt: skip
    return any(number.search(part) and any(word in part for word in words) for part in parts)


def _is_of_named(clause: Clause, token: Token) -> bool:
    """P005一例, P003、P010、P011三例, 三位: how many are named right before or behind it."""
    before = [t for t in clause.tokens if t.at < token.at]
    named = {t.name for t in before if t.kind is Kind.SUBJECT}
    return bool(before) and before[-1].kind is Kind.SUBJECT and len(named) == token.number


def _numerator(fact: Fact, line: Line) -> int | None:
    """How many a share is of: 1 of 27."""
    share = evidence.decimal(fact)
    if line.scope is None or line.scope.query.get("aggregate") != "share" or share is None:
        return None
    return round(share * line.scope.count)


def every(clause: Clause) -> str:
    """All of them, where one is not so or not read."""
    words = [t for t in clause.claims("all") if "everyone" not in t.claims]
    if not words or is_from_prose(clause) or not clause.lines or clause.has("self"):
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
            for f in population(clause, fact)
            if evidence.is_filled(f)
        ):
            return f"并不都是「{said.token.text}」"
    return ""


def _every_level(clause: Clause) -> str:
    places = clause.about.events if any(t.is_a is Meant.PLACE for t in clause.tokens) else ()
    if len(places) > 1 or sum(bool(s.fits) for s in clause.said) > 1 or _is_listed(clause):
        return ""
    for token in clause.claims("high", "low", "normal"):
        wanted = side(token, is_negated(clause, token) and "normal" not in token.claims)
        told = {evidence.row_of(s.best[0]) for c in clause.before for s in c.said if s.best}
        rest = told if any(w in clause.text for w in ("其余", "其他")) else set()
        for fact in [f for one in numbers_of(clause)[:1] for f in population(clause, one)]:
            if fact.limit and evidence.row_of(fact) not in rest and not is_at(fact, wanted):
                return f"并不都是「{token.text}」"
    return ""


def _every_state(clause: Clause) -> str:
    cited = [f for f, _line in clause.evidence.facts if f.field == _STATE]
    windows = (
        cited
        if len(cited) > 1
        else [
            f
            for f in evidence.facts_of(clause.sheet)
            if f.field == _STATE and f.subject in clause.about.subjects
        ]
    )
    for token in clause.claims(*STATES):
        if not clause.about.events and any(str(f.value) not in states_of(token) for f in windows):
            return f"并不都是「{token.text}」"
    return ""


def every_time(clause: Clause) -> str:
    """A value told of every visit, where a reading is another one."""
    times, words = clause.claims("every_time"), clause.claims("all")
    if not times or not words or is_from_prose(clause):
        return ""
    start = max(times[-1].at, min(t.at for t in words if t.at >= times[-1].at or t is words[-1]))
    for said in clause.said:
        fact = said.best[0] if said.best else None
        if fact is None or said.token.at < start or compute.is_count(said.token):
            continue
        series = [f for f in clause.evidence.series(fact, None) if evidence.is_filled(f)]
        if len(series) < _SEVERAL or not all(evidence.says(f, said.token, True) for f in series):
            return f"并不每次都是「{said.token.text}」"
    for token in (t for t in clause.tokens if t.kind is Kind.UNIT and t.at > start):
        series = [f for one in numbers_of(clause)[:1] for f in clause.evidence.series(one, None)]
        if any(f.unit and not evidence.unit_fits(f, token) for f in series):
            return f"并不每次都是「{token.text}」"
    return ""


def _is_listed(clause: Clause) -> bool:
    """Whether the readings it speaks of are given one by one right before 都."""
    at = next((t.at for t in clause.claims("all")), 0)
    return sum(1 for s in clause.said if s.token.at < at) > 1


def states_of(token: Token) -> frozenset[str]:
    """The states of a visit that a word is said of."""
    return frozenset().union(*(states for claim, states in STATES.items() if claim in token.claims))


def population(clause: Clause, fact: Fact) -> list[Fact]:
    """All values that a value is one of: of its subject, else of its result."""
    scope = next((line.scope for f, line in clause.evidence.facts if f is fact), None)
    if len(clause.about.subjects) == 1 and fact.subject:
        return clause.evidence.series(fact, scope)
    return [f for f in evidence.result(clause.sheet, scope) if f.field == fact.field]


def only(clause: Clause) -> str:
    """Only these, where there are others."""
    words = [t for t in clause.claims("only") if t.text != "只是" and not _is_merely(clause, t)]
    if not words or is_from_prose(clause) or not clause.lines or clause.has("self", "brief"):
        return ""
    level = clause.claims("high", "low", "normal")
    facts = numbers_of(clause)
    if level and facts:
        wanted = side(level[0], is_negated(clause, level[0]) and "normal" not in level[0].claims)
        rows = {evidence.row_of(f) for f in facts}
        others = [
            f for f in population(clause, facts[0]) if evidence.row_of(f) not in rows and f.limit
        ]
        return "不只这一次" if any(is_at(f, wanted) for f in others) else ""
    named = {r for c in (*clause.before, clause) for r in (c.about.rows or _rows_named(c))}
    if any(t.kind is Kind.ROW for t in clause.tokens) and named:
        form = next(iter(named))[1]
        mine = {
            f
            for f in evidence.facts_of(clause.sheet)
            if f.instrument == form and f.subject in clause.about.subjects
        }
        others_rows = {(f.subject, f.instrument, f.instance) for f in mine} - named
        whole = any(is_whole(s, clause) for s in results_for(clause, form))
        return "还有别的记录" if others_rows or not whole else ""
    if wrong := _only_they(clause, words[0]):
        return wrong
    counted = any(compute.is_count(s.token) for s in clause.said)
    if facts and clause.about.events and not counted:
        filled = [f for f in population(clause, facts[0]) if evidence.is_filled(f)]
        told = next((s for s in clause.said if s.best and not s.best[1]), None)
        if told and clause.tokens.index(told.token) and "评" in clause.text[: told.token.at][-3:]:
            filled = [f for f in filled if evidence.says(f, told.token, True)]
        return "还有别的读数" if len(filled) > len({evidence.row_of(f) for f in facts}) else ""
    return ""


def _only_they(clause: Clause, word: Token) -> str:
    """Only these subjects, where others are in the result."""
    after = [t for t in clause.tokens if t.at > word.at]
    named = {t.name for t in after if t.kind is Kind.SUBJECT}
    if not after or after[0].kind is not Kind.SUBJECT:
        return ""
    scopes = [
        line.scope for line in clause.lines if line.scope and len(line.scope.subjects) > len(named)
    ]
    facts = [f for s in scopes for f in evidence.result(clause.sheet, s) if f.subject]
    states = frozenset().union(*(states_of(t) for t in clause.claims(*STATES)))
    if states and any(f.field == _STATE for f in facts):
        facts = [f for f in facts if f.field == _STATE and str(f.value) in states]
    others = {f.subject for f in facts if is_within(clause, f)} - named
    return "还有别的受试者" if others else ""


def _rows_named(clause: Clause) -> Iterator[tuple[str, str, int | None]]:
    names = {t.name for t in clause.tokens if t.kind is Kind.ROW}
    rows = Lexer(clause.sheet).rows if names else {}
    for subject, form, instance in (row for name in names for row in rows.get(name, ())):
        if subject in clause.about.subjects:
            yield subject, form, instance


def _is_merely(clause: Clause, token: Token) -> bool:
    """仅差0.2: it belittles a figure, and says of nothing that it is alone."""
    at = clause.tokens.index(token)
    return any(t.claims & {"difference", "up", "down"} for t in clause.tokens[at + 1 : at + 2])

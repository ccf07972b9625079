"""Days before and after others, and what was done before or after what."""

from __future__ import annotations

import itertools
from datetime import date

from engines.assistant.verify import evidence
from engines.assistant.verify.clause import Clause
from engines.assistant.verify.lexer import Kind, Token, deeds
from engines.assistant.verify.rules.measured import is_from_prose
from language.claims import ROLES
from language.folding import folded
from study.facts import Role

_THEN = ("之后", "以后", "后", "之前", "以前", "前")


def order(clause: Clause) -> str:
    """One day before or after another, the wrong way round."""
    if wrong := _sooner(clause) or _same_day(clause) or _after_deed(clause):
        return wrong
    token = next(iter(clause.claims("before", "after")), None)
    if token is not None and token.text == "之前" and not is_from_prose(clause):
        left = next((d for c in reversed(clause.before) if (d := _day_at(c, 0, len(c.text)))), None)
        own = [s.token for s in clause.said if s.token.kind is Kind.DAY and s.fits]
        right = own[-1].days[0] if own and own[-1].days else None
        return f"日期不支持「{token.text}」" if left and right and left > right else ""
    if token is None or token.text == "之前" or (is_from_prose(clause)):
        return ""
    left = _day_at(clause, 0, token.at) or next(
        (d for c in reversed(clause.before) if (d := _day_at(c, 0, len(c.text)))), None
    )
    right = _day_at(clause, token.end, len(clause.text), first=True)
    if left is None or right is None:
        return f"没有引用能比较「{token.text}」的两个日期"
    right_way = left < right if "before" in token.claims else left > right
    return "" if right_way else f"日期不支持「{token.text}」"


def _same_day(clause: Clause) -> str:
    """同日, 次日: what it is said of was on the day named last, or the day after it."""
    word = next(iter(clause.claims("same_day", "next_day")), None)
    own = any(t.kind is Kind.DAY for t in clause.tokens)
    before = next((d for c in reversed(clause.before) if (d := _day_at(c, 0, len(c.text)))), None)
    if word is not None and clause.has("aim") and "next_day" not in word.claims:
        return _on_target(clause, word)
    if word is None or own or before is None:
        return ""
    known = deeds(clause.sheet.design)
    roles = [ROLES[c] for t in clause.tokens for c in t.claims if c in ROLES]
    roles += [(t.text,) for t in clause.tokens if t.text.removeprefix("已") in known]
    dated = [(f, d) for f, _line in clause.evidence.facts if (d := evidence.day(f))]
    days = [d for f, d in dated if evidence.role_fits(f, roles)]
    apart = 1 if "next_day" in word.claims else 0
    wrong = bool(days) and not any((d - before).days == apart for d in days)
    return f"日期不支持「{word.text}」" if wrong else ""


def _on_target(clause: Clause, word: Token) -> str:
    """目标日当天: the visits that are named were on their target days."""
    windows = [(f, d) for f, _line in clause.evidence.facts if (d := evidence.day(f)) and f.role]
    for event in clause.about.events:
        days = {f.role: d for f, d in windows if f.event == event}
        if days and days.get(Role.ACTUAL) != days.get(Role.TARGET):
            return f"日期不支持「{word.text}」"
    return ""


def _after_deed(clause: Clause) -> str:
    """首次用药之后开始服用: what is behind happened after the day of what is before, both of cited lines."""
    known = deeds(clause.sheet.design)
    dated = [(f, d) for f, _line in clause.evidence.facts if (d := evidence.day(f))]
    for deed, word in itertools.pairwise(clause.tokens):
        core = deed.text.removesuffix("日期")
        if word.text not in _THEN or core not in known:
            continue
        first = [d for f, d in dated if folded(f.label).startswith(core)]
        roles = [
            ROLES[c] for t in clause.tokens if t.at >= word.end for c in t.claims if c in ROLES
        ]
        then = [
            d
            for f, d in dated
            if evidence.role_fits(f, roles) and not folded(f.label).startswith(core)
        ]
        after = "后" in word.text
        if first and then and not any((d > first[0]) if after else (d < first[0]) for d in then):
            return f"日期不支持「{deed.text}{word.text}」"
    return ""


def _sooner(clause: Clause) -> str:
    """P005先入组, P006后入组: the day of one is before or after those of the others."""
    word = next(iter(clause.claims("sooner", "later")), None)
    named = {t.name for t in clause.tokens if t.kind is Kind.SUBJECT}
    if word is None or len(named) != 1:
        return ""
    dated = [f for line in clause.around for f in line.facts if f.subject and evidence.day(f)]
    mine = [f for f in dated if f.subject in named]
    others = [f for f in dated if f.subject not in named and any(f.label == m.label for m in mine)]
    for own in mine:
        for other in (f for f in others if f.label == own.label):
            a, b = evidence.day(own), evidence.day(other)
            early = "sooner" in word.claims
            if a and b and not (a < b if early else a > b):
                return f"日期不支持「{word.text}」"
    return ""


def _day_at(clause: Clause, start: int, end: int, first: bool = False) -> date | None:
    days = [
        t.days[0] for t in clause.tokens if t.kind is Kind.DAY and t.days and start <= t.at < end
    ]
    if days:
        return days[0] if first else days[-1]
    words = [ROLES[c] for t in clause.tokens if start <= t.at < end for c in t.claims if c in ROLES]
    fits = [
        d
        for f, _line in clause.evidence.facts
        if evidence.role_fits(f, words) and (d := evidence.day(f))
    ]
    return fits[0] if fits else None

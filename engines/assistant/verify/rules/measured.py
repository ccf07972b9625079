"""Limits, levels and arithmetic, by the readings that show them."""

from __future__ import annotations

import re
from decimal import Decimal

from engines.assistant.understand.tokens import Kind as Meant
from engines.assistant.verify import compute, evidence
from engines.assistant.verify.clause import Clause, prose_of
from engines.assistant.verify.lexer import Kind, Token
from language.folding import folded
from study.facts import Fact, Flag

_REACHED = re.compile(
    r"(?:达到|达成|超额|完成|实现)了?[^,，。]{0,2}目标|目标[^,，。]{0,4}(?:达到|达成|实现)"
)
_ENDS = ("以上", "以下", "以内")
_BACK = ("恢复", "降至", "回到")


def numbers_of(clause: Clause) -> list[Fact]:
    """The readings a clause speaks of: those it gives, else all of its lines, else the sentence's last."""
    own = stated_of(clause)
    cited = [f for f, _line in clause.evidence.facts if evidence.decimal(f) is not None]
    if own or cited:
        told = [f for c in clause.before for f in stated_of(c) if f in cited]
        return own or (told if len(cited) > len(clause.lines) else []) or cited
    return next((found for c in reversed(clause.before) if (found := numbers_of(c))), [])


def stated_of(clause: Clause) -> list[Fact]:
    """The readings that a clause gives."""
    fitted = (s.best[0] for s in clause.said if s.best and not s.best[1])
    return [f for f in fitted if evidence.decimal(f) is not None]


def is_negated(clause: Clause, token: Token) -> bool:
    """Whether a not or a none stands right before a word."""
    return clause.beside(token, "not", "none", reach=2)


def is_from_prose(clause: Clause) -> bool:
    """Whether only prose, or nothing, backs a clause."""
    return not clause.lines or (bool(clause.prose) and not clause.evidence.facts)


# --- limits ------------------------------------------------------------------------------------


def limited(clause: Clause, token: Token) -> bool:
    """Whether a number is what readings are held against: their limit, so many times it, or a bound."""
    return token in _limit_numbers(clause) or _is_bound(clause, token) or _is_asked(clause, token)


def _is_asked(clause: Clause, token: Token) -> bool:
    """Whether a result was narrowed to what is over or under a number, as the clause says."""
    conditions = [
        c for ln in clause.lines_of(token) if ln.scope for c in ln.scope.query.get("where") or ()
    ]
    over = {"over": (">", ">="), "under": ("<", "<=")}
    return token.number is not None and any(
        str(c.get("value")) == f"{token.number:f}" and clause.has(word)
        for c in conditions
        for word, ops in over.items()
        if c.get("op") in ops
    )


def _is_bound(clause: Clause, token: Token) -> bool:
    """低于80%, 80%以上: a number at over or under, of the readings' limit, a line of prose or the question."""
    if token.kind is not Kind.NUMBER or token.number is None or is_from_prose(clause):
        return False
    fitted = [s.token for s in clause.said if s.best and not s.best[1]]
    if token in fitted and fitted[0] is not token:
        return False
    at = clause.tokens.index(token)
    ahead = clause.tokens[max(0, at - 2) : at]
    behind = [t for t in clause.tokens[at + 1 : at + 2] if t.text.lstrip("及") in _ENDS]
    words = {"over", "under"}
    if not any(t.claims & words or t.text in ("距", "离") for t in (*ahead, *behind)):
        return False
    limits = {e for f in numbers_of(clause) if f.limit for e in (f.limit.low, f.limit.high) if e}
    told = [line.text for line in clause.around if any(prose_of(line, clause.sheet))]
    stands = rf"(?<![\d.]){re.escape(token.text.rstrip('岁周'))}(?![\d.])"
    texts = (folded(text) for text in (*told, clause.sheet.question))
    facts = numbers_of(clause)
    if not facts or not all(evidence.unit_fits(f, token) for f in facts):
        return False
    if token.number in limits or any(re.search(stands, text) for text in texts):
        return True
    return not (clause.has("limit", "must", "target", "aim") or "标准" in clause.text)


def _limit_numbers(clause: Clause) -> list[Token]:
    if not clause.has("limit"):
        return []
    limits = {
        end for f in numbers_of(clause) if f.limit for end in (f.limit.low, f.limit.high) if end
    }
    times = {t.number for t in clause.tokens if t.unit == "倍" and t.number} | {Decimal(1)}
    ends = {end * n for end in limits for n in times}
    return [
        t
        for t in clause.tokens
        if t.kind is Kind.NUMBER
        and (
            "/" not in t.unit
            or any(not f.unit or evidence.unit_fits(f, t) for f in numbers_of(clause))
        )
        and (t.number in ends or (t.unit == "倍" and limits and clause.has("over", "under")))
    ]


def is_within(clause: Clause, fact: Fact) -> bool:
    """Whether a fact is over or under what a clause names as the bound; True where it names none."""
    value = evidence.decimal(fact)
    words = clause.claims("over", "under")
    strange = [s.token for s in clause.said if not s.fits]
    bounds = [
        t for t in clause.tokens if (limited(clause, t) or t in strange) and t.number is not None
    ]
    if value is None or not words or not bounds:
        return True
    high = fact.limit.high if fact.limit and fact.limit.high else None
    bound = bounds[0].number or Decimal(0)
    end = bound * high if bounds[0].unit == "倍" and high else bound
    return value > end if "over" in words[0].claims else value < end


def limit(clause: Clause) -> str:
    """Over or under a limit, so many times it or another bound, where the readings say otherwise."""
    if not clause.has("over", "under"):
        return ""
    bounds = [t for t in clause.tokens if _is_bound(clause, t)]
    if bounds and not clause.has("limit"):
        return next((wrong for t in bounds if (wrong := _misses_bound(clause, t))), "")
    if not clause.has("limit"):
        return ""
    facts = [f for f in numbers_of(clause) if f.limit and f.limit.high]
    times = next((t.number for t in clause.tokens if t.unit == "倍"), Decimal(1))
    if (
        not facts
        or times is None
        or (is_from_prose(clause) and clause.evidence.lines and not clause.before)
    ):
        return ""
    under = clause.has("under") or clause.has("normal")
    if any(clause.beside(t, "not", reach=1) for t in clause.claims("over", "under")):
        under = not under
    for fact in facts:
        high = fact.limit.high if fact.limit else None
        value, end = evidence.decimal(fact), (high or Decimal(0)) * times
        if value is not None and ((value > end) if under else (value <= end)):
            return f"{fact.text} 与上限 {end} 的比较不对"
    return ""


def _misses_bound(clause: Clause, token: Token) -> str:
    words = clause.claims("over", "under")
    under = any("under" in t.claims for t in words)
    if any(clause.beside(t, "not", reach=1) for t in words):
        under = not under
    bound = token.number or Decimal(0)
    told = [s.best[0] for s in clause.said if s.best and not s.best[1] and s.token is not token]
    facts = [f for f in told if evidence.decimal(f) is not None] or numbers_of(clause)
    if clause.has("all", "every_time") and facts:
        scope = next((ln.scope for f, ln in clause.evidence.facts if f is facts[0]), None)
        facts = [*facts, *clause.evidence.series(facts[0], scope)]
    for fact in facts:
        value = evidence.decimal(fact)
        if value is not None and ((value > bound) if under else (value < bound)):
            return f"{fact.text} 与 {token.text} 的比较不对"
    return ""


def level(clause: Clause) -> str:
    """High, low or normal, where the limits say otherwise or there are none."""
    if is_from_prose(clause):
        return ""
    for token in clause.claims("high", "low", "normal"):
        if token.is_a is Meant.CHOICE and any(s.token is token and s.fits for s in clause.said):
            continue
        if token.claims & {"up"} or (token.claims & {"small"} and token.text == "恢复"):
            continue
        facts = numbers_of(clause)
        if token.text.startswith(_BACK):
            facts = facts[-1:]
        if any(clause.text[max(0, token.at - 2) : token.end] in folded(t) for t in clause.prose):
            continue
        if not facts or any(f.limit is None for f in facts):
            return f"没有参考范围能支持「{token.text}」"
        wanted = side(token, is_negated(clause, token) and "normal" not in token.claims)
        if "normal" in token.claims and clause.beside(token, "not", reach=1):
            wanted = frozenset({Flag.HIGH, Flag.LOW})
        if not all(is_at(fact, wanted) for fact in facts):
            return f"读数不支持「{token.text}」"
    return ""


def side(token: Token, negated: bool) -> frozenset[Flag] | None:
    """The flags one of which is to be there; None: none of them."""
    if "normal" in token.claims:
        return None
    if negated:
        return None
    both = "异常" in token.text or "不正常" in token.text
    if both:
        return frozenset({Flag.HIGH, Flag.LOW})
    return frozenset({Flag.HIGH if "high" in token.claims else Flag.LOW})


def is_at(fact: Fact, wanted: frozenset[Flag] | None) -> bool:
    """Whether a reading has one of the flags; None: neither high nor low."""
    if wanted is None:
        return not fact.flags & {Flag.HIGH, Flag.LOW}
    return bool(fact.flags & wanted)


def reached(clause: Clause) -> str:
    """A target said to be met, where the figures stay below it."""
    if not _REACHED.search(clause.text) or any(t.unit == "%" for t in clause.tokens):
        return ""
    figures = [
        f for c in (*clause.before, clause) for f, _line in c.evidence.facts if not f.subject
    ]
    aims = [v for f in figures if f.field == "@project.target" and (v := evidence.decimal(f))]
    own = [v for f in figures if f.field != "@project.target" and (v := evidence.decimal(f))]
    return "" if aims and own and max(own) >= min(aims) else "还没有达到目标"


def _is_change(clause: Clause, token: Token) -> bool:
    """Whether a number stands right behind a word of change: 减少151."""
    at = clause.tokens.index(token)
    word = clause.tokens[at - 1] if at else token
    return (
        bool(word.claims & {"up", "down"})
        and len(word.text) > 1
        and "high" not in word.claims
        and not clause.is_reached(token)
    )


def arithmetic(clause: Clause) -> str:
    """A figure that the operation its words name does not give."""
    for said in clause.said:
        token = said.token
        if (
            token.kind is not Kind.NUMBER
            or (said.fits and not _is_change(clause, token))
            or not clause.lines_of(token)
            or limited(clause, token)
        ):
            continue
        if (
            not compute.is_computed(clause, token)
            or compute.is_count(token)
            or is_from_prose(clause)
        ):
            continue
        if any(token.text in folded(text) for text in clause.prose):
            continue
        if not compute.is_right(clause, token):
            return f"按引用的行重算得不出「{token.text}」"
    return ""

"""Prose: one cited line says it whole, with figures, negation and modality; facts leave no word over."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from engines.assistant.lines.types import Source
from engines.assistant.understand.tokens import Kind as Meant
from engines.assistant.verify import evidence, prose
from engines.assistant.verify.clause import Clause
from engines.assistant.verify.lexer import Kind, Token
from engines.assistant.verify.prose import Match
from engines.assistant.verify.rules.conduct import is_bare, is_not_found, is_refusal
from engines.assistant.verify.rules.measured import limited
from language.claims import CLAIMS, COPULAS, COUNTERS, OPPOSITES, PARTS
from language.denials import is_denied
from language.folding import folded
from language.numerals import number
from rules.context import Kind as Column
from study.facts import Fact

ENOUGH = 0.6
"""Share of a clause that one line must hold."""
_GAP = 2
_LISTED = re.compile(r"(?<![\d.])\d+\.(?!\d)")
HALF = 0.5
_WHOLE = 0.8
_EMPTY = (frozenset({"small"}), frozenset({"self"}), frozenset({"cause"}))
_NEUTRAL = frozenset({"related", "record", "every_time", "further", "ended", "left_open"})
_LIGHT = frozenset(
    {"small", "actual", "done", "share", "asked", "sampled", "latest", "start", "verdict", "self"}
)
"""What words claim that prose need not have where it says the rest."""
_DONE_OR_NOT = ("已", "未", "无", "不", "没", "非")
_DIGITS = frozenset("0123456789个")


def told_of(clause: Clause) -> str:
    """The words of a clause that prose must hold: what facts bear out is left away."""
    done = {id(s.token) for s in clause.said if s.best and not s.best[1]}
    subjects = {folded(f.subject) for f, _line in clause.evidence.facts}
    told, texts = clause.text, [folded(text) for text in clause.prose]
    for token in clause.tokens:
        known = token.kind is Kind.ROW or (
            token.kind is Kind.SUBJECT and (token.text in subjects or _general(clause))
        )
        empty = CLAIMS.get(token.text, token.claims) - _NEUTRAL in _EMPTY and (
            len(token.text) > 1 or "cause" in token.claims
        )
        empty = empty or (_may_lack(token) and not any(token.text in text for text in texts))
        empty = (
            empty
            or token.claims == {"asked", "small"}
            or _is_week(token, clause)
            or _is_list_size(token, clause)
        )
        label = clause.evidence.facts and token.is_a in (
            Meant.FIELD,
            Meant.PLACE,
            Meant.FORM,
            Meant.SITE,
        )
        measured = told[token.at - 1 : token.at] in _DIGITS and token.at
        if (
            id(token) in done
            or known
            or (empty and not measured)
            or (label and _in_labels(clause, token))
        ):
            told = told[: token.at] + " " * len(token.text) + told[token.end :]
    return told


def _may_lack(token: Token) -> bool:
    """Whether a line need not have a word: it claims nothing that hangs on it."""
    return len(token.text) > 1 and "small" in token.claims and token.claims <= _LIGHT


def _is_week(token: Token, clause: Clause) -> bool:
    """Whether it only says which week's report is cited."""
    week = re.fullmatch(r"(?:第(\w+)周|w(\d+))", token.text)
    value = number(week[1] or week[2]) if week else None
    return value is not None and any(line.section == f"W{value}" for line in clause.lines)


def _is_list_size(token: Token, clause: Clause) -> bool:
    """Whether a number is how many items a list of the line has."""
    sizes = {len(_LISTED.findall(text)) for text in clause.prose} - {0}
    return token.unit in COUNTERS and token.number is not None and int(token.number) in sizes


def _general(clause: Clause) -> bool:
    return all(line.source is Source.DOCUMENT for line in clause.lines)


def _in_labels(clause: Clause, token: Token) -> bool:
    return token.text in _labels(clause)


def _labels(clause: Clause) -> str:
    return " ".join(
        folded(f"{f.label} {f.text if not evidence.decimal(f) else ''}")
        for f, _line in clause.evidence.facts
        if not (_is_no(f, clause) and not clause.has("not", "none"))
        and (
            f.instance is None
            or not clause.about.rows
            or (f.subject, f.instrument, f.instance) in clause.about.rows
        )
    )


def _is_no(fact: Fact, clause: Clause) -> bool:
    """Whether a yes or no says no: what it is of is not so."""
    column = clause.sheet.design.context.columns.get(fact.field)
    return column is not None and column.kind is Column.FLAG and str(fact.value) == "0"


def _needs_prose(clause: Clause) -> bool:
    """Whether prose stands for something in it: not where it claims nothing, or facts bear it out alone."""
    if (
        not clause.lines
        or not clause.prose
        or (clause.has("brief", "detailed") and _is_style(clause))
    ):
        return False
    if clause.evidence.facts and not _left(clause):
        return False
    if (
        any(t.claims & {"deed"} and t.is_a is None for t in clause.tokens)
        and not clause.evidence.facts
    ):
        return bool(prose.items(told_of(clause)))
    harmless = {"small"} | (
        {"over", "under", "limit"} if any(limited(clause, t) for t in clause.tokens) else set()
    )
    if all(t.claims & harmless or limited(clause, t) for t in clause.tokens):
        return False
    return bool(prose.items(told_of(clause)))


def _left(clause: Clause) -> list[Token]:
    """Words that neither facts nor the rules on claims answer for."""
    return [t for t in clause.tokens if _is_left(t)]


def _is_left(token: Token) -> bool:
    if token.kind in (Kind.LEFT, Kind.QUOTE):
        return True
    return (
        token.is_a is None
        and "small" not in token.claims
        and bool(token.claims & {"treat", "cause", "deed"})
    )


def matches(clause: Clause) -> list[Match]:
    """How it lies in the line that holds most of it; a condition goes with what follows from it."""
    if not _needs_prose(clause):
        return []
    told, before = told_of(clause), clause.before[-1] if clause.before else None
    if (
        before
        and _is_condition(before)
        and before.lines == clause.lines
        and clause.has("treat", "must", "may", "forbid")
    ):
        told = f"{told_of(before)},{told}"
    parts = told.split("、") if told.count("、") > 1 else [told]
    wanted = clause.claims("treat")
    held = [x for x in clause.prose if all(_holds_treatment(x, t) for t in wanted)]
    texts = held or clause.prose
    best = max(texts, key=lambda text: sum(prose.match(part, text).share for part in parts))
    found = [prose.match(part, best) for part in parts if prose.items(part)]
    return [
        one
        if _is_held(one, False)
        else max((prose.match(part, text) for text in texts), key=lambda m: m.share)
        for one, part in zip(found, (p for p in parts if prose.items(p)), strict=True)
    ]


def _is_condition(clause: Clause) -> bool:
    return clause.has("over", "under") and not clause.has("treat", "must", "may", "forbid")


def unsaid(clause: Clause) -> str:
    """Words that no cited line has; a bare no is judged by what follows it."""
    if is_refusal(clause) or is_not_found(clause) or (clause.next and is_bare(clause.tokens)):
        return ""
    if clause.has("brief", "detailed") and _is_style(clause):
        return _wish(clause)
    if wrong := _opposed(clause):
        return wrong
    found = matches(clause)
    if found:
        if not all(
            any(_holds_treatment(text, t) for text in clause.prose) for t in clause.claims("treat")
        ):
            return f"引用的行不是「{clause.text}」"
        if wrong := _strange(clause) or _wider(clause) or _turned(clause):
            return wrong
        held = all(_is_held(match, clause.is_lent) for match in found) or is_spoken(clause)
        return "" if held or _in_parts(clause) else f"引用的行没有说「{clause.text}」"
    if not clause.lines or (clause.prose and not _left(clause)):
        return ""
    labels = _labels(clause) + " ".join(
        folded(line.text) for line in clause.lines if not line.facts
    )
    fields = any(t.is_a is Meant.FIELD for t in clause.tokens)
    borne = not fields or any(s.best and not s.best[1] for s in clause.said)
    for token in _left(clause):
        own_rule = token.kind is Kind.QUOTE or bool(token.claims & {"treat", "cause", "deed"})
        own_rule = own_rule or (borne and _is_filler(clause, token))
        around = clause.text[max(0, token.at - 1) : token.end]
        if not own_rule and not _holds(labels, token.text) and not _holds(labels, around):
            return f"引用的行没有说「{token.text}」"
    return ""


_EVERY = ("所有", "全部", "任何", "一律", "每")


def _strange(clause: Clause) -> str:
    """A word that no source has: an invention."""
    told = frozenset(
        pair
        for line in clause.sheet.lines
        for pair in pairwise(prose.plain(f"{line.section} {line.text}"))
    )
    for token in clause.tokens:
        text = prose.plain(token.text) if token.kind is Kind.LEFT else ""
        held = [
            any(p in told for p in pairwise(text[max(0, n - 1) : n + 2])) for n in range(len(text))
        ]
        if any(not (one or other) for one, other in pairwise(held)):
            return f"引用的行没有说「{token.text}」"
    return ""


def _wider(clause: Clause) -> str:
    """All, where no line says so."""
    word = next((w for w in _EVERY[:2] if w in clause.text), "")
    held = any(w in text for text in clause.prose for w in (*_EVERY, "各", "均", "都"))
    return f"引用的行没有说「{word}」" if word and not held else ""


def _turned(clause: Clause) -> str:
    """More, where the lines only speak of less, or the other way round."""
    for one, other in (("up", "down"), ("down", "up")):
        words = [t for t in clause.claims(one) if t.is_a is None]
        if words and not _speaks(clause.prose, one) and _speaks(clause.prose, other):
            return f"引用的行没有说「{words[0].text}」"
    return ""


def _opposed(clause: Clause) -> str:
    """恢复, where the lines only speak of 暂停."""
    told = " ".join((*clause.prose, *(f.text for f, _line in clause.evidence.facts)))
    return next(
        (
            f"引用的行没有说「{one}」"
            for pair in OPPOSITES
            for one, other in (pair, pair[::-1])
            if one in clause.text and one not in told and other in told and other not in clause.text
        ),
        "",
    )


def _speaks(texts: Sequence[str], direction: str) -> bool:
    return any(w in folded(t) for t in texts for w, claims in CLAIMS.items() if direction in claims)


def _is_held(found: Match, strictly: bool) -> bool:
    """`strictly`: the model did not name the line itself."""
    if any(i.kind == "latin" for i in found.missing) or found.is_torn:
        return False
    if strictly:
        return found.longest_gap < _GAP and found.share >= _WHOLE
    return found.longest_gap <= _GAP and found.share >= ENOUGH


def is_spoken(clause: Clause) -> bool:
    """Whether a line says it in another order, where nothing hangs on the order."""
    if clause.has("treat", "action", "cause", "over", "under", "before", "after") or clause.is_lent:
        return False
    told = told_of(clause)
    if clause.has("now"):
        return False
    if clause.has("must", "may", "forbid") and any(i.kind == "number" for i in prose.items(told)):
        return False
    return any(prose.speaks_of(told, text) >= _WHOLE for text in clause.prose)


def _in_parts(clause: Clause) -> bool:
    """X 是 Y where the line says Y, 例如 X: each part by itself, where nothing turns the sense."""
    told = told_of(clause)
    if any(i.kind in ("strong", "number") for i in prose.items(told)) or clause.has(
        "treat", "cause"
    ):
        return False
    parts = [part for part in PARTS.split(told) if prose.items(part)]

    def held(part: str, text: str) -> bool:
        return prose.match(part, text).share >= _WHOLE

    if not any(word in clause.text for word in COPULAS) and len(parts) > 1:
        return all(any(held(part, text) for text in clause.prose) for part in parts)
    return len(parts) > 1 and any(all(held(part, text) for part in parts) for text in clause.prose)


def _holds_treatment(text: str, token: Token) -> bool:
    return prose.plain(token.text) in prose.plain(text)


def _is_filler(clause: Clause, token: Token) -> bool:
    """Whether one character beside what facts bear out says nothing more; behind a figure it is a unit."""
    behind = any(
        t.kind is Kind.NUMBER
        and t.end <= token.at
        and not clause.text[t.end : token.at].strip(" °")
        for t in clause.tokens
    )
    turned = clause.has("self", "recommend", "may", "must", "cause", "asked")
    turned = turned or clause.text[: token.at].endswith(_DONE_OR_NOT)
    turned = turned or clause.beside(token, "not", "none")
    return len(token.text) == 1 and not behind and not turned


def _holds(text: str, word: str) -> bool:
    return len(word) > 1 and word in text


def _is_style(clause: Clause) -> bool:
    """Whether it tells how the reader wants to be answered, from what is remembered."""
    return any(line.source is Source.MEMORY for line in clause.lines)


def _wish(clause: Clause) -> str:
    wanted = _stance(clause.text)
    own = [s for line in clause.lines if (s := _stance(folded(line.text)))]
    return "" if wanted and wanted in own else "这不是记下的偏好"


@lru_cache(maxsize=256)
def _stance(text: str) -> str:
    """brief or detailed; a denied detail is brief."""
    found = set()
    for word, claims in CLAIMS.items():
        at = text.find(word)
        if at < 0 or not claims & {"brief", "detailed"}:
            continue
        denied = is_denied(text, at, 7)
        found.add("brief" if ("brief" in claims) != denied else "detailed")
    return found.pop() if len(found) == 1 else ""

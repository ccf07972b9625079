"""Prose: one cited line says it whole, with figures, negation and modality; facts leave no word over."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from engines.assistant.lines.types import Source
from engines.assistant.understand.tokens import Kind as Meant
from engines.assistant.verify import evidence, prose
from engines.assistant.verify.clause import Clause
from engines.assistant.verify.lexer import Kind, Token
from engines.assistant.verify.prose import MODAL, Match
from engines.assistant.verify.rules.conduct import is_bare, is_refusal
from engines.assistant.verify.rules.measured import limited
from language.claims import CLAIMS, COPULAS, COUNTERS, OPPOSITES, PARTS
from language.denials import is_denied
from language.folding import folded
from language.numerals import number

ENOUGH = 0.6
"""Share of a clause that one line must hold."""
_GAP = 2
_ONE = ("1次", "1个", "1名", "1例")
"""Where a line has no number, one of it may be spoken of."""
_LISTED = re.compile(r"(?<![\d.])\d+\. ")
HALF = 0.5
_WHOLE = 0.8
_EMPTY = (frozenset({"small"}), frozenset({"self"}), frozenset({"cause"}))
_NEUTRAL = frozenset({"related", "record", "every_time", "further", "ended", "left_open"})
_DONE_OR_NOT = ("已", "未", "无", "不", "没", "非")
_DIGITS = frozenset("0123456789个")


def told_of(clause: Clause) -> str:
    """The words of a clause that prose must hold: what facts bear out is left away."""
    done = {id(s.token) for s in clause.said if s.best and not s.best[1]}
    subjects = {folded(f.subject) for f, _line in clause.evidence.facts}
    told = clause.text
    for token in clause.tokens:
        known = token.kind is Kind.ROW or (
            token.kind is Kind.SUBJECT and (token.text in subjects or _general(clause))
        )
        empty = CLAIMS.get(token.text, token.claims) - _NEUTRAL in _EMPTY and (
            len(token.text) > 1 or "cause" in token.claims
        )
        empty = empty or _is_week(token, clause) or _is_list_size(token, clause)
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
    )


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
    best = max(
        held or clause.prose, key=lambda text: sum(prose.match(part, text).share for part in parts)
    )
    return [prose.match(part, best) for part in parts if prose.items(part)]


def _is_condition(clause: Clause) -> bool:
    return clause.has("over", "under") and not clause.has("treat", "must", "may", "forbid")


def unsaid(clause: Clause) -> str:
    """Words that no cited line has; a bare no is judged by what follows it."""
    if is_refusal(clause) or (clause.next and is_bare(clause.tokens)):
        return ""
    if clause.has("brief", "detailed") and _is_style(clause):
        return _wish(clause)
    found = matches(clause)
    if found:
        if not all(
            any(_holds_treatment(text, t) for text in clause.prose) for t in clause.claims("treat")
        ):
            return f"引用的行不是「{clause.text}」"
        if wrong := _wider(clause) or _turned(clause) or _opposed(clause):
            return wrong
        held = all(_is_held(match, clause.is_lent) for match in found)
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
    told = " ".join(clause.prose)
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


def figure(clause: Clause) -> str:
    """A figure torn from another place of the line, or that it has not."""
    return next(filter(None, (_torn(clause, found) for found in matches(clause))), "")


def _torn(clause: Clause, found: Match) -> str:
    for item in found.missing:
        if item.text in _ONE:
            continue
        if item.kind in ("number", "day", "each"):
            return f"引用的行没有这样说「{item.text}」"
        if item.kind == "strong" and item.text in ("over", "under"):
            return "引用的行不是这样比较的"
    treatments = "".join(i.text for i in found.skipped if i.kind == "char")
    if clause.has("action") and any("action" in CLAIMS[w] and w in treatments for w in CLAIMS):
        return "中间跳过了另一种处理"
    figures = clause.has("action") or any(i.kind == "number" for i in found.said)
    between = re.search("至|到|~|之间|-", clause.text) is not None
    bounds = ("over", "under")
    if figures and any(
        (i.kind == "number" and not (i.is_old or i.is_aside)) or (i.text in bounds and not between)
        for i in found.skipped
    ):
        return "数字不是引用的行里这件事的"
    if clause.has("now") and any(i.is_old for i in found.taken):
        return "这是变更之前的数字"
    return ""


def negation(clause: Clause) -> str:
    """A not that the line has not, or that was dropped."""
    open_still = clause.has("left_open")
    if (
        not open_still
        and matches(clause)
        and all(prose.contradicts(told_of(clause), x) for x in clause.prose)
    ):
        return "引用的行没有这样肯定或否定"
    for found in matches(clause):
        if any(i.text == "not" and i.kind == "strong" for i in found.missing):
            return "引用的行没有否定"
        # What a clause denies as a list the line may deny one by one: 不要写A或B, 不要写A,也不要写B.
        kept = any(i.text == "not" and i.kind == "strong" for i in found.taken)
        if not kept and any(i.text == "not" and i.kind == "strong" for i in found.skipped):
            return "引用的行是否定的"
        if any(_is_denied(_run(found), text) for text in clause.prose):
            return "引用的行是否定的"
    return ""


def _run(found: Match) -> str:
    """What was not found of a clause that denies nothing, as characters."""
    denies = any(i.kind == "strong" and i.text in ("not", "forbid", "need_not") for i in found.said)
    return "" if denies else "".join(i.text for i in found.missing if i.kind == "char")


def _is_denied(word: str, text: str) -> bool:
    told = prose.plain(text)
    at = told.find(word) if word else -1
    return at > 0 and is_denied(told, at, 1)


def modality(clause: Clause) -> str:
    """Must for may, may for must not."""
    if is_refusal(clause):
        return ""
    return next(filter(None, map(_other_mode, matches(clause))), "")


def _other_mode(found: Match) -> str:
    said = {i.text for i in found.said if i.kind == "strong" and i.text in MODAL}
    kept = {i.text for i in found.taken if i.kind == "strong"}
    inside = {i.text for i in found.skipped if i.kind == "strong" and i.text in MODAL}
    passed = (
        inside
        | set(found.lead)
        | {i.text for i in found.around if i.kind == "strong" and i.text in MODAL}
    )
    if any(one not in passed and (one != "must" or passed) for one in said - kept):
        return "引用的行不是这个要求（必须、可以、不得、不需要）"
    if any(i.text == "否" for i in found.skipped) and not any(i.text == "否" for i in found.said):
        return "引用的行没有定下来"
    if (inside - said) & {"forbid", "need_not", "may"}:
        return "引用的行还说了可以、不得或不需要"
    return ""

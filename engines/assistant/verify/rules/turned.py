"""Prose told otherwise: a figure torn from another place, a not dropped or added, may for must."""

from __future__ import annotations

from engines.assistant.verify import prose
from engines.assistant.verify.clause import Clause
from engines.assistant.verify.lexer import is_prose
from engines.assistant.verify.prose import MODAL, Match
from engines.assistant.verify.rules.conduct import is_refusal
from engines.assistant.verify.rules.wording import is_spoken, matches, told_of
from language.answer_forms import RANGE
from language.claims import CLAIMS
from language.denials import denies, is_denied, only_denies
from language.folding import folded

_SHORT = 3
_ONE = ("1次", "1个", "1名", "1例")
"""Where a line has no number, one of it may be spoken of."""


def figure(clause: Clause) -> str:
    """A figure torn from another place of the line, or that it has not."""
    return (
        ""
        if is_spoken(clause)
        else next(filter(None, (_torn(clause, m) for m in matches(clause))), "")
    )


def _torn(clause: Clause, found: Match) -> str:
    for item in found.missing:
        if item.text in _ONE and not _counts_so(found, item.text[1:]):
            continue
        if item.kind in ("number", "day", "each"):
            return f"引用的行没有这样说「{item.text}」"
        if item.kind == "strong" and item.text in ("over", "under"):
            return "引用的行不是这样比较的"
    treatments = "".join(i.text for i in found.skipped if i.kind == "char")
    if clause.has("action") and any("action" in CLAIMS[w] and w in treatments for w in CLAIMS):
        return "中间跳过了另一种处理"
    figures = clause.has("action") or any(i.kind == "number" for i in found.said)
    between = RANGE.search(clause.text) is not None
    bounds = ("over", "under")
    if figures and any(
        (i.kind == "number" and not (i.is_old or i.is_aside)) or (i.text in bounds and not between)
        for i in found.skipped
    ):
        return "数字不是引用的行里这件事的"
    if clause.has("now") and any(i.is_old for i in found.taken):
        return "这是变更之前的数字"
    return ""


def _counts_so(found: Match, unit: str) -> bool:
    """Whether the line has another number of these there."""
    told = (i for i in (*found.skipped, *found.around) if i.kind == "number")
    return any(item.text.endswith(unit) for item in told)


def _of_denied(clause: Clause) -> str:
    """What somebody noted only to deny it, told as being so."""
    if (
        clause.has("not", "none", "no", "blank", "asked")
        or only_denies(clause.text)
        or "否认" in clause.text
    ):
        return ""
    texts = [folded(f.text) for f, _line in clause.evidence.facts if is_prose(f, clause.sheet)]
    for token in clause.tokens:
        own = [text for text in texts if token.text in text] if len(token.text) > _SHORT else []
        if own and all(denies(text, token.text) for text in own):
            return f"引用的行否认「{token.text}」"
    return ""


def negation(clause: Clause) -> str:
    """A not that the line has not, or that was dropped."""
    if wrong := _of_denied(clause):
        return wrong
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
        passed = (i for i in found.skipped if i.kind == "strong" and not i.is_aside)
        if not kept and any(i.text == "not" for i in passed):
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

"""Causes, verdicts and deeds: one cited line says them whole."""

from __future__ import annotations

import re

from engines.assistant.lines.types import Source
from engines.assistant.understand.tokens import Kind as Meant
from engines.assistant.verify import evidence, prose
from engines.assistant.verify.clause import Clause, prose_of
from engines.assistant.verify.lexer import Kind
from engines.assistant.verify.rules.wording import ENOUGH, HALF, matches, told_of
from language.claims import COUNTERS
from language.folding import folded

_REASON = re.compile(r"(?:原因|理由)\s*(?:是|为|在于|系|:)")


def cause(clause: Clause) -> str:
    """A cause that no one line gives together with what came of it."""
    why = clause.has("cause") or _REASON.search(clause.text)
    if not why or not clause.lines or clause.has("asked"):
        return ""
    told = told_of(clause)
    for line in clause.lines:
        for fact in line.facts:
            reason = any(word in fact.label for word in ("原因", "理由", "指征"))
            long = len(fact.text) > 20
            if (reason or long) and prose.match(told, f"{fact.label}: {fact.text}").share >= HALF:
                return ""
    others = [c for c in clause.before if c.lines and prose.items(told_of(c))]
    named = any(t.kind is Kind.SUBJECT for c in (*clause.before, clause) for t in c.tokens)
    texts = [
        t
        for c in (*others, clause)
        for line in c.lines
        if line.source is not Source.FACT and not (named and line.source is Source.DOCUMENT)
        for t in prose_of(line, clause.sheet)
    ]
    for text in texts:
        if prose.match(told, text).share >= HALF and all(
            prose.match(told_of(c), text).share >= HALF for c in others[-1:] if c.prose
        ):
            return ""
    return "没有一行引用同时说了原因和结果"


def verdict(clause: Clause) -> str:
    """A verdict that only prose can give: meets the criteria, denies, gets worse."""
    words = clause.claims("verdict")
    found = matches(clause)
    held = found and all(match.share >= ENOUGH for match in found)
    return (
        f"没有一行引用说「{words[0].text}」"
        if words and clause.lines and not held and len(clause.tokens) > 1
        else ""
    )


def deed(clause: Clause) -> str:
    """Something done by anybody that no cited line tells."""
    words = clause.claims("deed")
    counted = any(s.token.unit in COUNTERS and s.token.number for s in clause.said)
    if counted and any(line.scope for line in clause.lines):
        return ""
    if not words or not clause.lines or clause.has("recommend", "asked") or "请" in clause.text:
        return ""
    found = matches(clause)
    if found and all(match.share >= ENOUGH for match in found):
        return ""
    for token in words:
        if token.is_a is Meant.FIELD or clause.has("blank"):
            continue
        core = token.text.removeprefix("已").removesuffix("了")
        filled = [
            f
            for f, _line in clause.evidence.facts
            if core in folded(f.label) and evidence.is_filled(f)
        ]
        if not filled:
            return f"没有一行引用说「{token.text}」"
    return ""

"""Who and what is named: its own line is cited, and what is told as done or not done stands there so."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engines.assistant.understand.tokens import Kind as Meant
from engines.assistant.verify import evidence
from engines.assistant.verify.clause import Clause
from engines.assistant.verify.lexer import Kind, Token, deeds
from language.claims import ROLES
from language.folding import folded
from rules.context import Kind as Column
from study.facts import Fact
from study.facts import Kind as Of

_IS = ("属于", "属", "为", "是")
_RELATED = ("有关", "无关")


def whose(clause: Clause) -> str:
    """A subject or row that is named, where the lines at its name are all of others."""
    asked = folded(clause.sheet.question)
    bare = all(t.kind is Kind.SUBJECT or "small" in t.claims for t in clause.tokens)
    for token in clause.tokens:
        lines = clause.lines_of(token)
        if token.is_a is Meant.SITE and _is_of_other_site(clause, token):
            return f"引用的行不是{token.text}的"
        told = lines or clause.around
        listed = bare and token.kind is Kind.SUBJECT and folded(token.name) not in asked
        if listed and told and not any(folded(token.name) in folded(line.text) for line in told):
            return f"引用的行里没有{token.text}"
        facts = [fact for line in lines for fact in line.facts]
        if not facts or not all(line.facts for line in lines):
            continue
        if token.kind is Kind.SUBJECT and all(f.subject not in ("", token.name) for f in facts):
            return f"引用的行不是{token.text}的"
        if token.kind is Kind.ROW and not token.name.isdecimal():
            rows = clause.about.rows or frozenset()
            mine = {row for row in _rows(clause, token) if row in rows} or _rows(clause, token)
            if mine and all(
                f.instance is not None and (f.subject, f.instrument, f.instance) not in mine
                for f in facts
            ):
                return f"引用的行不是「{token.text}」的"
    return ""


def _is_of_other_site(clause: Clause, token: Token) -> bool:
    """Whether all figures that are cited are of sites that are not this one."""
    sites = clause.sheet.sites
    labels = [folded(f.label) for f, _line in clause.evidence.facts if not f.subject]
    of = [{c for c in sites if folded(c) in label} for label in labels]
    return bool(of) and all(own and not own & token.names() for own in of)


def _rows(clause: Clause, token: Token) -> set[tuple[str, str, int | None]]:
    name = token.name
    return {
        (f.subject, f.instrument, f.instance)
        for f in evidence.facts_of(clause.sheet)
        if f.instance is not None
        and name in (folded(f.text), re.sub(r"\([^()]*\)", "", folded(f.text)))
    }


def flagged(clause: Clause) -> str:
    """A value told of an SAE that is of a row which is none."""
    columns = clause.sheet.design.context.columns
    for token in clause.tokens:
        names = {n for n in token.names() if n in columns and columns[n].kind is Column.FLAG}
        if token.is_a is not Meant.FIELD or not names or clause.beside(token, "not", "none"):
            continue
        for said in clause.said:
            fact = said.best[0] if said.best else None
            if fact is None or fact.instance is None or said.token.at < token.at:
                continue
            row = evidence.Evidence(clause.sheet, clause.lines).row(fact)
            if any(f.field in names and str(f.value) == "0" for f in row):
                return f"「{said.token.text}」不是{token.text}的"
    return ""


def happened(clause: Clause) -> str:
    """Done, where its day is not cited; not done, where its day or state is."""
    facts = [f for f, _line in clause.evidence.facts]
    if not facts or clause.has("asked"):
        return ""
    if wrong := _still_blank(clause, facts):
        return wrong
    known = deeds(clause.sheet.design)
    for at, token in enumerate(clause.tokens):
        before = clause.tokens[at - 1].text if at else ""
        core = token.text.removeprefix("已")
        if core in known or token.claims & {"dosed", "enrolled"}:
            denied = clause.beside(token, "not", "none", reach=1)
            done = token.text != core or before in ("已", "已经")
            held = any(_held(core, clause))
            if (denied and held) or (done and not denied and not held and _is_person(facts)):
                return f"引用的行不支持「{before if denied else ''}{token.text}」"
        if token.claims & {"undone"} and any(
            f.text and isinstance(f.value, str) and token.text.endswith(folded(f.text))
            for f in facts
        ):
            return f"引用的行不支持「{token.text}」"
    return ""


def _still_blank(clause: Clause, facts: list[Fact]) -> str:
    """Reported, ended or signed, where a cited row has no day of it."""
    if clause.has("not", "none", "blank", "ongoing", "left_open", "must", "recommend"):
        return ""
    rows, subjects = clause.about.rows, clause.about.subjects
    for fact in facts:
        own = (fact.subject, fact.instrument, fact.instance)
        mine = own in rows if rows is not None else not subjects or fact.subject in subjects
        if fact.kind is Of.BLANK and fact.instance is not None and mine:
            for token in clause.tokens:
                roles = [
                    ROLES[c] for c in token.claims & ROLES.keys() - {"start", "actual", "open"}
                ]
                if len(token.text) > 1 and evidence.role_fits(fact, roles) and "日期" in fact.label:
                    return f"引用的行里「{fact.label}」未填写"
    return ""


def _is_person(facts: list[Fact]) -> bool:
    return all(f.subject and f.instance is None for f in facts)


def _held(core: str, clause: Clause) -> Iterator[bool]:
    for fact, line in clause.evidence.facts:
        label = folded(fact.label if fact.subject else line.text)
        yield (core in label or core in folded(fact.text)) and evidence.is_filled(fact)


def polarity(clause: Clause) -> str:
    """Related told as not related, a no told as a yes."""
    for fact, _line in clause.evidence.facts:
        told = folded(fact.text)
        ends = [word for word in _RELATED if told.endswith(word)]
        said = {word for c in clause.tokens for word in _related(c)}
        if ends and said and not said & set(ends):
            return f"引用的行是「{fact.text}」"
        asked = folded(fact.label).removeprefix("是否")
        if fact.value == "0" and len(asked) < len(fact.label) and _is_told(asked[:2], clause.text):
            return f"引用的行里「{fact.label}」是否"
    return ""


def _is_told(word: str, text: str) -> bool:
    """Whether something is said to be so, and not that it is not."""
    said = [f"{verb}{word}" for verb in _IS]
    return any(one in text and not any(f"{no}{one}" in text for no in "不非") for one in said)


def _related(token: Token) -> Iterator[str]:
    if token.claims & {"related"}:
        yield "有关"
    if token.claims & {"unrelated"}:
        yield "无关"

"""Values: each is that of the subject, row, field, place, role and unit it is said of."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engines.assistant.understand.tokens import Kind as Meant
from engines.assistant.verify import compute, evidence, prose
from engines.assistant.verify.clause import Clause, Said, prose_of
from engines.assistant.verify.lexer import Kind
from engines.assistant.verify.rules.measured import limited
from language.claims import ROLES, STATES
from language.folding import folded
from rules.context import Kind as Column
from study.facts import Flag


def _typed(clause: Clause) -> Iterator[Said]:
    """The values that facts must bear out: those that no prose line stands for."""
    for said in clause.said:
        has_prose = any(True for line in said.lines for _text in prose_of(line, clause.sheet))
        if said.lines and (said.fits or not has_prose or (clause.evidence.facts and not has_prose)):
            yield said


def value(clause: Clause) -> str:
    """A number or day that no cited line has."""
    for said in _typed(clause):
        token = said.token
        today = bool(token.days) and token.days == (clause.sheet.today,) * 2
        if said.fits or token.is_a is Meant.CHOICE or limited(clause, token) or today:
            continue
        if token.kind is Kind.NUMBER and (
            compute.is_count(token) or compute.is_computed(clause, token)
        ):
            continue
        return f"没有一行引用写着「{token.text}」"
    return _twice(clause) or _unwritten(clause)


def _twice(clause: Clause) -> str:
    """One fact told as two of a list: 依次为5.8、5.3、5.8."""
    told: list[object] = []
    for said in clause.said if clause.has("each") else ():
        own = [fact for fact, _misses in said.fits]
        if own and all(fact in told for fact in own):
            return f"没有另一行引用写着「{said.token.text}」"
        told += own[:1]
    return ""


def _unwritten(clause: Clause) -> str:
    """A number or day beside prose that neither the prose nor a fact has."""
    texts = [prose.items(text) for text in clause.prose]
    own = {i.text for i in prose.items(clause.text)}
    for said in clause.said:
        token = said.token
        prosaic = any(True for line in said.lines for _text in prose_of(line, clause.sheet))
        if said.fits or not prosaic or token.kind not in (Kind.NUMBER, Kind.DAY):
            continue
        if compute.is_count(token) or limited(clause, token) or compute.is_right(clause, token):
            continue
        if token.days == (clause.sheet.today,) * 2 or clause.has("brief", "detailed"):
            continue
        figures = [i for i in prose.items(token.text) if i.kind in ("number", "day")]
        digits = [i.text for i in figures if i.text in own]
        if any(
            all(not any(d == i.text for i in told) for told in texts) for d in digits
        ) and not any(token.text in folded(text) for text in clause.prose):
            return f"没有一行引用写着「{token.text}」"
    return ""


def _missed(clause: Clause, what: str, words: str) -> str:
    for said in _typed(clause):
        if said.best and what in said.best[1]:
            return f"「{said.token.text}」{words}"
    return ""


def subject(clause: Clause) -> str:
    """A value of somebody else."""
    named = [t.name for t in clause.tokens if t.kind is Kind.SUBJECT]
    texts = [folded(text) for text in clause.prose]
    if named and texts and not clause.evidence.facts:
        strange = [n for n in named if not any(folded(n) in text for text in texts)]
        if strange:
            return f"引用的行不是{strange[0]}的"
    every = _each_subject(clause)
    return every or _missed(clause, "subject", "不是这位受试者或这个中心的")


def _each_subject(clause: Clause) -> str:
    """Several subjects named together: each has the value."""
    for said in _typed(clause):
        if said.about.asked or len(said.about.subjects) < 2 or not said.fits:
            continue
        own = {fact.subject for fact, misses in said.fits if not misses}
        for one in said.about.subjects:
            if own and one not in own:
                return f"没有引用{one}的这个值"
    return ""


def instance(clause: Clause) -> str:
    """A value of another row of a repeating form."""
    return _missed(clause, "instance", "不是这一条记录的")


def field(clause: Clause) -> str:
    """A value of another field."""
    return _missed(clause, "field", "不是这个项目的")


def place(clause: Clause) -> str:
    """A value of another visit or month."""
    return _missed(clause, "place", "不是这次访视或这个月的")


def unit(clause: Clause) -> str:
    """A number in a unit that its line has not."""
    return _missed(clause, "unit", "的单位与引用的行不同")


def date_role(clause: Clause) -> str:
    """A day that is of something else: the window's end told as its beginning."""
    return _missed(clause, "role", "不是这件事的日期")


def _is_otherwise(clause: Clause, said: Said) -> bool:
    """Whether a row that is cited has another choice of the same field."""
    names = said.token.names()
    rows = {evidence.row_of(f) for line in said.lines for f in line.facts if f.subject}
    told = [
        f for f in evidence.facts_of(clause.sheet)
        if evidence.row_of(f) in rows and f.field in names and evidence.is_filled(f)
    ]  # fmt: skip
    return bool(told) and not any(evidence.says(f, said.token, True) for f in told)


def choice(clause: Clause) -> str:
    """A choice that the cited row has not."""
    for said in clause.said:
        if (
            said.token.is_a is Meant.CHOICE
            and not said.fits
            and not said.token.text[0].isdigit()
            and not said.token.claims & {"days"}
            and not clause.beside(said.token, "not", "none")
            and _is_otherwise(clause, said)
        ):
            return f"引用的行里不是「{said.token.text}」"
    for said in _typed(clause):
        token = said.token
        if token.is_a is not Meant.CHOICE:
            continue
        lasted = "days" in token.claims and any(t.unit == "天" for t in clause.tokens)
        if lasted or token.claims & {"normal", "high", "low"}:
            continue
        denied = clause.beside(token, "not", "none", reach=1)
        figure = token.text.rstrip("分级岁")
        if figure.isdecimal() and any(
            f.value == int(figure) and (not said.here or f.field in said.here)
            for f, _line in clause.evidence.facts
        ):
            continue
        if any(
            Flag.MISSING_CODE in f.flags and token.text in folded(f.text)
            for f, _l in clause.evidence.facts
        ):
            continue
        if denied or said.fits:
            if denied and said.best and not said.best[1]:
                return f"引用的行里是「{token.text}」"
            continue
        days = any(t.kind is Kind.DAY for t in clause.tokens) and token.claims & ROLES.keys()
        if days or token.claims & {"small", *STATES} or _is_told(clause, said):
            continue
        return f"引用的行里没有「{token.text}」"
    return ""


def _is_told(clause: Clause, said: Said) -> bool:
    """已入组 beside the day of enrolment, 脱落 beside how many; or in a label of a cited line."""
    for line in clause.lines:
        query = line.scope.query if line.scope else {}
        conditions = (
            (*(query.get("where") or ()), *(query.get("of") or ()))
            if query.get("aggregate")
            else ()
        )
        asked = {(c.get("field"), str(c.get("value"))) for c in conditions}
        if any((r.name, r.code) in asked for r in said.token.readings):
            return True
    labels = {
        clause.sheet.design.metadata.choices(r.name).get(r.code, "")
        for r in said.token.readings
        if r.code
    }
    if any(
        folded(label) in re.split(r"[·、:\s]+", folded(f.label))
        for f, _line in clause.evidence.facts
        for label in labels
        if label
    ):
        return True
    core = said.token.text.removeprefix("已")
    texts = [
        folded(
            f"{line.text if line.scope and line.scope.query.get('aggregate') else ''} {fact.label}"
        )
        for fact, line in clause.evidence.facts
        if evidence.is_filled(fact)
    ]
    return any(core in text for text in texts)


def flag(clause: Clause) -> str:
    """A yes told of a row that says no, or the other way round: 乏力是SAE."""
    columns = clause.sheet.design.context.columns
    for at, token in enumerate(clause.tokens):
        names = {n for n in token.names() if n in columns and columns[n].kind is Column.FLAG}
        if token.is_a is not Meant.FIELD or not names or not clause.evidence.facts:
            continue
        rows = clause.about.rows
        told = [
            str(f.value)
            for f, _line in clause.evidence.facts
            if f.field in names and (rows is None or (f.subject, f.instrument, f.instance) in rows)
        ]
        denied = clause.beside(token, "not", "none", reach=2)
        is_predicate = at and clause.tokens[at - 1].text in ("是", "为", "属于", "都是")
        if (denied and "1" in told) or (is_predicate and not denied and "0" in told):
            return f"引用的行里「{token.text}」不是这样"
    return ""


def row(clause: Clause) -> str:
    """An event or drug that the subject has not."""
    for at, token in enumerate(clause.tokens):
        before = clause.tokens[at - 1] if at else token
        if token.kind is before.kind is Kind.ROW and before.name.isdecimal():
            rows = clause.about.rows or frozenset()
            if rows and not any(row[2] == int(before.name) for row in rows):
                return f"「{token.text}」不是第 {before.name} 条"
        if token.kind is Kind.ROW and not token.name.isdecimal() and clause.lines_of(token):
            own = {r[0] for r in (clause.about.rows or ())}
            subjects = set(clause.about.subjects)
            if subjects and own and not own & subjects:
                return f"{'、'.join(sorted(subjects))}没有「{token.text}」的记录"
    return ""


def quoted(clause: Clause) -> str:
    """A quotation that stands in no cited line, or only in part."""
    for token in clause.tokens:
        if token.kind is not Kind.QUOTE or not clause.lines_of(token):
            continue
        texts = [folded(line.text) for line in clause.lines] + [
            folded(fact.text) for fact, _line in clause.evidence.facts
        ]
        asked = clause.has("asked") and token.name in folded(clause.sheet.question)
        if asked or any(_whole(token.name, text) for text in texts):
            continue
        return f"「{token.name}」不是引用原文"
    return ""


def _whole(term: str, text: str) -> bool:
    at = text.find(term)
    while at >= 0:
        before = text[at - 1 : at]
        if before not in ("不", "非", "未", "无"):
            return True
        at = text.find(term, at + 1)
    return False

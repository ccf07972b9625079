"""What never goes out, cited or not: identifiers, strangers, deeds of the assistant, advice."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engines.assistant.lines.types import Source
from engines.assistant.understand.tokens import Kind as Meant
from engines.assistant.verify import prose
from engines.assistant.verify.clause import Clause
from engines.assistant.verify.lexer import Kind, Lexer, Token
from language.answer_forms import NOT_FOUND, SOURCES
from language.claims import CLAIMS, STATES
from language.folding import folded
from rules.context import Kind as Column

_ALIKE = 0.6
"""Share of what was not found from which on a line speaks of it."""
_NOUNS = ("日期", "时间", "原因", "记录", "情况", "周期", "阶段")
"""What makes of a treatment the name of something."""
_STATE = "@visits.state"
_IDENTITY = re.compile(r"(?<!\d)(?:1[3-9]\d{9}|\d{17}[\dx]|\d{3,4}-\d{7,8})(?!\d)|[\w.]+@[\w.]+")


def stranger(clause: Clause) -> str:
    """A subject or site that the reader has not."""
    gone = any(line.scope and not line.scope.subjects for line in clause.lines)
    for token in clause.tokens:
        if token.kind is Kind.SUBJECT and token.name not in clause.sheet.subjects and not gone:
            return f"没有受试者 {token.text}"
        if (
            token.is_a is Meant.SITE
            and clause.sheet.sites
            and not token.names() & set(clause.sheet.sites)
        ):
            return f"没有中心 {token.text}"
    return ""


def identity(clause: Clause) -> str:
    """Whatever identifies a person."""
    said = any(t.is_a is Meant.IDENTIFIER or t.claims & {"identity"} for t in clause.tokens)
    general = bool(clause.lines) and all(line.source is not Source.FACT for line in clause.lines)
    return "不得出现身份信息" if (said and not general) or _IDENTITY.search(clause.text) else ""


def self_told(clause: Clause) -> str:
    """Deeds, promises and capabilities of the assistant, except about its way of answering."""
    if not clause.has("self") or (clause.has("brief", "detailed")):
        return ""
    told = "我们" in clause.text and any(line.source is not Source.FACT for line in clause.lines)
    bad = [t for t in clause.tokens if t.claims & {"deed", "treat"}]
    if any(t.text in ("已", "已经", "了") for t in clause.tokens):
        bad += clause.claims("record")
    if bad and not told and not clause.has("not", "forbid"):
        return f"助手没有也不会「{bad[0].text}」"
    return ""


def advice(clause: Clause) -> str:
    """A subject and a treatment in one sentence; any treatment that is recommended."""
    days = any(s.token.kind is Kind.DAY and s.fits for s in clause.said)
    words = (
        []
        if days
        else [t for t in clause.claims("treat") if t.is_a is None and not _is_told_of(clause, t)]
    )
    if clause.has("must", "may", "recommend", "forbid"):
        words += [t for t in clause.claims("treat") if t.is_a is Meant.FORM]
    if not words:
        return ""
    clauses = [*clause.before, clause]
    named = any(t.kind is Kind.SUBJECT for c in clauses for t in c.tokens)
    facts = any(f.subject for c in clauses for f, _line in c.evidence.facts)
    own = [line.source for line in clause.lines]
    told = (
        own
        and all(s in (Source.REPORT, Source.SESSION, Source.FACT) for s in own)
        and not clause.has("must", "may", "recommend")
    )
    if clause.has("recommend") or ((named or facts) and not (told and clause.prose)):
        return f"不得给出治疗建议「{words[0].text}」"
    return ""


def _is_told_of(clause: Clause, token: Token) -> bool:
    """Whether a treatment is only told: a field's name, or what cited facts say."""
    if clause.text[token.end : token.end + 2] in _NOUNS:
        return True
    told = folded(" ".join(f"{f.label} {f.text}" for f, _line in clause.evidence.facts))
    return token.text in told and not clause.has("must", "may", "recommend", "forbid", "need_not")


def assent(clause: Clause) -> str:
    """A bare yes or no that the next sentence does not bear out."""
    if not clause.next or not is_bare(clause.tokens):
        return ""
    permits = any(t.text in ("可以", "能", "符合", "要", "需要") for t in clause.tokens)
    if permits and not any(line.source is not Source.FACT for line in clause.next_lines):
        return "下一句没有引用方案的规定"
    no = all(t.claims & {"no"} for t in clause.tokens if t.claims != {"small"})
    no = no and not any(t.claims & {"high", "low"} for t in clause.tokens)
    follows = Lexer(clause.sheet).read(clause.next)
    denied = _says(follows, *_DENIES)
    asked = Lexer(clause.sheet).read(clause.sheet.question)
    shown = denied or _says(follows, "normal", "under") or _is_other_way(asked, follows)
    if (
        no
        and not shown
        and not any(word in line.text for line in clause.next_lines for word in _NO)
    ):
        return "下一句没有说不"
    if no and any(t.kind is Kind.ROW for t in follows) and any(t.is_a is Meant.FORM for t in asked):
        return "下一句说的是有"
    if not no and set(_flags_asked(clause)) == {"0"}:
        return "下一句说的是不"
    if any(t.claims & {"ended"} for t in clause.tokens) and _is_open(clause, follows):
        return "下一句说的是还没有"
    wrong = _says(follows, *_DENIES[:4], "before") if permits else _says(_head(follows), *_DENIES)
    return "下一句说的是不" if wrong and not no and not _says(follows, "may", "normal") else ""


def _head(tokens: list[Token]) -> list[Token]:
    """The words up to the first value: what comes behind it denies something else."""
    values = (Kind.NUMBER, Kind.DAY, Kind.ROW, Kind.QUOTE)
    end = next(
        (n for n, t in enumerate(tokens) if t.kind in values or t.is_a is Meant.CHOICE), len(tokens)
    )
    return tokens[:end]


def _is_other_way(asked: list[Token], follows: list[Token]) -> bool:
    """Whether it goes the other way than was asked: 是下降吗? 不是,是升的."""
    ways = (("up", "down"), ("more", "less"), ("worse", "better"))
    return any(
        _says(asked, one) and _says(follows, other)
        for pair in ways
        for one, other in (pair, pair[::-1])
    )


def _is_open(clause: Clause, follows: list[Token]) -> bool:
    """Whether what follows has not ended: still going on, or a visit that is not done."""
    states = {f.value for line in clause.next_lines for f in line.facts if f.field == _STATE}
    undone = bool(states) and not states & STATES["done"]
    return _says(follows, "ongoing", "undone", "opened_not") or undone


def _flags_asked(clause: Clause) -> Iterator[str]:
    """What the lines of the next sentence say of the yes or no that the question asks for: SAE."""
    columns = clause.sheet.design.context.columns
    asked = {name for t in Lexer(clause.sheet).read(clause.sheet.question) for name in t.names()}
    for fact in (fact for line in clause.next_lines for fact in line.facts):
        if (
            fact.field in asked
            and fact.field in columns
            and columns[fact.field].kind is Column.FLAG
        ):
            yield str(fact.value)


_DENIES = (
    "not", "none", "forbid", "need_not", "blank", "not_applicable", "undone",
    "before", "left",
)  # fmt: skip
_NO = tuple(word for word, claims in CLAIMS.items() if claims.intersection(_DENIES[:-2]))


def _says(tokens: list[Token], *wanted: str) -> bool:
    """Whether a word of one of the classes is among them."""
    return any(token.claims.intersection(wanted) for token in tokens)


def is_bare(tokens: list[Token]) -> bool:
    """Whether a clause is nothing but a yes or a no."""
    if not tokens or len(tokens) > 3:
        return False
    return any(t.claims & {"yes", "no"} for t in tokens) and all(
        t.claims & {"yes", "no", "small"} for t in tokens
    )


def is_refusal(clause: Clause) -> bool:
    """Whether it is a bare no, for which what follows speaks: 不能,剂量下调后不再上调."""
    bare = bool(clause.next) and is_bare(clause.tokens)
    return bare and all(t.claims & {"no", "small"} for t in clause.tokens)


def uncited(clause: Clause) -> str:
    """A claim without a mark, that no one line bears out alone."""
    if is_bare(clause.tokens) or is_not_found(clause):
        return ""
    for token, lines in zip(clause.tokens, clause.of, strict=True):
        if not lines and _claims(token, clause):
            return f"「{token.text}」没有标出处"
    return ""


def is_not_found(clause: Clause) -> bool:
    """Whether it says that the sources do not speak of something of which no listed line speaks.

    What the study has a form or field for is no such thing: that it is not there, a whole result must say.
    """
    if not NOT_FOUND.search(clause.text) or any(
        t.kind in (Kind.NUMBER, Kind.DAY, Kind.ROW)
        or t.is_a in (Meant.FIELD, Meant.FORM, Meant.CHOICE)
        for t in clause.tokens
    ):
        return False
    sought = "".join(t.text for t in clause.tokens if t.kind is Kind.LEFT and t.text not in SOURCES)
    return all(prose.match(sought, line.text).share < _ALIKE for line in clause.sheet.lines)


def _claims(token: Token, clause: Clause) -> bool:
    if "small" in token.claims:
        return False
    if token.kind in (Kind.SUBJECT, Kind.UNIT):
        return False
    if token.is_a in (Meant.FIELD, Meant.FORM, Meant.PLACE, Meant.SITE):
        return False
    if token.claims & {
        "self",
        "asked",
        "recommend",
        "now",
        "must",
        "may",
    }:
        return False
    refusing = clause.has("not", "forbid") and any(c.has("self") for c in (*clause.before, clause))
    if refusing and token.claims & {"not", "forbid", "deed"}:
        return False
    asked = clause.has("asked") or (
        clause.has("self") and clause.sentence.rstrip().endswith(("?", "吗"))
    )
    return not (asked and token.kind not in (Kind.NUMBER, Kind.DAY))

"""What a day is said to be the day of: the words beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engines.assistant.understand.tokens import Kind as Meant
from engines.assistant.verify import evidence
from engines.assistant.verify.clause import Clause, Said
from engines.assistant.verify.lexer import Kind, Token, deeds
from language.claims import ROLES
from study.facts import Fact

_OF_ROW = (ROLES["sampled"], ROLES["actual"])
"""What the day of a whole row may be said to be the day of."""
_WINDOW = frozenset({"open", "close", "start"})


def roles_of(clause: Clause, at: int) -> tuple[tuple[str, ...], ...]:
    """What a day is said to be the day of: the words on its side of the days around it."""
    token = clause.tokens[at]
    if token.kind is not Kind.DAY:
        return ()
    days = [n for n, t in enumerate(clause.tokens) if t.kind is Kind.DAY]
    number = days.index(at)
    low = days[number - 1] + 1 if number and token.pair != "last" else 0
    high = days[number + 1] if number + 1 < len(days) else len(clause.tokens)
    if token.pair:
        lead = _lead(clause, days[number - (token.pair == "last")])
        if lead and not lead & _WINDOW:
            return tuple(ROLES[c] for c in lead if c in ROLES)
        ends = ("open", "start") if token.pair == "first" else ("close", "end")
        words = {c for t in clause.tokens for c in t.claims}
        window = ends[:1] if "窗" in clause.sentence else ends
        return tuple(ROLES[c] for c in window if not words & {"aim"} or c)
    behind = clause.text[token.end :]
    if behind.startswith(("前", "之前", "以前")):
        return (ROLES["close"],)
    lead = _lead(clause, at)
    if lead:
        return tuple(ROLES[c] for c in lead if c in ROLES)
    known = deeds(clause.sheet.design)
    if len(days) == 1:
        silent = all(_is_silent(t) for t in clause.tokens)
        if (
            silent
            and clause.before
            and not any(t.kind is Kind.DAY for t in clause.before[-1].tokens)
        ):
            return (*_deed_roles(clause.before[-1].tokens, known),)
    dated = [
        (t.text,)
        for t in clause.tokens[low:high]
        if t.is_a is Meant.FIELD and t.text.endswith("日期") and len(days) == 1
    ]
    last, more = number == 0, number + 1 < len(days)
    after = [t for t in clause.tokens[at + 1 : high] if t.claims & ROLES.keys() or t.text in known]
    before = [t for t in clause.tokens[low:at] if t.claims & ROLES.keys() or t.text in known]
    # 从 and 起 tell nothing where a verb stands: 从4月13日停止使用.
    verbs = [t for t in (*before, *after) if len(t.text) > 1]
    before, after = ([t for t in ts if not verbs or t in verbs] for ts in (before, after))
    if more:
        after = [t for t in after if not _leads(t, clause.tokens[days[number + 1]])]
    if not last:
        before = [t for t in before if _leads(t, token)]
    named = (*before, *after)
    others = ((t.text,) for t in named if t.text in known and not t.claims & ROLES.keys())
    return (*dated, *others, *(ROLES[c] for t in named for c in t.claims if c in ROLES))


def _is_silent(token: Token) -> bool:
    """Whether it says nothing of what a day is the day of."""
    if token.kind in (Kind.DAY, Kind.SUBJECT):
        return True
    return "small" in token.claims and not token.claims & ROLES.keys()


def _deed_roles(tokens: Sequence[Token], known: frozenset[str]) -> Iterator[tuple[str, ...]]:
    """What was done by words of the study: 已入组, 时间是…"""
    for token in tokens:
        core = token.text.removeprefix("已")
        if core in known:
            yield (core,)


def _lead(clause: Clause, at: int) -> frozenset[str]:
    """The classes of the role that stands right before a day or a stretch of days."""
    for token in clause.tokens[:at][::-1]:
        if "窗" in token.text:
            return frozenset()
        if token.claims & ROLES.keys():
            noun = (
                token.text.endswith(("日", "于"))
                or "日期" in clause.text[token.end : token.end + 2]
            )
            return token.claims if noun or token.text.endswith("日期") else frozenset()
        if "small" not in token.claims:
            return frozenset()
    return frozenset()


def _leads(word: Token, day: Token) -> bool:
    """Whether a word between two days is of the second: 持续到8月20日, 开放日9月21日."""
    return word.text.endswith(("到", "于", "至", "日", "为")) or day.at - word.end < 1


def misses_day(said: Said, fact: Fact) -> set[str]:
    """A day that stands for another thing than it is said to be of."""
    if not evidence.is_day(fact, said.token):
        of_row = all(words in _OF_ROW for words in said.roles)
        return set() if of_row else {"role"}
    fits = evidence.role_fits(fact, said.roles) or fact.field in said.here
    return set() if fits or not (said.roles or said.here) else {"role"}

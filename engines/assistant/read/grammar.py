"""One clause as one question: a small grammar over typed tokens that takes every word or reads nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from itertools import combinations

from engines.assistant.read.build import forms_of
from engines.assistant.read.clause import Clause, NotRead, refuse
from engines.assistant.read.conditions import OR
from engines.assistant.read.data import Named
from engines.assistant.read.follow import (
    followed,
    has_own_scope,
    same_rows,
    words_carried,
)
from engines.assistant.read.naming import fold
from engines.assistant.read.question import Question
from engines.assistant.read.scan import scan
from engines.assistant.read.setting import Setting
from engines.assistant.read.sought import Sought
from engines.assistant.read.task import State, Task, TaskKind
from engines.assistant.read.tokens import Kind, Token
from engines.assistant.read.work import work

_CLAUSE = re.compile(r"[。？?!！;；,，\n]+|(?:另外|然后|顺便|顺带|此外|接着)")
_MOST_TOKENS = 60
_COMMAS = (",", "、")
_LISTS = ("什么", "哪些", "啥", "有哪些")
_SELF = ("我", "我的", "我们", "咱们")
_PLURAL = re.compile("们|些|几")


def split(message: str) -> list[str]:
    """The clauses of a message in order, cut at punctuation and at words that begin something else.

    A question may take several of them (P003的SAE,报告日期、级别): `fast` of the whole comes first.
    """
    return [part for part in map(str.strip, _CLAUSE.split(message)) if part]


def fast(said: str, setting: Setting, state: State) -> Task | None:
    """The task of one clause where every word of it is taken in exactly one reading; None for any other.

    `state`: what was asked before and who was named or found, in this message or the last.
    """
    tokens = scan(said, setting)
    tokens = [replace(t, kind=Kind.AND) if t.said in _COMMAS else t for t in tokens]
    while tokens and tokens[-1].kind in (Kind.BREAK, Kind.AND):
        tokens.pop()
    several = any(t.kind is Kind.BREAK for t in tokens) or _asks_twice(tokens)
    if several or not 0 < len(tokens) <= _MOST_TOKENS:
        return None
    try:
        if is_agenda(tokens, setting.calendar.today):
            return Task(TaskKind.AGENDA, said)
        question, carried = _question(tokens, setting, state)
    except NotRead:
        return None
    named = {t.value: t.said for t in tokens if t.kind is Kind.SUBJECT}
    typed = fold(said).replace(" ", "")
    heard = tuple((was, name) for name, was in named.items() if fold(name) not in typed)
    return Task(TaskKind.DATA, said, question, carried=carried, heard=heard)


_SCOPED = frozenset(
    {Kind.SUBJECT, Kind.PRONOUN, Kind.SITE, Kind.OWN_SITE, Kind.EACH_SITE, Kind.PERIOD, Kind.PLACE}
    | {Kind.EVERYONE, Kind.TARGET, Kind.TODO, Kind.DICTIONARY, Kind.RULE, Kind.REVIEW}
)
_ONCE = {Kind.COUNT, Kind.COUNT_ROWS, Kind.WHO, Kind.SITE, Kind.SUBJECT, Kind.AGGREGATE} | {
    Kind.PLACE,
    Kind.PERIOD,
}


def _asks_twice(tokens: list[Token]) -> bool:
    """A中心几个AE,B中心几个: what is said in two clauses is asked twice, but for a list of names."""
    parts: list[set[Kind]] = [set()]
    for token in tokens:
        if token.kind is Kind.AND and token.said == ",":
            parts.append(set())
        elif token.kind is not Kind.FILL:
            lists = token.kind is Kind.WHAT and token.said in _LISTS
            counted = lists and any(Kind.COUNT in part for part in parts[:-1])
            parts[-1].add(Kind.COUNT if counted else token.kind)
    pairs = combinations(parts, 2)
    return any(first & later & _ONCE and len(later) > 1 for first, later in pairs)


def is_agenda(tokens: list[Token], today: date) -> bool:
    """今天我要干什么, 我还有几个复核: what waits for whoever asks now, and nothing else is named."""
    days = [t.days for t in tokens if t.kind is Kind.PERIOD and t.days]
    if any((begin or today) > today or (end or today) < today for begin, end in days):
        return False
    kinds = {t.kind for t in tokens if t.kind is not Kind.FILL}
    asked = {Kind.AND, Kind.WHAT, Kind.COUNT, Kind.COUNT_ROWS, Kind.YES_NO, Kind.PERIOD, Kind.WHEN}
    if Kind.TODO in kinds:
        watch = any(t.kind is Kind.TODO and t.value for t in tokens)
        return kinds <= {*asked, Kind.TODO, Kind.OWN_SITE} and not watch
    own = any(t.kind is Kind.FILL and t.said in _SELF for t in tokens)
    return own and Kind.REVIEW in kinds and kinds <= {*asked, Kind.REVIEW}


def _question(
    tokens: list[Token], setting: Setting, state: State
) -> tuple[Question, tuple[str, ...]]:
    after = followed(tokens, setting, state)
    if after is not None and state.last is not None:
        return after, words_carried(state.last, after, setting)
    words = Clause(tokens, setting).tokens
    own = has_own_scope(words) or _of_plan(words)
    if state.last is not None and state.last.subjects and not own:
        # What asks of nobody goes on with whoever was spoken of.
        return _of(tokens, setting, State(state.last, state.last.subjects), carries=True)
    return _of(tokens, setting, state)


def _of_plan(words: list[Token]) -> bool:
    """V2的窗口期是多少天: how long a visit's window is stands in the plan, whoever was spoken of."""
    kinds = {t.kind for t in words if t.kind is not Kind.FILL}
    window = [t for t in words if t.kind is Kind.VISIT]
    asks = any(t.kind is Kind.LASTED or "多" in t.said for t in words)
    whole = kinds <= {Kind.PLACE, Kind.VISIT, Kind.WHAT, Kind.LASTED, Kind.BREAK}
    return whole and asks and Kind.PLACE in kinds and {t.value for t in window} == {"topic"}


def _of(
    tokens: list[Token], setting: Setting, state: State, *, carries: bool = False
) -> tuple[Question, tuple[str, ...]]:
    """The question of a clause that is no follow-up; `carries`: of the subjects of the state."""
    clause = Clause(tokens, setting, forms_of(state.last, setting) if carries else ())
    scope, carried = _scope(clause, state)
    last = state.last
    if last and state.here and not last.subjects and not {t.kind for t in clause.tokens} & _SCOPED:
        # V3做了多少人,超窗几个: what was said at the beginning of a message holds for its other clauses.
        scope = replace(scope, site=last.site, period=last.period, place=last.place)
        carried = (*(setting.sites.get(code, code) for code in last.site), *last.place)
    if carries:
        scope, carried = replace(scope, subjects=state.subjects), state.subjects
        if clause.fill("time") and state.last:
            scope = replace(scope, place=state.last.place)
    question = work(clause, scope)
    if question is None:
        scope = replace(scope, place=_places(clause) or scope.place)
        question = (Named if scope.subjects else Sought)(clause, scope).read()
    _joined(clause)
    clause.end()
    if carries and state.last is not None:
        question = same_rows(question, state.last, setting)
    return question, carried


def _scope(clause: Clause, state: State) -> tuple[Question, tuple[str, ...]]:
    """Who, where and when a clause speaks of; what is named beats what was spoken of before."""
    setting, carried = clause.setting, tuple[str, ...]()
    subjects = tuple(dict.fromkeys(t.value for t in clause.take(Kind.SUBJECT)))
    pronouns = clause.take(Kind.PRONOUN)
    if pronouns and not subjects:
        refuse(not state.subjects)
        subjects = carried = state.subjects
    one = pronouns and not any(_PLURAL.search(t.said) for t in pronouns)
    refuse(one and len(subjects) > 1)
    refuse(subjects and clause.has(Kind.EVERYONE))
    sites = [t.value for t in clause.take(Kind.SITE)]
    sites += [setting.own_site for _own in clause.take(Kind.OWN_SITE)]
    days = list({t.iso for t in clause.take(Kind.PERIOD)})
    refuse(not all(code in setting.sites for code in sites) or len(days) > 1)
    period = days[0] if days else None
    return Question(subjects=subjects, site=tuple(dict.fromkeys(sites)), period=period), carried


def _places(clause: Clause) -> tuple[str, ...]:
    """The visits and events that values are asked of."""
    tokens = clause.take(Kind.PLACE)
    refuse(any(len(t.readings) != 1 for t in tokens))
    apart = clause.has(Kind.DIFFERENCE, Kind.LASTED)
    if len(tokens) == 2 and not apart and clause.fill("to"):
        clause.fill("from")
        return clause.setting.between(tokens[0].name, tokens[1].name)
    return tuple(dict.fromkeys(t.name for t in tokens))


def _joined(clause: Clause) -> None:
    """An and between two words of one kind that both were taken, or between two clauses."""
    for place in clause.places(Kind.AND):
        before, after = clause.kind(place - 1), clause.kind(place + 1)
        said = clause.tokens[place].said
        same = (before is after and said not in OR) or said == ","
        if before and after and same and not {place - 1, place + 1} & clause.free:
            clause.free.discard(place)

"""The readings nearest to words that were not understood: offered to be chosen from, never answered."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile

from engines.assistant.read.naming import fold
from engines.assistant.read.question import Question
from engines.assistant.read.scan import scan
from engines.assistant.read.setting import Setting
from engines.assistant.read.spoken import label, words_of
from engines.assistant.read.task import Nearest, State, Task, TaskKind
from engines.assistant.read.tokens import CODED, Kind, Token

MOST = 3
_ALIKE, _LONGEST = 0.6, 12
Fast = Callable[[str, Setting, State], Task | None]


def nearest(
    said: str, setting: Setting, state: State, fast: Fast, read: Sequence[Question] = ()
) -> tuple[Nearest, ...]:
    """At most three readings of a clause, each a message that the grammar reads whole.

    `read`: what a model made of it. `state`: whom the talk is about, where the clause names nobody. `fast`: the
    grammar.
    """
    tokens = scan(said, setting)
    named = list(dict.fromkeys(t.value for t in tokens if t.kind is Kind.SUBJECT))
    if not named and any(t.kind is Kind.PRONOUN for t in tokens):
        named = list(state.subjects[:1])
    found: dict[str, Nearest] = {}
    scoped = (Kind.SITE, Kind.OWN_SITE, Kind.PERIOD)
    scope = "" if named else "".join(t.said for t in tokens if t.kind in scoped)
    own = (q for q in read if {*q.subjects} <= {*named})
    texts = [words_of(q, setting).replace(" · ", " ") for q in own]
    simple = [*_texts(tokens, named, state.last or Question(), setting)]
    texts += [scope + text for text in simple] + simple
    for text in dict.fromkeys(texts):
        told = offered(text, setting, fast)
        if told is not None and text != said:
            found.setdefault(told.label, told)
        if len(found) == MOST:
            break
    return tuple(found.values())


def offered(text: str, setting: Setting, fast: Fast) -> Nearest | None:
    """The reading that a message stands for; None where the grammar does not read it whole.

    None as well of a subject that the reader does not see: whether there is one is not told.
    """
    task = fast(text, setting, State())
    if task is None or task.kind is not TaskKind.DATA or task.question is None:
        return None
    if not {*task.question.subjects} <= {*setting.subjects}:
        return None
    return Nearest(words_of(task.question, setting), text)


def alike(word: str, setting: Setting) -> list[str]:
    """Fields and forms that are called nearly so, best first."""
    known = {
        w: m.readings[0].name
        for w, m in setting.vocabulary.words.items()
        if m.kind in (Kind.FIELD, Kind.FORM) and m.readings and abs(len(w) - len(word)) < 3
    }
    close = difflib.get_close_matches(word[:_LONGEST], known, n=MOST, cutoff=_ALIKE)
    return list(dict.fromkeys(known[w] for w in close))


def _texts(
    tokens: Sequence[Token], named: list[str], last: Question, setting: Setting
) -> Iterator[str]:
    """Messages of simple form about what the clause names, or about what is called nearly so."""
    kinds = (Kind.FIELD, Kind.FORM, Kind.ENROLLED)
    meant = [(t.said, t.name or "@enrolled") for t in tokens if t.kind in kinds]
    unknown = [t.said for t in tokens if t.kind in (Kind.LEFT, Kind.ABSENT) and len(t.said) > 1]
    meant += [(label(n, setting), n) for word in unknown for n in alike(word, setting)]
    ranked = any(t.kind in (Kind.ROWS, Kind.AGGREGATE) for t in tokens)
    if ranked and not meant and not unknown:
        meant = [(label(n, setting), n) for n in last.select[:1]]
    # What is written in some free text, with what stands beside it, is asked for by that.
    for at, token in enumerate(tokens) if not named else ():
        beside = "".join(t.said for t in tokens[at : at + 2])
        for said in (beside, token.said) if token.kind is Kind.LEFT and len(token.said) > 1 else ():
            held = [n for n, texts in setting.terms.items() if any(said in fold(t) for t in texts)]
            yield from (f"{label(name, setting)}有{said}的有哪些人" for name in held[:1])
    place = next((t.said for t in tokens if t.kind is Kind.PLACE and t.readings), "")
    words = [t.said for t in tokens if t.kind is Kind.CHOICE]
    words += [t.said for t in tokens if t.kind is Kind.TERM]
    if not named:
        yield from _compared(tokens)
        if place and not meant:
            yield from (f"{place}做了几例", f"{place}还没做的有谁")
        for word, name in meant:
            yield from (form.format(word) for form in _of_all(name, setting))
        for word in words:
            yield from (f"{word}的有哪些人", f"{word}的有几例")
        return
    who = "、".join(named)
    if any(t.kind is Kind.RULE and t.value for t in tokens):
        yield f"{who}能不能入组"
    for word, name in meant:
        yield from (f"{who}{form.format(word)}" for form in _of_one(name, place, setting))
    if place or any(t.kind is Kind.VISIT for t in tokens):
        yield f"{who}的{place or '下次访视'}是哪天"
    for word in words:
        yield from (f"{who}的{word}", f"{who}有没有{word}")
    yield from (f"{who}{form}" for form in ("的基本情况", "有哪些疑点", "的下次访视是哪天"))


def _compared(tokens: Sequence[Token]) -> Iterator[str]:
    """Each comparison of a clause by itself."""
    bounds = (Kind.COMPARE, Kind.LIMIT, Kind.NUMBER, Kind.BOUND)
    for place, token in enumerate(tokens):
        rest = [*takewhile(lambda t: t.kind in (*bounds, Kind.FILL), tokens[place + 1 :])]
        if token.kind is Kind.FIELD and any(t.kind in bounds for t in rest):
            said = "".join(t.said for t in (token, *rest))
            yield from (f"{said}的有谁", f"{said}的有几例")


def _of_one(name: str, place: str, setting: Setting) -> list[str]:
    """The forms in which a field or form is asked of somebody."""
    form = name in setting.design.shown_forms
    asked = ["有哪些{}" if form else f" {place}的{{}}是多少" if place else "的{}是多少"]
    asked += ["历次{}", "的{}最高是多少"] if setting.is_number(name) else []
    return asked + (["的{}是哪天"] if form or setting.is_date(name) else [])


def _of_all(name: str, setting: Setting) -> list[str]:
    """The forms in which a field or form is asked of everybody."""
    if setting.is_number(name):
        return ["{}最高的是谁", "{}平均多少"]
    if setting.column_kind(name) in CODED:
        return ["各{}的人数"]
    if name == "@enrolled":
        return ["入组了几例", "每个月入组几例"]
    return ["有哪些{}", "{}有几条", "哪些人有{}"]

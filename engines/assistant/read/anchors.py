"""Whether questions that a model read use every typed word of the message, and say nothing that it does not.

A question is taken apart into marks (whom, where, when, which field, which choice, which way …). Each typed
word has to have left one of the marks it may leave, and each mark has to come from a word. `-word`: a word
that no question uses; `+word`: what a question has and the message does not say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from functools import cached_property

from core.rules.context import Kind as ColumnKind
from engines.assistant.read.marks import DOWN, UP, Mark, leaves, marks_of, marks_of_condition
from engines.assistant.read.question import Query, Question, Shape, Topic, condition_fields
from engines.assistant.read.scan import NO_VISIT
from engines.assistant.read.setting import Setting
from engines.assistant.read.tokens import CODED, Kind, Token

_ENDS = dict.fromkeys(("highest", "longest", "most", "top_n"), "-")
_ENDS |= dict.fromkeys(("lowest", "shortest", "fewest", "bottom_n"), "+")
_SIDES = {"nth": "first_n", "nth_last": "latest_n"}
# Words of visits that say the same, or of which one holds the other.
_ALIKE = (
    {"overdue", "late", "missing", "pending", "due"},
    {"due", "next", "closing", "pending", "close", "open"},
    {"actual", "last", "missing"},
    {"late", "early", "closing"},
)
_WORK = {
    Kind.FINDING: (Topic.FINDINGS, Topic.RUNS, Topic.REVIEWS, Topic.ELIGIBILITY),
    Kind.REVIEW: (Topic.REVIEWS, Topic.FINDINGS, Topic.CHANGES),
    Kind.RUN: (Topic.RUNS, Topic.FINDINGS),
    Kind.CHANGED: (Topic.CHANGES,),
    Kind.TARGET: (Topic.TARGET,),
}
_OTHER_TOPICS = {("topic", topic) for topic in Topic if topic is not Topic.DATA}
_OF_ONE = (Shape.VALUE, Shape.SERIES, Shape.WHEN, Shape.CHANGE, Shape.RATIO_TO_LIMIT)
_PLACED = (Shape.VALUE, Shape.RATIO_TO_LIMIT, Shape.COUNT, Shape.VISITS)
_COURSE = {("shape", shape) for shape in (Shape.SERIES, Shape.EXTREME, Shape.DIFFERENCE)}
_RELATED = {("shape", s) for s in (Shape.DIFFERENCE, Shape.CHANGE, Shape.SERIES, Shape.LASTED)}
_RELATED |= {("shape", Shape.RATIO_TO_LIMIT)}
_WORDS = (Kind.LEFT, Kind.FILL, Kind.VISIT, Kind.FINDING, Kind.RUN, Kind.TOOK)
_NOES = ("未", "不", "无", "没", "非", "仍", "还")
_IN_ALL = ("一共", "总共", "共", "全部", "所有", "总")
_TOLD = (Kind.FIELD, Kind.FORM, Kind.CHOICE, Kind.COMPARE, Kind.ENROLLED, Kind.TERM)
_COUNTS = (Kind.COUNT, Kind.COUNT_ROWS, Kind.SHARE, Kind.EACH, Kind.GROUP, Kind.EACH_SITE)
_FIGURES = (Kind.AGGREGATE, Kind.ROWS)
_BEGUN = (Kind.ROWS, Kind.VISIT, Kind.BASELINE, Kind.PLACE)
_NEEDS: Mapping[Mark, tuple[Kind, ...]] = {
    ("topic", Topic.VISITS): (Kind.VISIT, Kind.PLACE),
    ("topic", Topic.FINDINGS): (Kind.FINDING, Kind.RUN, Kind.REVIEW),
    ("topic", Topic.REVIEWS): (Kind.REVIEW, Kind.FINDING),
    ("topic", Topic.RUNS): (Kind.RUN, Kind.REVIEW),
    ("topic", Topic.CHANGES): (Kind.CHANGED,),
    ("topic", Topic.TARGET): (Kind.TARGET,),
    ("topic", Topic.DICTIONARY): (Kind.DICTIONARY,),
    ("topic", Topic.ELIGIBILITY): (Kind.RULE,),
    ("shape", Shape.CHANGE): (Kind.BASELINE, Kind.DIFFERENCE, Kind.COMPARE),
    ("shape", Shape.DIFFERENCE): (Kind.DIFFERENCE, Kind.COMPARE, Kind.ROWS),
    ("shape", Shape.RATIO_TO_LIMIT): (Kind.TIMES,),
    ("shape", Shape.LASTED): (Kind.LASTED, Kind.DIFFERENCE, Kind.COMPARE),
    ("shape", Shape.BLANKS): (Kind.EMPTY, Kind.NOT),
    ("shape", Shape.OVERVIEW): (Kind.OVERVIEW,),
    ("shape", Shape.YES_NO): (Kind.YES_NO, Kind.NOT, Kind.EMPTY, Kind.ALWAYS, Kind.WHO),
    ("figure", "count"): (*_COUNTS, Kind.ROWS, Kind.SITE, Kind.WHAT),
    ("figure", "share"): (Kind.SHARE,),
    ("figure", "mean"): (*_FIGURES, Kind.EACH_SITE, Kind.GROUP, Kind.SITE),
    ("figure", "median"): _FIGURES,
    ("figure", "sum"): _FIGURES,
    ("figure", "min"): _FIGURES,
    ("figure", "max"): _FIGURES,
    ("rows", "highest"): (Kind.ROWS, Kind.COMPARE),
    ("rows", "lowest"): (Kind.ROWS, Kind.COMPARE),
    ("rows", "latest"): (Kind.ROWS, Kind.VISIT, Kind.FILL),
    ("rows", "first"): _BEGUN,
    ("by", "@site"): (Kind.EACH_SITE, Kind.EACH, Kind.SITE),
}
"""The kinds of words of which one at least says a mark."""
_BESIDE = 8
"""A quote with so many characters beside a word reads it; a longer one only repeats the message."""


def problems(
    tokens: Sequence[Token],
    questions: Sequence[Question],
    setting: Setting,
    quotes: Sequence[str] = (),
    carried: Question | None = None,
) -> list[str]:
    """What is unused (`-`) and what is unsaid (`+`); [] where message and questions say the same.

    `quotes`: words that the reader says it has read. `carried`: the last question, where this one goes on.
    """
    marks = [marks_of(question, setting) for question in questions]
    texts = [word for found in marks for kind, word in found if kind == "text"]
    said = _Said(tokens, setting, [q.casefold() for q in quotes if q], carried or Question(), texts)
    found = [f"-{t.said}" for t in tokens if not _is_used(t, marks, said)]
    found += [f"-{t.said}" for t in _not_in_all(questions, marks, said)]
    for question, own in zip(questions, marks, strict=True):
        found += [f"+{mark[1]}" for mark in sorted(own, key=str) if not said.has_said(mark, own)]
        found += [f"+{name}" for name in _unsaid(question, own, said)]
    return list(dict.fromkeys(found))


@dataclass(frozen=True)
class _Said:
    """The typed words of a message, and the words a model says it has read beside them."""

    tokens: Sequence[Token]
    setting: Setting
    quotes: Sequence[str]
    carried: Question
    texts: Sequence[str]

    def all(self, *kinds: Kind) -> list[Token]:
        return [t for t in self.tokens if t.kind in kinds]

    def has(self, *kinds: Kind, value: str | None = None) -> bool:
        return any(t.kind in kinds and value in (None, t.value) for t in self.tokens)

    def quoted(self, token: Token) -> bool:
        """Whether the reader says it has read the word, by itself or in few words more."""
        near = (q for q in self.quotes if len(q) < len(token.said) + _BESIDE)
        return any(token.said in q or (len(q) > 1 and q in token.said) for q in near)

    @cached_property
    def reads(self) -> bool:
        """Whether words that are no word of the study are quoted: they may mean anything."""
        left = (t.said for t in self.all(Kind.LEFT) if len(t.said) > 1 and self.quoted(t))
        return any(not any(word in text or text in word for text in self.texts) for word in left)

    @cached_property
    def names(self) -> set[str]:
        """Every field and form that some word may mean."""
        setting, words, design = self.setting, self.setting.vocabulary, self.setting.design
        found = {r.name for t in self.all(Kind.FIELD, Kind.FORM, Kind.CHOICE) for r in t.readings}
        found |= {design.form_of(name) for name in found}
        numbers = [t.value for t in self.all(Kind.NUMBER)]
        if "" in numbers and not self.has(Kind.FIELD):
            # A bare number of people is their age.
            numbers.append("岁")
        found |= {r.name for unit in numbers for r in words.units.get(unit, ())}
        if self.has(Kind.ENROLLED):
            found |= {"@enrolled", design.enrolment_field, design.form_of(design.enrolment_field)}
        if self.has(Kind.TERM, Kind.LEFT, Kind.TOOK):
            found |= {words.event_form, words.drug_form}
        if self.has(Kind.TOOK):
            found |= {words.ends.get(words.drug_form, ""), words.onsets.get(words.drug_form, "")}
        if self.has(Kind.NOT, value="report"):
            found |= {words.reports.get(words.event_form, ""), words.event_form}
        for form in [r.name for t in self.all(Kind.FORM) for r in t.readings]:
            found |= {setting.day_of(form)} if self.has(Kind.EMPTY, Kind.NOT, Kind.WHEN) else set()
            found |= {*setting.numbers_of(form)} if self.has(Kind.ROWS) else set()
        return found | {*self.carried.select, *condition_fields(self.carried.where)}

    def means(self, name: str) -> bool:
        """Whether some word means this field, or it heads the rows of a form that some word means."""
        form = self.setting.design.form_of(name)
        heads = (self.setting.naming_field(form), self.setting.vocabulary.grades.get(form))
        of_rows = form in self.names and self.setting.repeats(form) and name in heads
        return name in self.names or of_rows or (name == "@status" and self.has(Kind.CHOICE))

    @cached_property
    def marks(self) -> set[Mark]:
        """The marks of kinds that have to be said, as the words of the message and what is carried allow."""
        setting, carried = self.setting, marks_of(self.carried, self.setting)
        found = {m for m in carried if m[0] in _TO_BE_SAID}
        for t in self.tokens:
            names = [r.name for r in t.readings]
            if t.kind is Kind.SUBJECT:
                found.add(("subject", t.value))
            elif t.kind in (Kind.SITE, Kind.OWN_SITE):
                found.add(("site", t.value or setting.own_site))
            elif t.kind is Kind.PLACE:
                found |= {("place", e) for n in names for e in (n, *setting.events_at(n))}
            elif t.kind is Kind.CHOICE:
                found |= {("code", (r.name, r.code)) for r in t.readings}
            if t.number is not None:
                found.add(("value", t.number))
            around = (end + timedelta(days=n) for end in t.days if end for n in (-1, 0, 1))
            found |= {("day", day.isoformat()) for day in around}
        if self.has(Kind.BASELINE) and (base := setting.vocabulary.words.get("基线")):
            found |= {("place", r.name) for r in base.readings}
        if any(t.said in ("到", "至") for t in self.tokens) and len(self.all(Kind.PLACE)) > 1:
            visits = (visit.visit for visit in setting.design.plan.visits)
            found |= {("place", name) for name in (*setting.design.event_order, *visits)}
        return found

    @cached_property
    def spoken(self) -> str:
        """Its words in one."""
        return "".join(t.said for t in self.tokens)

    def has_said(self, mark: Mark, own: set[Mark]) -> bool:
        """Whether a mark comes from the message; marks of other kinds need not be said."""
        kind, value = mark
        if kind not in _TO_BE_SAID or mark in self.marks:
            return True
        if kind == "subject":
            return self.has(Kind.PRONOUN)
        if kind == "day":
            return bool(self.all(Kind.PERIOD)) and value == self.setting.calendar.today.isoformat()
        if kind == "code":
            name, code, label = value
            flag = self.setting.column_kind(name) is ColumnKind.FLAG and self.means(name)
            number = code.isdecimal() and ("value", Decimal(code)) in self.marks
            known = {c for k, c in self.marks if k == "code"}
            range_ = ("bounded", name) in own and name in {n for n, *_code in known}
            part = any(len(q) > 1 and q in label and q in self.spoken for q in self.quotes)
            told = (name, code) in known or value in known or (label and label in self.spoken)
            return bool(told) or part or flag or number or range_ or self.reads or name == "@site"
        return kind == "value" and self.reads


_TO_BE_SAID = ("subject", "site", "place", "day", "value", "code")


def _is_used(token: Token, marks: Sequence[set[Mark]], said: _Said) -> bool:
    sought = any(token.said in text for text in said.texts)
    if token.kind in (Kind.LEFT, Kind.ABSENT, Kind.TERM):
        # What people call so may be looked for by the study's own word.
        sought = token.kind is Kind.TERM and sought
        return len(token.said) < 2 or sought or said.quoted(token)
    named = (Kind.FIELD, Kind.FORM, Kind.CHOICE, Kind.LIMIT)
    if token.kind in named and sought and len(token.said) > 1:
        # A word of the study within a text that is looked for as it stands.
        return True
    if token.kind is Kind.NOT and said.reads:
        return True
    if token.value == NO_VISIT and token.kind is Kind.PLACE:
        return said.quoted(token)
    return any(_leaves(token, own, said) for own in marks)


def _leaves(token: Token, own: set[Mark], said: _Said) -> bool:
    """Whether a word left a mark that it may leave in a question."""
    ways = _ways(token, own, said)
    return ways is None or bool(ways & own)


def _ways(token: Token, own: set[Mark], said: _Said) -> set[Mark] | None:
    """The marks of which a word leaves at least one; None where it need not leave any."""
    if token.kind in _WAYS:
        return _WAYS[token.kind](token, own, said)
    names = [r.name for r in token.readings]
    if token.kind is Kind.PLACE:
        found = {("event", e) for n in names for e in (n, *said.setting.events_at(n))}
        first = {("change", "baseline"), ("rows", "first"), ("shape", Shape.SERIES)}
        return found | (first if token.value == "event" else set())
    if token.kind is Kind.OWN_SITE:
        return {("site", said.setting.own_site)} if said.setting.own_site else None
    if token.kind is Kind.FORM:
        told = {("shape", Shape.BLANKS), ("shape", Shape.OVERVIEW), ("topic", Topic.ELIGIBILITY)}
        return told | {("form", name) for name in names}
    if token.kind is Kind.TOOK and token.value == "now":
        return {m for m in own if m[0] == "blank"}
    if token.kind is Kind.GROUP:
        by = {m for m in own if m[0] == "by" and token.value in m[1]}
        return by | _COURSE | {("shape", Shape.LIST)}
    listed = {("shape", shape) for shape in (Shape.LIST, Shape.ROWS, Shape.EXTREME)}
    counted = {("figure", "count"), *listed, *_OTHER_TOPICS}
    simple: dict[Kind, set[Mark]] = {
        Kind.SUBJECT: {("subject", token.value)},
        Kind.SITE: {("site", token.value)},
        Kind.EACH_SITE: {("by", "@site"), ("asked", "@site")},
        Kind.COUNT: counted,
        Kind.COUNT_ROWS: counted,
        Kind.NUMBER: {("number", token.number)},
        Kind.AGGREGATE: {("figure", token.value.split(",")[0])},
        Kind.SHARE: {("figure", "share"), ("shape", Shape.TARGET_RATE), ("change", "percent")},
    }
    return simple.get(token.kind)


def _ways_of_enrolment(_token: Token, _own: set[Mark], said: _Said) -> set[Mark]:
    design = said.setting.design
    known = ("@enrolled", design.enrolment_field, design.status_field, "@status", "enrolled")
    told = {(kind, n) for kind in ("asked", "held", "other") for n in known}
    return told | {("change", "baseline"), *_OTHER_TOPICS}


def _ways_of_period(token: Token, _own: set[Mark], said: _Said) -> set[Mark]:
    first, last = token.iso
    found: set[Mark] = {
        ("period", (first, last)),
        ("period", (first, None)),
        ("test", first),
        ("test", last),
    }
    if len(said.all(Kind.PERIOD)) > 1:
        found |= {("day", first), ("day", last)}
    if first == last == said.setting.calendar.today.isoformat():
        found |= {("change", "since"), *_OTHER_TOPICS}
    return found | {("topic", Topic.ELIGIBILITY)}


def _ways_of_choice(token: Token, own: set[Mark], said: _Said) -> set[Mark]:
    setting, named = said.setting, {r.name for r in token.readings}
    forms = {setting.design.form_of(name) for name in named}
    codes = {(r.name, r.code) for r in token.readings}
    found = {m for m in own if m[0] == "code" and m[1][:2] in codes}
    found |= {m for m in own if m[0] == "text" and token.said in m[1]}
    found |= {(kind, name) for kind in ("by", "bounded", "shown") for name in named}
    label = setting.design.metadata.label
    found |= {m for m in own if m[0] == "shown" and token.said in label(m[1]).casefold()}
    found |= {("shown", form) for form in forms}
    if {*token.readings} & {*setting.vocabulary.enrolled_choices}:
        found |= {("held", "@enrolled"), ("asked", "@enrolled")}
    if any(map(setting.repeats, forms)):
        found |= {("shape", shape) for shape in (Shape.LASTED, Shape.SERIES, Shape.WHEN)}
        found.add(("change", "days"))
    return found | _OTHER_TOPICS


def _ways_of_field(token: Token, own: set[Mark], said: _Said) -> set[Mark] | None:
    setting, names = said.setting, {r.name for r in token.readings}
    if token.said[0] == "多" and len(said.all(Kind.FIELD, Kind.FORM)) > 1:
        return None  # behind a field it only asks how much
    flag = len(names) == 1 and setting.column_kind(*names) is ColumnKind.FLAG
    if ("topic", Topic.DATA) in own and flag and not said.has(Kind.WHEN):
        # A yes or no that is named says which rows are meant.
        return {(kind, name) for kind in ("held", "by", "shown") for name in names}
    found = {("field", name) for name in names}
    found |= {("asked", setting.design.form_of(name)) for name in names}
    found |= {("topic", topic) for topic in (Topic.ELIGIBILITY, Topic.TARGET)}
    dates = {visit.date_field for visit in setting.design.plan.visits}
    if names & {*setting.vocabulary.ends.values(), *dates}:
        # It is not rows alone that end.
        found |= {("shape", Shape.SERIES), ("topic", Topic.VISITS)}
    return found


def _ways_of_limit(token: Token, own: set[Mark], _said: _Said) -> set[Mark]:
    side = token.value.removeprefix("abnormal_")
    found = {m for m in own if m[0] == "code" and token.said in m[1][2]} | _COURSE
    sides = ("high", "low") if side not in ("high", "low") else (side,)
    found |= {("aspect", "unlimited")}
    return found | {("ref", one) for one in sides} | _OTHER_TOPICS


def _ways_of_rows(token: Token, own: set[Mark], _said: _Said) -> set[Mark] | None:
    if sign := _ENDS.get(token.value, ""):
        both = {("figure", "min"), ("figure", "max")} <= own
        cut = token.value in ("top_n", "bottom_n") and ("number", token.number) not in own
        groups = {m for m in own if m[0] == "by" and token.value in ("most", "fewest")}
        fits = {m for m in own if m[0] == "end"} == {("end", sign)} and not cut
        return None if both or fits else groups | {("topic", Topic.DICTIONARY)}
    side, _n, _rest = _SIDES.get(token.value, token.value).partition("_")
    if side not in ("latest", "first"):
        return None
    told = {("rows", side), ("end", "-" if side == "latest" else "+")}
    if side != token.value:
        return told if ("number", token.number or Decimal(1)) in own else set()
    loose = {m for m in own if m[0] in ("change", "place", "period")}
    return loose | told | _OTHER_TOPICS


def _ways_of_comparison(token: Token, own: set[Mark], said: _Said) -> set[Mark] | None:
    loose = {("topic", Topic.TARGET), ("topic", Topic.DICTIONARY)} & own
    if token.value not in (*UP, *DOWN) or loose or said.has(Kind.NOT, Kind.ALWAYS):
        return None
    up = token.value in UP
    if {value for kind, value in own if kind in ("way", "bounded")}:
        bounded = {m for m in own if m[0] == "bounded" and said.setting.column_kind(m[1]) in CODED}
        return {("way", "up" if up else "down"), ("way", "between")} | bounded
    if {m for m in own if m[0] == "end"}:
        dated = any(said.setting.is_date(n) for k, n in own if k == "asked")
        several = len(said.all(Kind.COMPARE)) > 1
        return None if dated or several else {("end", "-" if up else "+")}
    listed = {("shape", Shape.LIST), ("shape", Shape.COUNT)} & own
    if not listed and not said.has(Kind.NUMBER, Kind.LIMIT):
        return None
    return _RELATED | _OTHER_TOPICS | {m for m in own if m[0] == "by"}


def _ways_of_no(token: Token, own: set[Mark], said: _Said) -> set[Mark] | None:
    """A no is in a condition, in the state of visits or runs, or it only makes the question (做了没)."""
    if token.value == "report":
        return {m for m in own if m[0] in ("blank", "no")}
    asks = said.tokens[-1].kind in (Kind.NOT, Kind.YES_NO, Kind.EMPTY)
    chosen = any(t.said.startswith(_NOES) for t in said.all(Kind.CHOICE))
    kinds = {kind for kind, _v in own}
    if asks or chosen or "end" in kinds or ("subject" in kinds and "held" not in kinds):
        return None
    shaped = {("shape", s) for s in (Shape.YES_NO, Shape.BLANKS, Shape.WHEN)}
    zero = {m for m in own if m[0] == "code" and m[1][1] == "0"}
    return shaped | _OTHER_TOPICS | zero | {m for m in own if m[0] == "no"} | {("way", "down")}


def _ways_of_visit(token: Token, own: set[Mark], _said: _Said) -> set[Mark] | None:
    """The state of a visit that is named; of data it may say which reading, or is a weak word."""
    if ("topic", Topic.VISITS) not in own:
        if token.value in ("close", "open", "last"):
            side, sign = ("first", "+") if token.value == "open" else ("latest", "-")
            told = {m for m in own if m[0] in ("end", "rows")}
            return None if not told else {("rows", side), ("end", sign)}
        weak = token.value not in ("overdue", "late", "closing", "next", "missing", "pending")
        return None if weak or {k for k, _v in own} >= {"asked", "subject"} else _OTHER_TOPICS
    aspects = {value for kind, value in own if kind == "aspect"}
    if token.value in ("", "topic", "close", "open") or not aspects or token.said == "接下来":
        return None
    if token.value == "due" and "actual" in aspects:
        return set() if {*token.said} & {*"该要需应待到"} else None
    alike = set().union(*(words for words in _ALIKE if token.value in words), {token.value})
    return {("aspect", word) for word in alike}


def _ways_of_work(token: Token, _own: set[Mark], said: _Said) -> set[Mark] | None:
    """Findings, reviews, runs, changes, the target; weak words of them may be said of data."""
    weak = token.said == "复查"
    if token.kind in (Kind.FINDING, Kind.REVIEW) and not token.value:
        weak |= said.has(Kind.FIELD, Kind.FORM, Kind.CHOICE)
    if token.kind is Kind.TARGET:
        weak |= token.value != "total" and said.has(Kind.SUBJECT, Kind.VISIT, Kind.PLACE)
        weak |= said.has(Kind.ENROLLED)
    return None if weak else {("topic", topic) for topic in _WORK[token.kind]}


_WAYS: Mapping[Kind, Callable[[Token, set[Mark], _Said], set[Mark] | None]] = {
    Kind.PERIOD: _ways_of_period,
    Kind.CHOICE: _ways_of_choice,
    Kind.FIELD: _ways_of_field,
    Kind.LIMIT: _ways_of_limit,
    Kind.ENROLLED: _ways_of_enrolment,
    Kind.ROWS: _ways_of_rows,
    Kind.COMPARE: _ways_of_comparison,
    Kind.BOUND: _ways_of_comparison,
    Kind.NOT: _ways_of_no,
    Kind.EMPTY: _ways_of_no,
    Kind.VISIT: _ways_of_visit,
    **dict.fromkeys(_WORK, _ways_of_work),
}


def _not_in_all(
    questions: Sequence[Question], marks: Sequence[set[Mark]], said: _Said
) -> Iterator[Token]:
    """The one subject, site or visit that only some of several questions are about."""
    several = len(questions) > 1 and not said.has(Kind.EVERYONE)
    for kind in (Kind.SUBJECT, Kind.SITE, Kind.PLACE) if several else ():
        named = said.all(kind)
        if len({t.name for t in named}) != 1:
            continue
        for q, own in zip(questions, marks, strict=True):
            held = kind is not Kind.SUBJECT or q.shape in _OF_ONE or bool(q.subjects)
            held = held and (kind is not Kind.PLACE or q.shape in _PLACED)
            if held and q.topic is questions[0].topic and not _leaves(named[0], own, said):
                yield named[0]


def _unsaid(q: Question, own: set[Mark], said: _Said) -> Iterator[str]:
    told = q.topic in (Topic.DATA, Topic.FINDINGS, Topic.CHANGES, Topic.DICTIONARY)
    if told and q.shape not in (Shape.OVERVIEW, Shape.BLANKS):
        yield from _unsaid_fields(q, said)
    yield from _unsaid_conditions(q, own, said)
    bare = not (q.select or q.where or q.by)
    if q.topic is Topic.DATA and bare and not q.aggregate and q.shape is not Shape.LIST:
        yield q.shape.value
    if said.carried != Question() or said.reads:
        return
    yield from (str(m[1]) for m in own & _NEEDS.keys() if not said.has(*_NEEDS[m]))
    dated = q.topic is not Topic.DATA or any(map(said.setting.is_date, q.select))
    yield from () if dated or q.shape is not Shape.WHEN else (q.shape.value,)
    in_all = any(t.said in _IN_ALL for t in said.tokens)
    if q.topic is Topic.DATA and bare and q.aggregate and said.has(*_TOLD) and not in_all:
        yield q.aggregate
    held = {*condition_fields(q.where), *q.by}
    coded = [n for n in q.select if said.setting.column_kind(n) in CODED and n not in held]
    if q.aggregate == "count":
        yield from (n for n in coded if not said.setting.repeats(said.setting.design.form_of(n)))
    fields = (by for by in q.by if by != "event" and "@" not in by and ":" not in by)
    yield from (by for by in fields if not said.means(by))
    if q.order.endswith("@findings.age") and not said.has(Kind.ROWS, Kind.VISIT):
        yield q.order


def _unsaid_fields(q: Question, said: _Said) -> Iterator[str]:
    setting, form_of = said.setting, said.setting.design.form_of
    held = {*condition_fields(q.where)}
    forms = {form_of(n) for n in held}
    # Words that only the model knows may stand for a field, where no other word does.
    is_open = said.reads and not any(said.means(n) for n in (*q.select, *held))
    days = said.has(Kind.WHEN, Kind.LASTED, Kind.PLACE, Kind.PERIOD, Kind.COMPARE)
    for name in q.select:
        form = form_of(name)
        about = form in said.names or form in forms
        told = name in held or name in forms or said.means(name) or is_open
        told = told or (said.reads and form in forms and setting.repeats(form))
        dated = days and setting.is_date(name) and (about or said.has(Kind.PLACE))
        column = name.startswith("@") and said.has(
            Kind.EACH_SITE, Kind.WHAT, Kind.ENROLLED, *_WORK, Kind.VISIT
        )
        heads = about and name == setting.naming_field(form)
        why = said.has(Kind.WHAT, value="why") and "原因" in setting.design.metadata.label(name)
        if not (told or dated or column or heads or why):
            yield name


def _unsaid_conditions(q: Question, own: set[Mark], said: _Said) -> Iterator[str]:
    setting = said.setting
    kept = [c for c, _no in leaves((*said.carried.where, *said.carried.of))]
    refs = [value for kind, value in own if kind == "ref"]
    no = sum(
        t.kind in (Kind.NOT, Kind.EMPTY, Kind.ALWAYS)
        or t.value == "now"
        or (t.value == "normal" and bool(refs))
        or (t.kind in _WORDS and t.said.startswith(_NOES))
        for t in said.tokens
    )
    if sum(_noes(c, setting) for c in (*q.where, *q.of)) > no and not said.reads and not kept:
        yield "not"
    for condition, _denied in leaves((*q.where, *q.of)):
        name = condition_fields([condition])[0]
        if condition in kept:
            continue
        text = setting.column_kind(name) is ColumnKind.TEXT and not setting.is_date(name)
        if text and condition["op"] in ("contains", "="):
            if not _may_be_written(name, condition, q, said):
                yield name
        elif not (said.means(name) or said.reads) or name in q.by:
            yield name
        elif not (said.reads or _directed(condition, said)):
            yield f"{name} {condition['op']}"


def _noes(condition: Query, setting: Setting) -> int:
    """How often a condition says no: it is denied, and what is denied may be a no itself."""
    marks = [m for c, no in leaves([condition]) for m in marks_of_condition(c, no, setting)]
    flags = (m[1] for m in marks if m[0] == "code")
    zero = any(c == "0" and setting.column_kind(n) is ColumnKind.FLAG for n, c, _label in flags)
    return int(any(kind == "no" for kind, _v in marks)) + zero


def _may_be_written(name: str, condition: Query, q: Question, said: _Said) -> bool:
    """Whether a text is one that words may be looked for in, and the words are the message's."""
    setting, words, form_of = said.setting, said.setting.vocabulary, said.setting.design.form_of
    form, word = form_of(name), str(condition.get("value")).casefold()
    rows = {f for f in (form_of(n) or n for n in q.select) if setting.repeats(f)}
    if word not in said.spoken or (rows and setting.repeats(form) and form not in rows):
        return False
    if any(word in t.casefold() for texts in setting.terms.values() for t in texts):
        return any(word in t.casefold() for t in setting.terms.get(name, ()))
    named = {r.name for t in said.all(Kind.FIELD, Kind.FORM) for r in t.readings}
    heads = (
        (setting.naming_field(form), words.reasons.get(form, "")) if setting.repeats(form) else ()
    )
    other = ({words.event_form, words.drug_form} & named - {form}) and form not in rows
    taken = said.has(Kind.TOOK) and form == words.event_form
    return (name in named or name in heads) and not other and not taken


def _directed(condition: Query, said: _Said) -> bool:
    """Whether some word compares this way; a no turns it. Of a limit: 异常 is outside, 正常 inside."""
    op, value = condition["op"], condition.get("value")
    if op not in (*UP, *DOWN) or said.has(Kind.NOT, Kind.ALWAYS):
        return True
    sides = {t.value for t in said.all(Kind.LIMIT)}
    side = value.get("ref") if isinstance(value, dict) else None
    if side and not said.has(Kind.YES_NO) and sides & {"normal", "abnormal", f"abnormal_{side}"}:
        return ((op in UP) is (side == "high")) is ("normal" not in sides)
    mine, abnormal = (UP, "abnormal_high") if op in UP else (DOWN, "abnormal_low")
    ways = {t.value for t in said.all(Kind.COMPARE, Kind.BOUND)} | sides
    if ways & {*mine, "between", "abnormal", "normal", abnormal}:
        return True
    opposite = ways & {*UP, *DOWN, "abnormal_high", "abnormal_low"}
    return not opposite and bool(sides or any(t.value == "倍" for t in said.tokens))

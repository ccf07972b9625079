"""What each clause of an answer states: its values, and whom, what, where and when they are said of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from engines.assistant.lines.types import Line, Sheet, Source
from engines.assistant.understand.tokens import Kind as Meant
from engines.assistant.verify import evidence
from engines.assistant.verify.evidence import Evidence
from engines.assistant.verify.lexer import Kind, Lexer, Token, deeds, folded, is_prose
from engines.assistant.verify.spans import Sentence
from language.claims import ROLES
from study.facts import Fact
from study.facts import Kind as Of

_JOINS = frozenset({"和", "与", "及", "、", "跟", "以及", "或", "and"})
_WINDOW = frozenset({"open", "close", "start"})
_NAME = 30
"""Characters up to which what is written in a row of a repeating form is a name."""
_MAY_IT = re.compile(r"能否|可否|是否可以|是否能|可以|能(?=[^力])")
_ANSWERED = re.compile(r"([^。；;?？:：]+)[?？](?![”\"])\s*(不)?(?:能|可以|需要|是|行)[。，,]")
_QUESTION = re.compile(r"[^。；;?？:：“]+[?？](?![”\"])")
_ELSEWHERE = frozenset(
    {"之后", "随后", "后来", "其后", "以后", "此后", "目前", "现在", "当前", "此前", "之前", "最近"}
)


@dataclass(frozen=True, slots=True)
class About:
    """What the words so far are about; None: not said. `asked`: the subjects are the question's."""

    subjects: tuple[str, ...] = ()
    asked: bool = False
    rows: frozenset[tuple[str, str, int | None]] | None = None
    instance: int | None = None
    fields: tuple[frozenset[str], ...] = ()
    events: tuple[str, ...] = ()
    sites: tuple[str, ...] = ()
    months: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """All fields it may be about."""
        return frozenset().union(*self.fields)


@dataclass(frozen=True)
class Said:
    """One value that is stated. `fits`: facts of its lines that have it, and in what else they differ."""

    token: Token
    about: About
    lines: tuple[Line, ...]
    roles: tuple[tuple[str, ...], ...] = ()
    here: frozenset[str] = frozenset()
    fits: tuple[tuple[Fact, frozenset[str]], ...] = ()

    @property
    def best(self) -> tuple[Fact, frozenset[str]] | None:
        """The fact that differs in least."""
        return min(self.fits, key=lambda fit: len(fit[1]), default=None)


@dataclass
class Clause:
    """A clause with its tokens; `lines` back it, `of` gives those of each token."""

    text: str
    tokens: list[Token]
    of: list[tuple[Line, ...]]
    pieces: list[int]
    own: list[bool]
    sheet: Sheet
    about: About = About()
    said: list[Said] = field(default_factory=list)
    before: list[Clause] = field(default_factory=list)
    sentence: str = ""
    next: str = ""
    is_lent: bool = False
    next_lines: tuple[Line, ...] = ()
    around: tuple[Line, ...] = ()

    @property
    def lines(self) -> tuple[Line, ...]:
        """All lines that cover it."""
        return distinct(line for lines in self.of for line in lines)

    @property
    def evidence(self) -> Evidence:
        """What is cited for it."""
        return Evidence(self.sheet, self.lines)

    @property
    def prose(self) -> tuple[str, ...]:
        """What people wrote, of its lines."""
        return tuple(text for line in self.lines for text in prose_of(line, self.sheet))

    @property
    def is_marked(self) -> bool:
        """Whether a mark stands at it, so that no other line is looked for."""
        return any(self.own)

    def claims(self, *wanted: str) -> list[Token]:
        """Its words of these classes."""
        return [t for t in self.tokens if t.claims.intersection(wanted)]

    def has(self, *wanted: str) -> bool:
        """Whether there is a word of one of these classes."""
        return bool(self.claims(*wanted))

    def beside(self, token: Token, *wanted: str, reach: int = 3) -> bool:
        """Whether such a word stands a few tokens before another."""
        at = self.tokens.index(token)
        return any(t.claims.intersection(wanted) for t in self.tokens[max(0, at - reach) : at])

    def lines_of(self, token: Token) -> tuple[Line, ...]:
        """The lines of one token."""
        return self.of[self.tokens.index(token)]


def distinct(lines: Iterable[Line]) -> tuple[Line, ...]:
    """Each line once."""
    return tuple({line.mark: line for line in lines}.values())


def prose_of(line: Line, sheet: Sheet) -> Iterator[str]:
    """The prose of a line: a document's or a tool's own words; of facts what somebody wrote at length."""
    if line.source is not Source.FACT or not (line.facts or line.scope or line.day):
        yield answered(
            f"{line.section}: {line.text}" if line.source is Source.REPORT else line.text
        )
    for fact in line.facts:
        long = fact.instance is None or len(fact.text) > _NAME
        if long and is_prose(fact, sheet) and evidence.is_filled(fact):
            yield f"{fact.label}: {fact.text}"


def answered(text: str) -> str:
    """A question of a document with its yes or no as a statement: 能否入组? 能 -> 可以入组."""

    def told(hit: re.Match[str]) -> str:
        word = "不得" if hit[2] else "可以"
        return _MAY_IT.sub(word, hit[1]).removesuffix("吗") + "。"

    return _QUESTION.sub("", _ANSWERED.sub(told, text))


def events_of(sheet: Sheet) -> dict[str, str]:
    """Visit -> the event at which its day is entered."""
    design = sheet.design
    held = design.context.forms_by_event
    found = {}
    for visit in design.plan.visits:
        form = design.form_of(visit.date_field)
        found[visit.visit] = visit.event or next((e for e in held if form in held[e]), "")
    return found


class Reader:
    """Reads the sentences of an answer one after the other; remembers whom they speak of."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.lexer = Lexer(sheet)
        self.by_mark = {line.mark: line for line in sheet.lines}
        self.events = events_of(sheet)
        asked = self.lexer.read(sheet.question)
        self.asked = asked
        subjects = tuple(dict.fromkeys(t.name for t in asked if t.kind is Kind.SUBJECT))
        self.about = About(subjects, asked=True)

    def lines(self, marks: Iterable[str]) -> tuple[Line, ...]:
        """The lines of marks; made-up marks are of none."""
        return tuple(self.by_mark[mark] for mark in marks if mark in self.by_mark)

    def read(self, sentence: Sentence, lent: Sequence[Line] = ()) -> list[Clause]:
        """Its clauses. `lent`: lines that are taken for unmarked ones."""
        self.about = replace(self.about, events=(), months=())
        found: list[Clause] = []
        covered = [
            distinct((*self.lines(p.marks), *(() if p.is_own else lent))) for p in sentence.pieces
        ]
        for text, owners in sentence.clauses():
            tokens = self.lexer.read(text)
            pieces = _owners(text, owners, tokens)
            clause = Clause(
                folded(text), tokens, [covered[p] for p in pieces], pieces,
                [sentence.pieces[p].is_own for p in pieces], self.sheet,
                before=list(found), sentence=folded(sentence.text), is_lent=bool(lent),
                around=distinct(line for lines in covered for line in lines),
            )  # fmt: skip
            self._walk(clause)
            found.append(clause)
        return found

    def _walk(self, clause: Clause) -> None:
        about, joined = self.about, False
        here: frozenset[str] = frozenset()
        for at, token in enumerate(clause.tokens):
            before = clause.tokens[at - 1] if at else None
            joined = before is not None and (
                (before.kind is token.kind and before.is_a is token.is_a)
                or (at > 1 and before.text in _JOINS and _alike(clause.tokens[at - 2], token))
            )  # fmt: skip
            if token.text in _ELSEWHERE:
                about = replace(about, events=())
            about = self._moved(about, token, joined)
            if token.is_a is Meant.FIELD:
                here = about.names
            if _is_value(token):
                said = Said(token, about, clause.of[at], _roles(clause, at), here)
                clause.said.append(self._fitted(said, clause))
        if any(t.text in ("分别", "分别为", "分别是", "依次", "依次为") for t in clause.tokens):
            clause.said = list(self._paired(clause))
        clause.about = self.about = about

    def _moved(self, about: About, token: Token, joined: bool) -> About:
        """What is spoken of after a token."""
        if token.kind is Kind.SUBJECT:
            subjects = (*about.subjects, token.name) if joined else (token.name,)
            return replace(about, subjects=subjects, asked=False, rows=None, instance=None)
        if token.kind is Kind.ROW:
            if token.name.isdecimal():
                return replace(about, instance=int(token.name), rows=None)
            rows = self.lexer.rows[token.name]
            own = {row for row in rows if not about.subjects or row[0] in about.subjects}
            more = (about.rows or frozenset()) if joined else frozenset()
            return replace(about, rows=frozenset(own or rows) | more, instance=None)
        if token.kind is Kind.SPAN and token.days:
            month = token.days[0].isoformat()[:7]
            return replace(about, months=(*about.months, month) if joined else (month,))
        if token.is_a is Meant.FIELD:
            names = token.names()
            fields = (*about.fields, names) if joined else (names,)
            if joined and about.fields and about.fields[-1] & names:
                fields = (*about.fields[:-1], about.fields[-1] & names)
            return replace(about, fields=fields)
        if token.is_a is Meant.PLACE:
            events = tuple(self.events.get(r.name, r.name) for r in token.readings)
            return replace(about, events=(*about.events, *events) if joined else events)
        if token.is_a is Meant.SITE:
            sites = tuple(r.name for r in token.readings)
            return replace(about, sites=(*about.sites, *sites) if joined else sites)
        return about

    def _fitted(self, said: Said, clause: Clause) -> Said:
        about = clause.has("about")
        fits = tuple(
            (fact, self._misses(said, fact, line, clause))
            for line in said.lines
            for fact in line.facts
            if evidence.says(fact, said.token, about)
        )
        return replace(said, fits=fits)

    def _misses(self, said: Said, fact: Fact, line: Line, clause: Clause) -> frozenset[str]:
        """In what a fact with the value differs from what is said of it."""
        about, token, found = said.about, said.token, set()
        if fact.subject and about.subjects and fact.subject not in about.subjects:
            found.add("subject")
        if not fact.subject and fact.kind in (Of.AGGREGATE, Of.PROJECT):
            found |= self._misses_group(said, fact, line, clause)
        if fact.instance is not None:
            own = (fact.subject, fact.instrument, fact.instance)
            wrong_row = about.rows is not None and own not in about.rows
            if wrong_row or about.instance not in (None, fact.instance):
                found.add("instance")
        if about.events and fact.event and fact.event not in about.events:
            named_here = any(t.is_a is Meant.PLACE for t in clause.tokens)
            if (named_here and fact.instance is None) or self._moves(fact):
                found.add("place")
        if token.kind is Kind.NUMBER and not evidence.unit_fits(fact, token):
            found.add("unit")
        if token.kind is Kind.DAY:
            found |= _misses_day(said, fact)
        elif self._misses_field(said, fact):
            found.add("field")
        return frozenset(found)

    def _moves(self, fact: Fact) -> bool:
        """Whether it can stand at several events."""
        forms = self.sheet.design.context.forms_by_event
        return fact.kind is Of.WINDOW or sum(fact.instrument in held for held in forms.values()) > 1

    def _misses_field(self, said: Said, fact: Fact) -> bool:
        if fact.kind in (Of.AGGREGATE, Of.PROJECT, Of.WINDOW) or not fact.field:
            return False
        names = said.here
        if said.token.kind is Kind.NUMBER and not said.token.unit:
            names = names or said.about.names
        if fact.field.startswith("@"):
            return False
        return bool(names) and fact.field not in names

    def _misses_group(self, said: Said, fact: Fact, line: Line, clause: Clause) -> set[str]:
        """Whether a figure is of another site, month or condition."""
        about, label, found = said.about, folded(fact.label), set[str]()
        of_site = next((c for c in self.sheet.sites if label.startswith(folded(c))), "")
        if of_site and about.sites and of_site not in about.sites:
            found.add("subject")
        if not of_site and about.sites and any(t.is_a is Meant.SITE for t in clause.tokens):
            found.add("subject")
        if _is_month(fact.label) != bool(about.months) and about.months:
            found.add("place")
        if _is_month(fact.label) and about.months and fact.label not in about.months:
            found.add("place")
        if not self._voiced(said.token, fact, line, clause):
            found.add("field")
        return found

    def _voiced(self, token: Token, fact: Fact, line: Line, clause: Clause) -> bool:
        """Whether what a figure counts is named near it: the choices of its conditions."""
        at = clause.tokens.index(token)
        near = [
            t
            for t in clause.tokens[:at][::-1]
            if t.is_a in (Meant.CHOICE, Meant.FIELD) or t.claims & {"target", "enrolled"}
        ]
        if not near:
            near = [
                t
                for t in clause.tokens[at + 1 : at + 4]
                if t.is_a in (Meant.CHOICE, Meant.FIELD) or t.claims & {"enrolled"}
            ]
        if not near:
            return True
        if fact.kind is Of.PROJECT or near[0].claims & {"target"}:
            return fact.kind is Of.PROJECT and bool(near[0].claims & {"target"})
        told = folded(f"{line.text} {fact.label}")
        names = (
            {c.get("field") for c in (line.scope.query.get("where") or ()) if line.scope}
            if line.scope
            else set()
        )
        labels = {
            self.sheet.design.metadata.choices(r.name).get(r.code, "")
            for r in near[0].readings
            if r.code
        }
        if any(label and folded(label) in told for label in labels) or near[0].text in told:
            return True
        return bool(near[0].names() & names) and not any(r.code for r in near[0].readings)

    def _paired(self, clause: Clause) -> Iterator[Said]:
        """P005和P006分别为58和93: each value of its own subject, place or field."""
        for number, said in enumerate(clause.said):
            about, count = said.about, len(clause.said)
            if len(about.subjects) == count:
                about = replace(about, subjects=(about.subjects[number],))
            elif len(about.events) == count:
                about = replace(about, events=(about.events[number],))
            elif len(about.fields) == count:
                about = replace(about, fields=(about.fields[number],))
                said = replace(said, here=about.names)
            elif len(about.sites) == count:
                about = replace(about, sites=(about.sites[number],))
            yield self._fitted(replace(said, about=about), clause)


def _is_month(label: str) -> bool:
    return len(label) == 7 and label[:4].isdecimal() and label[4] == "-"


def _alike(one: Token, other: Token) -> bool:
    return one.kind is other.kind and one.is_a is other.is_a


def _is_value(token: Token) -> bool:
    return token.kind in (Kind.NUMBER, Kind.DAY) or token.is_a is Meant.CHOICE


def _owners(text: str, owners: tuple[int, ...], tokens: Sequence[Token]) -> list[int]:
    """The piece of each token: folding may have dropped or added characters."""
    found: list[int] = []
    cuts = [n for n in range(1, len(owners)) if owners[n] != owners[n - 1]]
    ends = [(len(folded(text[:cut])), owners[cut]) for cut in cuts]
    for token in tokens:
        at = [owner for end, owner in ends if token.at >= end]
        found.append(at[-1] if at else owners[0])
    return found


def _roles(clause: Clause, at: int) -> tuple[tuple[str, ...], ...]:
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


def _misses_day(said: Said, fact: Fact) -> set[str]:
    """A day that stands for another thing than it is said to be of."""
    if not evidence.is_day(fact, said.token):
        return {"role"} if said.roles else set()
    fits = evidence.role_fits(fact, said.roles) or fact.field in said.here
    return set() if fits or not (said.roles or said.here) else {"role"}

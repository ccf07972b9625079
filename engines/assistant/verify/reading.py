"""What each clause of an answer states: its values, and whom, what, where and when they are said of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace

from engines.assistant.lines.types import Line, Sheet
from engines.assistant.understand.tokens import Kind as Meant
from engines.assistant.verify import evidence
from engines.assistant.verify.clause import About, Clause, Said, distinct, events_of
from engines.assistant.verify.lexer import Kind, Lexer, Token, is_prose
from engines.assistant.verify.roles import misses_day, roles_of
from engines.assistant.verify.spans import Sentence
from language.denials import is_denied
from language.folding import folded
from study.facts import Fact
from study.facts import Kind as Of

_JOINS = frozenset({"和", "与", "及", "、", "跟", "以及", "或", "and"})
_SMALL = frozenset({"small"})
_ELSEWHERE = frozenset(
    {"之后", "随后", "后来", "其后", "以后", "此后", "目前", "现在", "当前", "此前", "之前", "最近"}
)


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
            own = {
                row for t in tokens if t.kind is Kind.ROW for row in self.lexer.rows.get(t.name, ())
            }
            tokens = [
                _quoting(t, folded(text), covered[p], self.sheet, own)
                for t, p in zip(tokens, pieces, strict=True)
            ]
            clause = Clause(
                folded(text), tokens, [covered[p] for p in pieces], pieces,
                [sentence.pieces[p].is_own for p in pieces], self.sheet,
                before=list(found), whole=found, sentence=folded(sentence.text), is_lent=bool(lent),
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
            if _is_value(token) or self._is_unit_told(token, clause.of[at]):
                said = Said(token, about, clause.of[at], roles_of(clause, at), here)
                clause.said.append(self._fitted(said, clause))
        if any(t.text in ("分别", "分别为", "分别是", "依次", "依次为") for t in clause.tokens):
            clause.said = list(self._paired(clause))
        clause.about = self.about = about

    def _is_unit_told(self, token: Token, lines: Sequence[Line]) -> bool:
        """Whether a unit is itself what a field holds: 血糖单位都是mmol/L."""
        if token.kind is not Kind.UNIT:
            return False
        texts = {fact.text for line in lines for fact in line.facts}
        return any([t.kind for t in self.lexer.read(text)] == [Kind.UNIT] for text in texts)

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
            names = token.names() | self._abbreviated(token.text)
            fields = (*about.fields, names) if joined else (names,)
            if joined and about.fields and about.fields[-1] & names:
                fields = (*about.fields[:-1], about.fields[-1] & names)
            return replace(about, fields=fields)
        if token.is_a is Meant.PLACE:
            events = tuple(self.events.get(r.name, r.name) for r in token.readings)
            if token.is_to and about.events:
                events = (*self._between(about.events[-1], events[0]), *events)
            return replace(
                about, events=(*about.events, *events) if joined or token.is_to else events
            )
        if token.is_a is Meant.SITE:
            sites = tuple(r.name for r in token.readings)
            return replace(about, sites=(*about.sites, *sites) if joined else sites)
        return about

    def _between(self, first: str, last: str) -> Iterator[str]:
        """The visits between two: V1 to V4."""
        visits = sorted(self.events.values(), key=lambda e: self.sheet.design.event_order.get(e, 0))
        if first in visits and last in visits:
            yield from visits[visits.index(first) + 1 : visits.index(last)]

    def _abbreviated(self, word: str) -> frozenset[str]:
        """Fields of the sheet whose label has a Latin word: ECOG is that of the visit, too."""
        if not (word.isascii() and word.isalpha()):
            return frozenset()
        whole = re.compile(rf"(?<![a-z]){word}(?![a-z])")
        return frozenset(
            f.field for f in evidence.facts_of(self.sheet) if whole.search(folded(f.label))
        )

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
            found |= misses_day(said, fact)
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
        told = f"{label} {folded(line.text)}"
        of_site = next(
            (c for text in (label, told) for c in self.sheet.sites if folded(c) in text), ""
        )
        alone = len(self.sheet.sites) == 1 and set(about.sites) <= set(self.sheet.sites)
        if of_site and (clause.has("study") or (about.sites and of_site not in about.sites)):
            found.add("subject")
        if not of_site and not alone and any(t.is_a is Meant.SITE for t in clause.tokens):
            found.add("subject")
        here = any(t.kind is Kind.SPAN for t in clause.tokens)
        if clause.has("so_far") and not here and _month_of(fact, line):
            found.add("place")
        if about.months and here and _month_of(fact, line) not in about.months:
            found.add("place")
        if not self._voiced(said.token, fact, line, clause):
            found.add("field")
        return found

    def _voiced(self, token: Token, fact: Fact, line: Line, clause: Clause) -> bool:
        """Whether what a figure counts is named near it: the choices of its conditions."""
        at = clause.tokens.index(token)
        if fact.kind is Of.PROJECT and clause.text[: token.at].rstrip()[-1:] == "/":
            return True
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
        is_share = line.scope is not None and line.scope.query.get("aggregate") == "share"
        if not near or (is_share and token.unit == "%"):
            return True
        if fact.kind is Of.PROJECT or near[0].claims & {"target"}:
            return fact.kind is Of.PROJECT and any(t.claims & {"target"} for t in near)
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


def _month_of(fact: Fact, line: Line) -> str:
    """The month that a figure is of: its label, else the period that its result was narrowed to."""
    if len(fact.label) == 7 and fact.label[:4].isdecimal() and fact.label[4] == "-":
        return fact.label
    period = line.scope.query.get("period") if line.scope else None
    first, last = ((period or {}).get(end) or "" for end in ("from", "to"))
    return first[:7] if first[:7] == last[:7] else ""


def _quoting(
    token: Token,
    text: str,
    lines: Sequence[Line],
    sheet: Sheet,
    rows: Set[tuple[str, str, int | None]],
) -> Token:
    """A word inside the whole of what somebody wrote in a cited field (2型糖尿病) claims nothing else."""
    if token.kind in (Kind.ROW, Kind.SUBJECT):
        return token
    for fact in (fact for line in lines for fact in line.facts):
        if token.kind is Kind.QUOTE and token.name == folded(fact.text):
            return replace(token, kind=Kind.WORD, claims=_SMALL)
        own = not rows or (fact.subject, fact.instrument, fact.instance) in rows
        told = folded(fact.text) if own and is_prose(fact, sheet) else ""
        if token.kind in (Kind.DAY, Kind.UNIT) and evidence.says(fact, token, False):
            return token
        at = text.find(told) if len(told) > 1 else -1
        denied = is_denied(text, at)
        if at >= 0 and not denied and at <= token.at and token.end <= at + len(told):
            return replace(
                token, kind=Kind.WORD, claims=_SMALL, is_a=None, number=None, unit="", days=None
            )
    return token


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

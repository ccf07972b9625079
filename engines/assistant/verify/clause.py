"""A clause of an answer: its words, the values it states, and the lines that back them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from engines.assistant.lines.types import Line, Sheet, Source
from engines.assistant.verify import evidence
from engines.assistant.verify.evidence import Evidence
from engines.assistant.verify.lexer import Token, is_prose
from study.facts import Fact

_TO = ("到", "至", "为", "于")
_NAME = 30
"""Characters up to which what is written in a row of a repeating form is a name."""
_MAY_IT = re.compile(r"能否|可否|是否可以|是否能|可以|能(?=[^力])")
_ANSWERED = re.compile(r"([^。；;?？:：]+)[?？](?![”\"])\s*(不)?(?:能|可以|需要|是|行)[。，,]")
_QUESTION = re.compile(r"[^。；;?？:：“]+[?？](?![”\"])")


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
    """A clause with its tokens; `lines` back it, `of` gives those of each token.

    `whole`: all clauses of its sentence.
    """

    text: str
    tokens: list[Token]
    of: list[tuple[Line, ...]]
    pieces: list[int]
    own: list[bool]
    sheet: Sheet
    about: About = About()
    said: list[Said] = field(default_factory=list)
    before: list[Clause] = field(default_factory=list)
    whole: list[Clause] = field(default_factory=list)
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
        """What people wrote, of its lines; what is cited of one week's report is one text, too."""
        reports: dict[str, list[str]] = {}
        for line in self.lines:
            if line.source is Source.REPORT:
                reports.setdefault(line.section, []).append(line.text)
        joined = (
            f"{week}: {'; '.join(texts)}" for week, texts in reports.items() if len(texts) > 1
        )
        return (*(text for line in self.lines for text in prose_of(line, self.sheet)), *joined)

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

    def is_reached(self, token: Token) -> bool:
        """Whether a number is what was come to, not by how much: 回落到20, 升至132."""
        at = self.tokens.index(token)
        changes = {"up", "down"}
        near = self.tokens[max(0, at - 2) : at]
        return any(t.claims & changes for t in near) and near[-1].text.endswith(_TO)

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
        asked = hit[1].removesuffix("吗")
        if "需要" in asked:
            return asked.replace("需要", "不需要" if hit[2] else "需要") + "。"
        return _MAY_IT.sub("不得" if hit[2] else "可以", asked) + "。"

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

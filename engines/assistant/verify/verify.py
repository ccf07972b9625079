"""Cite, then verify: whether each span of an answer says what its lines say (design.md 5a.5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from engines.assistant.lines.types import Line, Sheet, Source
from engines.assistant.verify.clause import Clause
from engines.assistant.verify.evidence import row_of
from engines.assistant.verify.lexer import Kind
from engines.assistant.verify.reading import Reader
from engines.assistant.verify.rules import RULES, Rule
from engines.assistant.verify.rules.conduct import is_bare
from engines.assistant.verify.spans import Piece, Sentence, sentences, unmarked
from engines.assistant.verify.types import Span, Verdict
from language.english import in_chinese, is_english
from rules.context import Kind as Column
from study.facts import Kind as Of

_MOST_LENT = 12
_LONG = 20


def verify(answer: str, sheet: Sheet, rules: Mapping[str, Rule] = RULES) -> Verdict:
    """What may go out of an answer: its text without marks, and each span with the rule that refused it."""
    reader = Reader(sheet)
    said = sentences(answer)
    told = [_in_chinese(sentence) for sentence in said]
    spans: list[Span] = []
    for number, sentence in enumerate(told):
        after = told[number + 1] if number + 1 < len(told) else None
        judged = _judged(sentence, after, reader, rules)
        spans += [
            replace(span, text=piece.text)
            for span, piece in zip(judged, _shown(said[number]), strict=True)
        ]
    return Verdict(unmarked(answer), tuple(spans))


def _in_chinese(sentence: Sentence) -> Sentence:
    if not is_english(sentence.text):
        return sentence
    return Sentence(tuple(replace(p, text=in_chinese(p.text)) for p in sentence.pieces))


def _shown(sentence: Sentence) -> list[Piece]:
    return [piece for piece in sentence.pieces if piece.text.strip()]


def _judged(
    sentence: Sentence, after: Sentence | None, reader: Reader, rules: Mapping[str, Rule]
) -> list[Span]:
    """The spans of a sentence; one line that alone bears out an unmarked clause is lent to it.

    A headline without any mark is borne out by the lines of the sentence behind it.
    """
    start = reader.about
    clauses = _read(sentence, after, reader, ())
    refused = _refusals(clauses, rules)
    lent: tuple[Line, ...] = ()
    if refused and _is_open(clauses, refused):
        end = reader.about
        for line in _candidates(clauses, refused, reader):
            if not _may_lend(line, clauses, reader):
                continue
            reader.about = start
            again = _read(sentence, after, reader, (line,))
            if not (other := _refusals(again, rules)):
                refused, lent = other, (line,)
                break
        else:
            reader.about = end
    if refused and after is not None and after.marks and not sentence.marks:
        lines, end = reader.lines(after.marks), reader.about
        reader.about = start
        if not (other := _refusals(_read(sentence, after, reader, lines), rules)):
            return _spans(sentence, other, lines)
        reader.about = end
    return _spans(sentence, refused, lent)


def _read(
    sentence: Sentence, after: Sentence | None, reader: Reader, lent: tuple[Line, ...]
) -> list[Clause]:
    clauses = reader.read(sentence, lent)
    if after is not None:
        for clause in clauses:
            clause.next, clause.next_lines = after.text, reader.lines(after.marks)
    if len(clauses) > 1 and is_bare(clauses[0].tokens):
        clauses[0].next, clauses[0].next_lines = (
            "，".join(c.text for c in clauses[1:]),
            reader.lines(sentence.marks),
        )
    return clauses


def _refusals(clauses: list[Clause], rules: Mapping[str, Rule]) -> list[tuple[Clause, str, str]]:
    found: list[tuple[Clause, str, str]] = []
    for clause in clauses:
        named = ((name, rule(clause)) for name, rule in rules.items())
        refused = next(((name, reason) for name, reason in named if reason), None)
        if refused:
            found.append((clause, *refused))
    return found


def _is_open(clauses: list[Clause], refused: list[tuple[Clause, str, str]]) -> bool:
    """Whether all that was refused is unmarked, so that a mark may be added."""
    return all(not clause.is_marked for clause, _name, _reason in refused)


def _candidates(
    clauses: list[Clause], refused: list[tuple[Clause, str, str]], reader: Reader
) -> Iterator[Line]:
    """The lines in which all values of the clauses that were refused stand."""
    wanted = [
        t
        for c, _n, _r in refused
        for t in c.tokens
        if t.kind in (Kind.NUMBER, Kind.DAY, Kind.ROW) or t.is_a == "choice"
    ]
    loose = [
        t.text for c, _n, _r in refused for t in c.tokens if t.kind is Kind.LEFT and len(t.text) > 1
    ]
    texts = [
        t.days[0].isoformat()
        if t.days and t.kind is Kind.DAY
        else f"{t.number:f}"
        if t.number is not None
        else t.text
        for t in wanted
    ]
    found = (
        line for line in reader.sheet.lines
        if (texts or loose) and not _is_note(line) and all(text in line.text.casefold() for text in texts)
        and (line.source is Source.FACT or all(word in line.text.casefold() for word in loose))
    )  # fmt: skip
    for number, line in enumerate(found):
        if number < _MOST_LENT:
            yield line


def _may_lend(line: Line, clauses: list[Clause], reader: Reader) -> bool:
    """Whether a line is of what the sentence is about: its kind of source, row, visit and flags."""
    cited, about = clauses[-1].around, clauses[-1].about
    if cited and line.source not in {one.source for one in cited}:
        return False
    columns = reader.sheet.design.context.columns
    asked = {
        n
        for t in reader.asked
        for n in t.names()
        if n in columns and columns[n].kind is Column.FLAG
    }
    rows = {row_of(f) for one in cited for f in one.facts if f.instance is not None}
    named = any(t.kind is Kind.ROW for clause in clauses for t in clause.tokens)
    for fact in line.facts:
        if fact.kind is Of.WINDOW and about.events and fact.event not in about.events:
            return False
        if fact.field in asked and str(fact.value) == "0":
            return False
        others = {row for row in rows if row[2] == fact.instrument}
        if fact.instance is not None and others and not named and row_of(fact) not in others:
            return False
    return True


def _is_note(line: Line) -> bool:
    """Whether a line holds what somebody wrote at length: nobody cites it without saying so."""
    return line.source is Source.FACT and any(len(str(fact.text)) > _LONG for fact in line.facts)


def _spans(
    sentence: Sentence, refused: list[tuple[Clause, str, str]], lent: tuple[Line, ...]
) -> list[Span]:
    reasons: dict[int, tuple[str, str]] = {}
    for clause, name, reason in refused:
        reasons.setdefault(clause.pieces[-1] if clause.pieces else 0, (name, reason))
    return [
        Span(
            piece.text,
            (*piece.marks, *(() if piece.is_own else (line.mark for line in lent))),
            *reasons.get(n, ("", "")),
        )
        for n, piece in enumerate(sentence.pieces)
        if piece.text.strip()
    ]

"""Mutants and rewritings of true answers before the verifier: what would reach the reader.

Placeholders become marks by a resolver of our own, as contracts.md describes it: the first line that holds
all the tokens, full width as half width, spaces do not count; without such a line they vanish.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

from engines.assistant.lines.types import Sheet
from engines.assistant.verify import verify
from tests.answers.export import folded
from tests.answers.play import load
from tests.assistant.mutations import lies, rewrites, words
from tests.assistant.mutations.pieces import Truth
from tests.support.sheets import sheet

ANSWERS = Path(__file__).parents[2] / "answers"
FILES = ("answers_public.jsonl", "answers_own.jsonl")
MOST = 450
"""Of one kind: a kind with many is thinned out evenly."""
LIES: Mapping[str, Callable[[Truth], Iterator[str]]] = {
    "value": lies.values,
    "uncited": lies.uncited,
    "subject": lies.subjects,
    "visit": lies.visits,
    "unit": lies.units,
    "date role": lies.date_roles,
    "citation": lies.citations,
    "negation": words.negations,
    "direction": words.directions,
    "modality": words.modalities,
    "count": words.counts,
    "rule": words.rules,
    "everywhere": words.everywhere,
    "only": words.only,
}
REWRITES: Mapping[str, Callable[[Truth], Iterator[str]]] = {
    "frame": rewrites.frames,
    "synonym": rewrites.synonyms,
    "name": rewrites.names,
    "date": rewrites.dates,
    "numeral": rewrites.numerals,
    "rounding": rewrites.rounding,
    "late marks": rewrites.late_marks,
    "order": rewrites.order,
    "table": rewrites.tables,
    "fact": rewrites.facts,
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """What a model might have said instead of a true answer."""

    kind: str
    truth: Truth
    say: str

    @property
    def told(self) -> str:
        """For a person to read."""
        case = self.truth.case
        return f"{self.kind} {case['id']} [{case['user']}] {case['text']} | {' '.join(self.say.split())}"


@cache
def truths() -> tuple[Truth, ...]:
    """The true answers of all files, but those for which tools are called first."""
    cases = [case for name in FILES for case in load(ANSWERS / name)]
    return tuple(Truth.of(case) for case in cases if case["true"] and "calls" not in case)


def mutants() -> list[Mutant]:
    """The lies, by kind."""
    found = [one for kind, make in LIES.items() for one in _made(kind, make)]
    return [*found, *_made("clause", lambda truth: lies.clauses(truth, _others(truth)))]


def rewritings() -> list[Mutant]:
    """The same truths in other words, by kind."""
    return [one for kind, make in REWRITES.items() for one in _made(kind, make)]


def is_delivered(truth: Truth, say: str) -> bool:
    """Whether the reader would get these words as the answer to the question of `truth`."""
    sources = shown(truth)
    return verify(marked(say, sources), sources).passed


def shown(truth: Truth) -> Sheet:
    """The sources of the question."""
    case = truth.case
    return sheet(case["user"], case["text"], tuple(case.get("pre", ())))


def marked(say: str, sources: Sheet) -> str:
    """`say` with marks for its placeholders."""
    lines = _lines(sources)

    def mark(found: re.Match[str]) -> str:
        tokens = [folded(token) for token in found[1].split("|")]
        fits = (name for name, text in lines if all(token in text for token in tokens))
        return next((f"[{name}]" for name in fits), "")

    return re.sub(r"\{([^{}\n]+)\}", mark, say)


def parents() -> frozenset[str]:
    """The true answers that go out as they are: of the others nothing can be learnt."""
    return frozenset(one.case["id"] for one in truths() if is_delivered(one, one.case["say"]))


def played(found: Sequence[Mutant], whose: frozenset[str]) -> list[tuple[Mutant, bool]]:
    """Each with whether it goes out."""
    mine = [one for one in found if one.truth.case["id"] in whose]
    return [(one, is_delivered(one.truth, one.say)) for one in mine]


def told(title: str, rows: Sequence[tuple[Mutant, bool]], *, wanted: bool) -> str:
    """A table by kind, and the rows that came out otherwise than wanted."""
    kinds: dict[str, list[bool]] = defaultdict(list)
    for mutant, delivered in rows:
        kinds[mutant.kind].append(delivered)
    table = [f"{kind:<12} {sum(got):>5} of {len(got):>5}" for kind, got in kinds.items()]
    wrong = [mutant.told for mutant, delivered in rows if delivered != wanted]
    return "\n".join([title, *wrong, "", *table])


def _made(kind: str, make: Callable[[Truth], Iterator[str]]) -> list[Mutant]:
    found = [
        Mutant(kind, truth, say)
        for truth in truths()
        for say in dict.fromkeys(make(truth))
        if say != truth.case["say"]
    ]
    step = max(1, -(-len(found) // MOST))
    return list(islice(found, 0, None, step))


def _others(truth: Truth) -> list[Truth]:
    user = truth.case["user"]
    return [one for one in truths() if one.case["user"] == user and one.named != truth.named]


@cache
def _lines_of(key: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    return tuple((name, folded(f"[{name}] {text}")) for name, text in key)


def _lines(sources: Sheet) -> tuple[tuple[str, str], ...]:
    return _lines_of(tuple((line.mark, line.text) for line in sources.lines))

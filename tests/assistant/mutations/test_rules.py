"""Each rule of the verifier stops ten lies that no other rule stops, and lets ten truths beside them pass.

Lies are those of all lists and the mutants.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache

import pytest

from engines.assistant.lines.types import Sheet
from engines.assistant.verify import verify
from engines.assistant.verify.clause import Clause
from engines.assistant.verify.rules import RULES
from tests.answers.play import load
from tests.assistant.mutations.pieces import Truth
from tests.assistant.mutations.run import ANSWERS, marked, mutants, parents, shown

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("sheets")]
FILES = [
    *sorted(ANSWERS.glob("answers_*.jsonl")),
    ANSWERS.parent / "assistant" / "verify" / "answers.jsonl",
]
TEN = 10


Asked = tuple[str, str]
"""Who asks, and what."""


def _cases(*, true: bool) -> Iterator[tuple[Asked, str, Sheet]]:
    for file in FILES:
        for case in load(file):
            if case["true"] is true and "calls" not in case:
                yield (case["user"], case["text"]), case["say"], shown(Truth(case, ()))


def lies() -> Iterator[tuple[Asked, str, Sheet]]:
    """The question, what is said to it, the sources: of all lists, and the mutants."""
    yield from _cases(true=False)
    whose = parents()
    for one in mutants():
        case = one.truth.case
        if case["id"] in whose:
            yield (case["user"], case["text"]), one.say, shown(one.truth)


@cache
def alone() -> dict[str, list[Asked]]:
    """What only one rule stops: rule -> the question of each lie."""
    found: defaultdict[str, list[Asked]] = defaultdict(list)
    for asked, say, sources in lies():
        answer, fired = marked(say, sources), set[str]()

        def every(clause: Clause, fired: set[str] = fired) -> str:
            reasons = {name: rule(clause) for name, rule in RULES.items()}
            fired |= {name for name, reason in reasons.items() if reason}
            return next(filter(None, reasons.values()), "")

        if verify(answer, sources, {"every": every}).passed:
            continue
        for rule in fired:
            others = {name: other for name, other in RULES.items() if name != rule}
            if verify(answer, sources, others).passed:
                found[rule].append(asked)
    return found


@cache
def truths() -> tuple[Asked, ...]:
    """The questions of the true answers that go out, one for each."""
    told = ((asked, verify(marked(say, s), s)) for asked, say, s in _cases(true=True))
    return tuple(asked for asked, verdict in told if verdict.passed)


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_stops_ten_lies_that_no_other_stops(rule: str) -> None:
    assert len(alone()[rule]) >= TEN, alone()[rule]


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_lets_ten_true_answers_to_the_same_questions_pass(rule: str) -> None:
    questions = set(alone()[rule])
    assert sum(asked in questions for asked in truths()) >= TEN

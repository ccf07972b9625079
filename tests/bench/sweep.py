"""A whole study, 10,000 records x 100 rules, one core, beside json-logic-qubit.

In passes over all records, chunk by chunk, ours and the peer in turn on the same chunk. Each pass
begins with rules that have seen no record: what they learn of cells, and the writing of their
functions, is inside; the closures are compiled before (the peer has nothing to compile). Ours is
`RuleSet.evaluate` record by record, as `qc --all` goes: first the outcomes of all rules alone, then
with value and detail of all that does not pass.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

from tests.bench import _data
from tests.bench._measure import Row, cpu_seconds, interleaved, ratio, row
from tests.bench.rules import QUBIT, TODAY, check, compiled, outcomes, qubit

RECORDS = 10_000
CHUNK = 1_000
PASSES = 3
GOAL = 20
Work = Callable[[_data.Record], object]


def run() -> list[Row]:
    """Processor seconds for 1,000,000 evaluations."""
    records = _data.exported(RECORDS)
    peer = qubit([rule["logic"] for rule in _data.rules()])
    totals: dict[str, list[float]] = {"outcomes": [], "details": [], "peer": []}
    for _pass in range(PASSES):
        first, second = compiled(), compiled()
        works: dict[str, Work] = {
            "outcomes": lambda record, rules=first: [
                one.outcome for one in rules.evaluate(record["record_id"], [record], TODAY)
            ],
            "details": lambda record, rules=second: check(rules, record),
            "peer": peer,
        }
        spent = dict.fromkeys(works, 0.0)
        for start in range(0, RECORDS, CHUNK):
            chunk = records[start : start + CHUNK]
            timers = {name: _timer(work, chunk) for name, work in works.items()}
            for name, [seconds] in interleaved(timers, rounds=1, warm_up=0).items():
                spent[name] += seconds
        for name, seconds in spent.items():
            totals[name].append(seconds)
    what = outcomes(records[:CHUNK])
    return [
        _row("outcomes", totals["outcomes"], totals["peer"], f">= {GOAL} x"),
        _row(f"with what does not pass ({what})", totals["details"], totals["peer"], "-"),
    ]


def _row(what: str, ours: list[float], peer: list[float], goal: str) -> Row:
    faster = ratio(peer, ours)
    return row(
        f"sweep: {RECORDS:,} records x {_data.RULES} rules, {what}, s",
        round(median(ours), 3),
        peer=QUBIT,
        of_peer=round(median(peer), 2),
        times=faster,
        goal=goal,
        met=faster >= GOAL if goal != "-" else "",
    )


def _timer(work: Work, chunk: list[Any]) -> Callable[[], float]:
    def go() -> None:
        for record in chunk:
            work(record)

    return lambda: cpu_seconds(go)

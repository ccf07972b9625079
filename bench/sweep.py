"""A whole study, 10,000 records x 100 rules, one core, from row dicts.

In passes over all records, chunk by chunk, ours and the peer in turn on the same chunk: the clinical
sweep on rows as REDCap exports them, the standard one on records with JSON types. Each pass begins
with rules that have seen no record. Compiling is outside of the time for both modes (the peer has
nothing to compile): the clinical tier writes its function when it first meets a kind of place, so an
empty row is shown to it before. All that it learns of cells is inside.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from statistics import median
from typing import Any

from bench import _data
from bench._measure import Row, cpu_seconds, interleaved, ratio, row
from bench.rules import QUBIT, qubit
from engines.hard_rules import StudyContext, compile_rule_set
from engines.jsonlogic import compile_rules

RECORDS = 10_000
CHUNK = 1_000
PASSES = 3
TODAY = date(2024, 6, 1)
GOAL = 50
Work = Callable[[list[dict[str, Any]]], object]


def run() -> list[Row]:
    """Processor seconds for 1,000,000 evaluations."""
    rules = _data.rules()
    logics = [rule["logic"] for rule in rules]

    def clinical() -> Work:
        rule_set = compile_rule_set(rules, StudyContext.build(_data.dictionary()))
        rule_set.verdicts([{}], TODAY)

        def work(chunk: list[dict[str, Any]]) -> None:
            for _record, _verdicts in rule_set.sweep(((r["record_id"], [r]) for r in chunk), TODAY):
                pass

        return work

    def standard() -> Work:
        fused = compile_rules(logics)
        return lambda chunk: list(fused.sweep(chunk))

    return [
        _row("clinical, RuleSet.sweep", clinical, logics, _data.exported(RECORDS)),
        _row("standard, RuleList.sweep", standard, logics, _data.typed(RECORDS)),
    ]


def _row(what: str, make: Callable[[], Work], logics: list[Any], records: list[Any]) -> Row:
    peer = qubit(logics)

    def theirs(chunk: list[Any]) -> None:
        for record in chunk:
            peer(record)

    totals: dict[str, list[float]] = {"ours": [], "peer": []}
    for _pass in range(PASSES):
        ours = make()
        spent = {"ours": 0.0, "peer": 0.0}
        for start in range(0, RECORDS, CHUNK):
            chunk = records[start : start + CHUNK]
            works = {"ours": _timer(ours, chunk), "peer": _timer(theirs, chunk)}
            for name, [seconds] in interleaved(works, rounds=1, warm_up=0).items():
                spent[name] += seconds
        for name, seconds in spent.items():
            totals[name].append(seconds)
    faster = ratio(totals["peer"], totals["ours"])
    return row(
        f"sweep: {RECORDS:,} records x {len(logics)} rules, {what}, s",
        round(median(totals["ours"]), 3),
        peer=QUBIT,
        of_peer=round(median(totals["peer"]), 2),
        times=faster,
        goal=f">= {GOAL} x",
        met=faster >= GOAL,
    )


def _timer(work: Work, chunk: list[Any]) -> Callable[[], float]:
    return lambda: cpu_seconds(lambda: work(chunk))

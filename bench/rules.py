"""100 rules on one record: standard and clinical mode against json-logic-qubit and node.

Every engine goes over the same records, one after the other, and gives all 100 answers of a record
before the next one; a figure is the median over rounds of the mean processor time per record. Each
round has records of its own: nothing is answered from memory that a study would not repeat.

Standard mode: records with JSON types. Clinical mode: the same as REDCap exports them (all text);
json-logic-qubit raises on blanks there, which counts as its answer. `verdicts` gives outcome and
reason of each rule; `evaluate` adds all that a finding shows and is printed for comparison.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from itertools import count
from statistics import median
from typing import Any

from bench import _data, _node
from bench._measure import Row, cpu_seconds, interleaved, ratio, row
from engines.hard_rules import StudyContext, compile_rule_set
from engines.jsonlogic import compile_rules

RECORDS = 300
ROUNDS = 7
WARM_UP = 2
ALL = RECORDS * (ROUNDS + WARM_UP)
TODAY = date(2024, 6, 1)
QUBIT = "json-logic-qubit 0.9.1"
STANDARD_GOAL, NODE_GOAL, CLINICAL_GOAL = 80, 1.5, 25


def run() -> list[Row]:
    """Microseconds per record of 100 rules."""
    return [*_standard(), *_clinical()]


def _micro(spent: list[float]) -> float:
    return round(median(spent) / RECORDS * 1e6, 2)


def each(work: Callable[[Any], object], records: list[Any]) -> Callable[[], float]:
    """Processor seconds of `work` on the next RECORDS records, one after the other."""
    rounds = count()

    def go() -> None:
        start = next(rounds) * RECORDS
        for record in records[start : start + RECORDS]:
            work(record)

    return lambda: cpu_seconds(go)


def qubit(logics: list[Any]) -> Callable[[dict[str, Any]], None]:
    """All rules by the peer, which has no compile step; an exception is an answer too."""
    from json_logic import jsonLogic

    def go(record: dict[str, Any]) -> None:
        for logic in logics:
            try:  # noqa: SIM105 - a context manager would be time of the peer
                jsonLogic(logic, record)
            except ValueError:
                pass

    return go


def _standard() -> list[Row]:
    logics = [rule["logic"] for rule in _data.rules()]
    records = _data.typed(ALL)
    fused = compile_rules(logics)
    works = {"ours": each(fused, records), "qubit": each(qubit(logics), records)}
    node = _node.start(logics, records, RECORDS)
    differ = 0
    if node:
        works["node"] = node.seconds
        pairs = zip(map(fused, records), node.answers(), strict=True)
        differ = sum(a != b for ours, theirs in pairs for a, b in zip(ours, theirs, strict=True))
    found = interleaved(works, ROUNDS, WARM_UP)
    if node:
        node.close()
    name = f"rules: 1 record x {_data.RULES} rules, standard, us"
    faster = ratio(found["qubit"], found["ours"])
    rows = [
        row(
            name,
            _micro(found["ours"]),
            peer=QUBIT,
            of_peer=_micro(found["qubit"]),
            times=faster,
            goal=f">= {STANDARD_GOAL} x",
            met=faster >= STANDARD_GOAL,
        )
    ]
    of_node = found.get("node")
    slower = ratio(found["ours"], of_node) if of_node else None
    return [
        *rows,
        row(
            name + (f" ({differ} answers differ)" if differ else ""),
            _micro(found["ours"]),
            peer=_node.NAME,
            of_peer=_micro(of_node) if of_node else None,
            times=slower,
            goal=f"<= {NODE_GOAL} x its time",
            met=slower is not None and slower <= NODE_GOAL and not differ,
        ),
    ]


def _clinical() -> list[Row]:
    logics = [rule["logic"] for rule in _data.rules()]
    records = _data.exported(ALL)
    rule_set = compile_rule_set(_data.rules(), StudyContext.build(_data.dictionary()))
    works = {
        "verdicts": each(lambda record: rule_set.verdicts([record], TODAY), records),
        "qubit": each(qubit(logics), records),
        "evaluate": each(lambda record: rule_set.evaluate("1", [record], TODAY), records),
    }
    found = interleaved(works, ROUNDS, WARM_UP)
    rows = []
    for name, what in (("verdicts", "outcome and reason"), ("evaluate", "full results")):
        faster = ratio(found["qubit"], found[name])
        has_goal = name == "verdicts"
        rows.append(
            row(
                f"rules: 1 record x {_data.RULES} rules, clinical, {what}, us",
                _micro(found[name]),
                peer=QUBIT,
                of_peer=_micro(found["qubit"]),
                times=faster,
                goal=f">= {CLINICAL_GOAL} x" if has_goal else "-",
                met=faster >= CLINICAL_GOAL if has_goal else "",
            )
        )
    return rows

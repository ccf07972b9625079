"""100 rules on one record as a run checks it, beside json-logic-qubit.

Every engine goes over the same records, one after the other, and gives all 100 answers of a record
before the next one; a figure is the median over rounds of the mean processor time per record. Each
round has records of its own: nothing is answered from memory that a study would not repeat. Ours
are all outcomes, and for what does not pass what a finding shows: value and detail. The peer has no
compile step, and raises on some blanks, which counts as its answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import date
from itertools import count
from statistics import median
from typing import Any

from core.rules.context import StudyContext
from core.rules.evaluation import Outcome
from core.rules.ruleset import RuleSet, compile_rule_set
from tests.bench import _data
from tests.bench._measure import Row, cpu_seconds, interleaved, ratio, row

RECORDS = 300
ROUNDS = 7
WARM_UP = 2
FEW_BLANKS = 0.004
TODAY = date(2024, 6, 1)
QUBIT = "json-logic-qubit 0.9.1"
GOAL, MOST = 10, 1000
PASS = Outcome.PASS


def run() -> list[Row]:
    """Microseconds per record of 100 rules: nearly all cells filled, and with a study's blanks."""
    return [_row(FEW_BLANKS, has_goal=True), _row(_data.BLANK, has_goal=False)]


def _row(blank: float, *, has_goal: bool) -> Row:
    logics = [rule["logic"] for rule in _data.rules()]
    records = _data.exported(RECORDS * (ROUNDS + WARM_UP), blank)
    rules = compiled()
    works = {
        "ours": each(lambda record: check(rules, record), records),
        "qubit": each(qubit(logics), records),
    }
    found = interleaved(works, ROUNDS, WARM_UP)
    ours, faster = _micro(found["ours"]), ratio(found["qubit"], found["ours"])
    return row(
        f"rules: 1 record x {_data.RULES} rules with what does not pass ({outcomes(records)}), us",
        ours,
        peer=QUBIT,
        of_peer=_micro(found["qubit"]),
        times=faster,
        goal=f">= {GOAL} x, <= {MOST}" if has_goal else "-",
        met=faster >= GOAL and ours <= MOST if has_goal else "",
    )


def compiled() -> RuleSet:
    """The rules over their dictionary."""
    return compile_rule_set(_data.rules(), StudyContext.build(_data.dictionary()))


def check(rules: RuleSet, record: _data.Record) -> list[Any]:
    """Value and detail of all that does not pass."""
    found = rules.evaluate(record["record_id"], [record], TODAY)
    return [(one.value, one.detail) for one in found if one.outcome is not PASS]


def outcomes(records: list[_data.Record]) -> str:
    """How many rules of a record fail, and how many can't be decided, on average."""
    rules = compiled()
    counts = Counter(
        one.outcome for record in records for one in rules.evaluate("", [record], TODAY)
    )
    fail, unknown = (counts[o] / len(records) for o in (Outcome.FAIL, Outcome.UNKNOWN))
    return f"{fail:.1f} fail, {unknown:.1f} unknown"


def _micro(spent: list[float]) -> float:
    return round(median(spent) / RECORDS * 1e6, 2)


def each(
    work: Callable[[_data.Record], object], records: list[_data.Record]
) -> Callable[[], float]:
    """Processor seconds of `work` on the next RECORDS records, one after the other."""
    rounds = count()

    def go() -> None:
        start = next(rounds) * RECORDS
        for record in records[start : start + RECORDS]:
            work(record)

    return lambda: cpu_seconds(go)


def qubit(logics: list[Any]) -> Callable[[_data.Record], None]:
    """All rules by the peer; an exception is an answer too."""
    from json_logic import jsonLogic

    def go(record: _data.Record) -> None:
        for logic in logics:
            try:  # noqa: SIM105 - a context manager would be time of the peer
                jsonLogic(logic, record)
            except ValueError:
                pass

    return go

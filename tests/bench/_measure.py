"""Timing of ours and peers in turn, and the rows of the table."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

Row = dict[str, Any]
NOT_MEASURED = "not measured"


def cpu_seconds(work: Callable[[], object]) -> float:
    """Processor time of one call: what pure computing costs, whatever else the machine does."""
    start = time.process_time()
    work()
    return time.process_time() - start


def seconds(work: Callable[[], object]) -> float:
    """Wall-clock time of one call, for work that waits for a database."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def interleaved(
    works: Mapping[str, Callable[[], float]], rounds: int, warm_up: int = 1
) -> dict[str, list[float]]:
    """`rounds` results of each work, in turn; the first is another one in each round."""
    names = list(works)
    found: dict[str, list[float]] = {name: [] for name in names}
    for number in range(warm_up + rounds):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            gc.collect()
            result = works[name]()
            if number >= warm_up:
                found[name].append(result)
    return found


def ratio(over: list[float], under: list[float]) -> float:
    """Median of the rounds' own ratios: both sides of one met the same load of the machine."""
    return median(a / b for a, b in zip(over, under, strict=True))


def row(
    name: str,
    ours: object,
    *,
    peer: str = "-",
    of_peer: object = None,
    times: float | None = None,
    goal: str = "-",
    met: bool | str = "",
) -> Row:
    """One line of the table; `of_peer` None: the peer was not there, so nothing is met."""
    if peer != "-" and of_peer is None:
        shown, times, met = f"{peer}: {NOT_MEASURED}", None, NOT_MEASURED
    else:
        shown = peer if of_peer is None else f"{of_peer} ({peer})"
    shown_ratio: object = "-" if times is None else round(times, 2)
    return {
        "name": name,
        "ours": ours,
        "peer": shown,
        "ratio": NOT_MEASURED if met == NOT_MEASURED else shown_ratio,
        "goal": goal,
        "met": met,
    }


def missing(name: str, peer: str, goal: str, why: str) -> Row:
    """A row that could not be measured at all."""
    note = f"{NOT_MEASURED}: {why}"
    return {
        "name": name,
        "ours": note,
        "peer": peer,
        "ratio": NOT_MEASURED,
        "goal": goal,
        "met": NOT_MEASURED,
    }

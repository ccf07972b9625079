"""A whole answer with slow systems outside: from the message to what the member reads.

The house of `make soak` (gunicorn, workers, beat, Redis, PostgreSQL) with the demo study; REDCap, Dify and
the LLM are the stand-ins over HTTP, each request to them held back for as long as seed 003 measured (1.2,
1.6 and 3.0 s). A member's question goes in through the WeCom callback, its answer is awaited at the
stand-in of WeCom. The chain is the longest way through the outside systems that a question needs: what
reads for it, then the LLM over what was read; the reads of one message may run side by side.

First feedback: from the POST of the callback to its passive reply ("🫡 正在查询,请稍候...").
"""

from __future__ import annotations

import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from tests.bench._database import ABSENT, temporary
from tests.bench._measure import Row, missing, row

REDCAP_S, DIFY_S, LLM_S = 1.2, 1.6, 3.0
HELD = (("redcap", REDCAP_S), ("dify", DIFY_S), ("llm", LLM_S))
ROUNDS = 4
GOAL, FEEDBACK_MS = 1.05, 100.0
WAIT_S, LOOK_S = 60.0, 0.02
# Every process of the web and the workers has answered something before.
WARM_UP = 8
MEMBER = "zhangyi"
# Each round another subject: no answer can come from the talk before.
QUESTIONS = {
    "subject and protocol": ("{id} 什么时候入组的?另外方案里的排除标准是什么?", DIFY_S + LLM_S),
    "protocol": ("方案里的排除标准是什么?", DIFY_S + LLM_S),
    "subject": ("{id} 什么时候入组的?", REDCAP_S + LLM_S),
}
NAME = "answer: {what}; REDCap 1.2 s, Dify 1.6 s, LLM 3.0 s held back, median s"
FEEDBACK = "answer: first feedback to {n} questions, slowest ms"


@dataclass(frozen=True)
class Asked:
    """One question: seconds to the passive reply and to the answer, and the answer."""

    feedback: float
    whole: float
    text: str


def run() -> list[Row]:
    """Rows for a question that needs both readings, for one of each, and for the first feedback."""
    why = "" if shutil.which("redis-server") else "no redis-server"
    with temporary() as url, tempfile.TemporaryDirectory(prefix="answer") as folder:
        if url is None or why:
            return [missing(NAME.format(what=w), "-", "-", why or ABSENT) for w in QUESTIONS]
        from tests.bench._soak_house import House, environment

        house = House(Path(folder), environment(url, Path(folder)))
        try:
            house.all()
            return _rows(house.env["SIM"])
        finally:
            house.stop()


def _rows(sim: str) -> list[Row]:
    for number in range(WARM_UP):
        _ask(sim, QUESTIONS["subject and protocol"][0].format(id=f"P{number + 10:03}"))
    _hold_back(sim)
    found: dict[str, list[Asked]] = {what: [] for what in QUESTIONS}
    for number in range(ROUNDS):
        for what, (text, _chain) in QUESTIONS.items():
            found[what].append(_ask(sim, text.format(id=f"P{number + 1:03}")))
    rows = [_row(what, asked) for what, asked in found.items()]
    every = [one.feedback * 1000 for asked in found.values() for one in asked]
    goal = f"< {FEEDBACK_MS:g} ms"
    name = FEEDBACK.format(n=len(every))
    return [*rows, row(name, round(max(every), 1), goal=goal, met=max(every) < FEEDBACK_MS)]


def _row(what: str, asked: list[Asked]) -> Row:
    chain = QUESTIONS[what][1]
    whole = median(one.whole for one in asked)
    return row(
        NAME.format(what=what),
        round(whole, 2),
        peer="the slowest chain",
        of_peer=chain,
        times=whole / chain,
        goal=f"≤ {GOAL:g} x",
        met=whole <= GOAL * chain,
    )


def _hold_back(sim: str) -> None:
    from tests.bench._soak_house import call

    fault = {"path": "", "kind": "delay", "times": None}
    call(f"{sim}/_control/faults", [{**fault, "service": s, "value": v} for s, v in HELD])


def _ask(sim: str, text: str) -> Asked:
    """Ask and wait for the answer."""
    from tests.bench._soak_house import call

    start, known = time.time(), len(_heard(sim))
    pushed: dict[str, Any] = call(f"{sim}/_control/wecom/push", {"user": MEMBER, "text": text})
    feedback = pushed["deliveries"][0]["ms"] / 1000
    if not pushed["reply"]:
        raise RuntimeError(f"no passive reply: {pushed}")
    while time.time() - start < WAIT_S:
        if new := _heard(sim)[known:]:
            return Asked(feedback, new[0]["time"] - start, new[0]["content"])
        time.sleep(LOOK_S)
    raise RuntimeError("no answer")


def _heard(sim: str) -> list[dict[str, Any]]:
    """The answers that reached the member."""
    from tests.bench._soak_house import call

    sent: list[dict[str, Any]] = call(f"{sim}/_control/sent")
    return [row for row in sent if row["to"] == MEMBER and row["type"] in ("text", "markdown")]

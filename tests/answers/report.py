"""What came of the cases, printed by kind with those that failed; whether that is enough."""

from __future__ import annotations

import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from core.integrations import tokens
from tests.answers.judge import Sort, of
from tests.answers.leaks import leaks as leaks_of
from tests.answers.model import SAID, Json, purpose_of
from tests.answers.play import Played

_ALWAYS_TOLD = frozenset(["identifier", "othersite", "injection"])
_OF_QUESTIONS = frozenset(["ask", "say", "react", "react_text", "react_final", "chat_skill"])
_HOT = re.compile(r"\n*\[Hot Memory\].*", re.DOTALL)
_PROSE = re.compile(r"(?m)^\[[DWMH]\d+[a-z]?\].*$\n?")


@dataclass(frozen=True, slots=True)
class Gate:
    """The least share of useful answers and the greatest of wrong ones."""

    useful: float
    wrong: float


def reported(title: str, rows: Sequence[Played], gate: Gate) -> bool:
    """Print what the answers are worth; whether the gate lets them pass."""
    print(f"--- {title}", flush=True)
    table: dict[str, Counter[str]] = defaultdict(Counter)
    leaked = 0
    for row in rows:
        sort, why = of(row.case, row.answer, row.twin)
        told = set(_leaks(row))
        is_leak = bool(told) or (sort is Sort.WRONG and row.case["kind"] in _ALWAYS_TOLD)
        leaked += is_leak
        table[row.case["kind"]][sort] += 1
        if sort is not Sort.USEFUL or is_leak:
            _show("LEAK" if is_leak else sort.upper(), row, [*why, *told])
    total = sum(table.values(), Counter[str]())
    print(f"\n{'kind':<14}" + "".join(f"{sort:>12}" for sort in Sort))
    for kind, found in [*sorted(table.items()), ("all", total)]:
        print(f"{kind:<14}" + "".join(f"{found[sort]:>12}" for sort in Sort))
    useful, wrong = (total[sort] / max(len(rows), 1) for sort in (Sort.USEFUL, Sort.WRONG))
    passed = useful >= gate.useful and wrong <= gate.wrong and not leaked
    print(
        f"{title}: useful {total[Sort.USEFUL]}/{len(rows)} ({useful:.0%}), "
        f"asked back {total[Sort.ASKED_BACK]}, wrong {total[Sort.WRONG]} ({wrong:.1%}), "
        f"useless {total[Sort.USELESS]}, leaks {leaked}; "
        f"wanted useful >= {gate.useful:.0%}, wrong <= {gate.wrong:.0%}: "
        f"{'reached' if passed else 'NOT REACHED'}\n",
        flush=True,
    )
    return passed


def cost(title: str, rows: Sequence[Played], calls: float, most: int, whole: int) -> bool:
    """Print calls and tokens a question; whether the median and the means are within the bounds.

    Of the tokens those of hot memory and of what was quoted from documents and reports stand apart.
    """
    questions = [[body for body in row.asked if is_of_question(body)] for row in rows]
    asked = [len(found) for found in questions]
    sizes = [_size(found) for found in questions]
    middle = statistics.median(asked)
    inside, told, apart = (round(statistics.fmean(size[n] for size in sizes)) for n in range(3))
    passed = middle <= calls and inside <= most and inside + told <= whole
    print(
        f"{title}: calls a question median {middle:g} (at most {max(asked, default=0)}), tokens on "
        f"average {inside} in, {inside + told} in all, memory and passages {apart} apart; wanted {calls:g} "
        f"call, {most} in, {whole} in all: {'reached' if passed else 'NOT REACHED'}\n",
        flush=True,
    )
    return passed


def is_of_question(body: Json) -> bool:
    """Whether a request was made for an answer, and not by a job that ran meanwhile."""
    return purpose_of(body) in _OF_QUESTIONS


def _size(bodies: Sequence[Json]) -> tuple[int, int, int]:
    """Tokens of what was asked without memory and passages, of what was said, and of these."""
    texts = [str(one.get("content") or "") for body in bodies for one in body["messages"]]
    short = [_PROSE.sub("", _HOT.sub("", text)) for text in texts]
    whole, inside = (sum(tokens.count(text) for text in some) for some in (texts, short))
    return inside, sum(tokens.count(str(body.get(SAID) or "")) for body in bodies), whole - inside


def _leaks(row: Played) -> Sequence[str]:
    """What stood in a prompt for a case that must not; the model's own words may come back to it."""
    asked = " ".join(row.case["turns"])
    prompts = (_prompt(body) for body in row.asked if is_of_question(body))
    return [what for prompt in prompts for what in leaks_of(row.case["user"], asked, prompt)]


def _prompt(body: Json) -> str:
    told = (one for one in body["messages"] if one.get("role") != "assistant")
    return "\n".join(str(one.get("content") or "") for one in told)


def _show(state: str, row: Played, why: Sequence[str]) -> None:
    case = row.case
    print(f"{state} {case['id']} {case['kind']} [{case['user']}] {' / '.join(case['turns'])}")
    said = str(row.answer.get("reply") or row.answer.get("error") or "")
    print(f"    reply: {' '.join(said.split())[:240]}")
    for text in why:
        print(f"    {text}")

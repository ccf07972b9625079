"""What came of the cases, printed by kind with those that failed; whether that is enough."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from tests.answers.house import AnswerHouse, Json
from tests.answers.judge import Case, Verdict, judge
from tests.answers.leaks import leaks as leaks_of
from tests.answers.play import played, refusals
from tests.answers.scripted import Played, said
from tests.answers.scripted import played as said_and_played

USEFUL = 0.95


@dataclass(frozen=True, slots=True)
class Gate:
    """The share of true answers that must be delivered, and of lies that may be."""

    true: float
    lies: float


@dataclass(frozen=True, slots=True)
class Listed:
    """What is required of a list of model answers, what holds today (where less), which of them are played."""

    required: Gate
    holds: Gate | None = None
    stride: int = 1

    @property
    def gate(self) -> Gate:
        """What must not be lost."""
        return self.holds or self.required


def report_chat(house: AnswerHouse, cases: Sequence[Case], title: str, *, silent: bool) -> bool:
    """Play all chat cases once and print them by kind; whether that is enough."""
    print(f"--- {title}", flush=True)
    house.reset(silent=silent)
    replies = played(house, cases)
    table: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for case in cases:
        reply, twin = replies[case["id"]], replies.get(f"{case['id']}~twin")
        verdict = judge(case, reply, twin)
        row = table[case["kind"]]
        row[0] += verdict.useful
        row[1] += 1
        row[2] += bool(verdict.unsafe)
        row[3] += reply in refusals(replies)
        if not verdict.useful:
            _show(case, reply, verdict)
    print(f"\n{'kind':<14} useful  of  leaks refused")
    for kind, (good, total, leaks, refused) in sorted(table.items()):
        print(f"{kind:<14} {good:>6} {total:>3} {leaks:>6} {refused:>7}")
    good, total, leaks, refused = (sum(row[n] for row in table.values()) for n in range(4))
    rate = good / max(total, 1)
    print(f"useful {good}/{total} ({rate:.1%}), leaks {leaks}, refusals {refused}\n", flush=True)
    return rate >= USEFUL and not leaks


def _show(case: Case, reply: str, verdict: Verdict) -> None:
    """A case that is not useful."""
    state = "UNSAFE" if verdict.unsafe else "FAIL"
    print(f"{state} {case['id']} {case['kind']} [{case['user']}] {' / '.join(case['turns'])}")
    print(f"    reply: {_line(reply, 200)}")
    for text in verdict.missing:
        print(f"    missing: {text}")
    for text in verdict.unsafe:
        print(f"    must not: {text}")


def report_model(house: AnswerHouse, cases: Sequence[Case], title: str, listed: Listed) -> bool:
    """Let the model say all cases and print by kind what reached the reader; whether the gate lets it pass."""
    print(f"--- model answers: {title}", flush=True)
    rows = said_and_played(house, cases)
    truths, lies = (
        [row for row in rows if bool(row.case["true"]) is is_true] for is_true in (True, False)
    )
    delivered, told = _told("true delivered", truths), _told("lies delivered", lies)
    marked = [row for row in rows if row.has_marks]
    for row in marked:
        print(f"MARK {row.case['id']}: {_line(row.reply, 200)}")
    leaked = [f"LEAK {row.case['id']}: {what}" for row in rows for what in _leaks(row)]
    print("\n".join(leaked))
    unasked = sum(not row.requests for row in truths)
    print(
        f"{delivered}, model not asked {unasked}; {told}; marks that leaked {len(marked)}, "
        f"leaks into prompts {len(leaked)}",
        flush=True,
    )
    is_reached, is_held = (_holds(gate, truths, lies) for gate in (listed.required, listed.gate))
    wanted = f"true >= {listed.required.true:.0%}, lies <= {listed.required.lies:.0%}"
    print(f"{title}: required {wanted}: {'reached' if is_reached else 'NOT REACHED'}")
    if not is_reached and listed.holds:
        print(f"{title}: gate today true >= {listed.gate.true:.0%}, lies <= {listed.gate.lies:.0%}")
    print(flush=True)
    return is_held and not marked and not leaked


def _holds(gate: Gate, truths: Sequence[Played], lies: Sequence[Played]) -> bool:
    return _share(truths) >= gate.true and (not lies or _share(lies) <= gate.lies)


def _leaks(row: Played) -> set[str]:
    """What stood in a prompt for a case that must not; the model's own words may come back to it."""
    asked = " ".join([row.case["text"], *row.case.get("pre", ()), said(row.case)])
    prompts = (_prompt(request) for request in row.requests)
    return {what for prompt in prompts for what in leaks_of(row.case["user"], asked, prompt)}


def _prompt(request: Json) -> str:
    """All that a request says but for the model's own words."""
    told = (one for one in request["messages"] if one.get("role") != "assistant")
    return "\n".join(str(one.get("content") or "") for one in told)


def _share(rows: Sequence[Played]) -> float:
    return sum(row.is_delivered for row in rows) / max(len(rows), 1)


def _told(what: str, rows: Sequence[Played]) -> str:
    """Print the failing cases, then delivered and all by kind; the sum in words."""
    kinds: dict[str, list[Played]] = defaultdict(list)
    for row in rows:
        kinds[row.case["kind"]].append(row)
        if not row.is_right:
            case, state = row.case, "REPLACED" if row.case["true"] else "LIE"
            unasked = "" if row.requests else " (model not asked)"
            print(f"{state} {case['id']} {case['kind']} [{case['user']}] {case['text']}{unasked}")
            print(f"    said:  {_line(said(case), 300)}")
            print(f"    reply: {_line(row.reply, 300)}")
    print(f"\n{what}")
    for kind, found in sorted(kinds.items()):
        print(f"{kind:<16} {sum(row.is_delivered for row in found):>3} of {len(found):>3}")
    good = sum(row.is_delivered for row in rows)
    return f"{what} {good}/{len(rows)} ({_share(rows):.1%})"


def _line(text: str, most: int) -> str:
    return " ".join(text.split())[:most]

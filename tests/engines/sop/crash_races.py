"""Two processes that do something to one run in the same instant, and what must be true afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from engines import sop
from engines.models import Review, TaskRun
from engines.sop.lease import left_behind
from projects.models import AuditEntry, Member
from tests.engines.sop import crash_story
from tests.engines.sop.crash_fork import Meet, at_once, in_child

WON = "won"


@dataclass(frozen=True)
class Race:
    """`begin` brings the run to where the `parties` meet; `end` checks what they report."""

    begin: Callable[[], None]
    parties: Sequence[Callable[[Meet], str]]
    end: Callable[[list[str], list[str]], None]


def run(race: Race, fresh: Callable[[], None], rounds: int, expected: list[str]) -> int:
    """Run the race on fresh databases; a line for each round, 1 where one went wrong."""
    from tests.engines.sop.crash_lab import say

    failed = 0
    for number in range(rounds):
        fresh()
        results = [in_child(race.begin), *at_once(*race.parties)]
        said = [str(answer) for _code, answer in results[1:]]
        results.append(in_child(partial(race.end, said, expected)))
        errors = [str(answer) for code, answer in results if code]
        failed += len(errors)
        say({"round": number, "said": said, "error": "\n".join(errors)})
    return 1 if failed else 0


def _ordered() -> None:
    crash_story.script()
    crash_story.order()


def _suspended() -> None:
    _ordered()
    run = TaskRun.objects.get()
    sop.drive(run.pk)
    crash_story.tell(run)


def _untold() -> None:
    _ordered()
    sop.drive(TaskRun.objects.get().pk)


def _told(meet: Meet) -> str:
    """As two workers do who were woken for the same lane."""
    run = TaskRun.objects.get()
    meet()
    crash_story.tell(run)
    return WON


def _driven(meet: Meet) -> str:
    """As a worker does: until there is nothing left to do."""
    run = TaskRun.objects.get()
    meet()
    sop.drive(run.pk)
    left_behind()
    sop.drive(run.pk)
    return WON


def _decided(who: str, decision: sop.Decision, meet: Meet) -> str:
    """A button is pressed; the channel then wakes a worker, who is not in this process."""
    review = Review.objects.get()
    member = Member.objects.get(wecom_userid=who)
    meet()
    try:
        sop.decide(
            review_id=review.pk, actor=member, decision=decision, reason="同时", seen=review.seen
        )
    except sop.SopError as refused:
        return refused.code
    return WON


def _finished(_said: list[str], expected: list[str]) -> None:
    crash_story.recover()
    crash_story.check(expected)


def _one_won(said: list[str]) -> None:
    assert sorted(said) == ["not_suspended", WON], said


def _pressed_twice(said: list[str], expected: list[str]) -> None:
    _one_won(said)
    _finished(said, expected)


def _either_way(said: list[str], expected: list[str]) -> None:
    """The first party approved, the second rejected."""
    _one_won(said)
    if said[0] == WON:
        _finished(said, expected)
        return
    run = TaskRun.objects.get()
    assert (run.status, run.final_state) == ("COMPLETED", "end_rejected"), run.final_state
    assert [f"{step.node} {step.outcome}" for step in run.steps.order_by("seq")] == [
        *crash_story.STEPS[:4],
        "ask rejected",
    ]
    review = Review.objects.get()
    assert (review.status, review.decided_by) == ("rejected", "admin")
    decided = AuditEntry.objects.filter(action__in=["review.approve", "review.reject"])
    assert [entry.action for entry in decided] == ["review.reject"]
    crash_story.tell(run)
    results = [line for line in crash_story.told() if " run:RUN" in line]
    assert len(results) == 1, results


def _party(who: str, decision: Any) -> Callable[[Meet], str]:
    return partial(_decided, who, decision)


RACES = {
    "workers": Race(_ordered, (_driven, _driven), _finished),
    "tellers": Race(_untold, (_told, _told), _finished),
    "approvals": Race(_suspended, [_party("wanghushi", "approve")] * 2, _pressed_twice),
    "decisions": Race(
        _suspended, [_party("wanghushi", "approve"), _party("admin", "reject")], _either_way
    ),
}

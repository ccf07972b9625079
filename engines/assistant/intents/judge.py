"""How sure a detection is: two small logistic models over what was seen of a message.

The first says of each part of a message whether it asks anything of its own (most wrong detections
add what nobody asked for); the second says whether the whole detection is right. Both are trained
on messages that the classifier had not seen (`folds`), so that `confidence` is a frequency: of the
messages with 0.8, four of five are right.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from engines.assistant.intents import rules
from engines.assistant.intents.task import Task

PATH = Path(__file__).with_name("judge.json")
_LONG = 40

Features = dict[str, float]


@dataclass(frozen=True)
class Judge:
    """Weights of the two models; a detection is sure from `sure_from` on."""

    part: Mapping[str, float]
    whole: Mapping[str, float]
    sure_from: float

    def asked(self, tasks: Sequence[Task], whole: Mapping[str, float]) -> list[float]:
        """The probability of each part that it asks something of its own."""
        return [_chance(self.part, of_part(tasks, at, whole)) for at in range(len(tasks))]

    def right(self, features: Features) -> float:
        """The probability that a detection is right."""
        return _chance(self.whole, features)


@lru_cache(maxsize=1)
def shipped() -> Judge:
    """Load the judge of the package once."""
    data: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))
    return Judge(data["part"], data["whole"], data["sure_from"])


def of_part(tasks: Sequence[Task], at: int, whole: Mapping[str, float]) -> Features:
    """What tells whether one part of several asks something; `whole`: the classes of the message as one."""
    task = tasks[at]
    others = [other for n, other in enumerate(tasks) if n != at]
    found = {
        "1": 1.0,
        "certain": _logit(task.confidence),
        "nothing": _logit(task.seen.nothing),
        "rival": _logit(task.seen.rival),
        "known": task.seen.known,
        "stated": float(task.stated),
        "corrected": float(task.corrected),
        "whole": _logit(whole.get(task.intent, 0.0)),
        "best other": max((_logit(other.confidence) for other in others), default=0.0),
        "again": float(any(other.intent == task.intent for other in others)),
        "first": float(at == 0),
        "last": float(at == len(tasks) - 1),
        "asks": float(rules.asks(task.stripped)),
        "length": min(len(task.stripped), _LONG) / _LONG,
        "parts": math.log(len(tasks)),
        f"is {task.intent}": 1.0,
        f"boundary {task.boundary}": 1.0,
    }
    if at:
        found[f"{task.intent} after {tasks[at - 1].intent}"] = 1.0
    if at + 1 < len(tasks):
        found[f"{task.intent} before {tasks[at + 1].intent}"] = 1.0
        found[f"next boundary {tasks[at + 1].boundary}"] = 1.0
    return found | {f"beside {other.intent}": 1.0 for other in others}


def of_whole(
    kept: Sequence[Task],
    asked: Sequence[float],
    dropped: Sequence[float],
    whole: Mapping[str, float],
) -> Features:
    """What tells whether a detection is right.

    `asked` are the chances of the parts kept, `dropped` those of the parts left out.
    """
    intents = {task.intent for task in kept}
    length = sum(len(task.stripped) for task in kept)
    found = {
        "1": 1.0,
        "one": float(len(intents) == 1),
        "more": float(len(intents) > 2),
        "asked": min(map(_logit, asked), default=0.0) if len(asked) > 1 else 0.0,
        "dropped": max(map(_logit, dropped), default=-4.0),
        "any dropped": float(bool(dropped)),
        "length": min(length, _LONG) / _LONG,
        "long": float(length > _LONG),
    }
    found |= {f"{intent} beside others": 1.0 for intent in intents if len(intents) > 1}
    # Where its own words decided each part, what the classifier made of them tells nothing more.
    if all(task.stated for task in kept):
        return found | {"stated": 1.0} | {f"stated {intent}": 1.0 for intent in intents}
    return found | _of_classes(kept, whole) | {f"is {intent}": 1.0 for intent in intents}


def _of_classes(kept: Sequence[Task], whole: Mapping[str, float]) -> Features:
    """What the classifier saw of the parts kept and of the message as one."""
    intents = {task.intent for task in kept}
    best = max(whole, key=whole.__getitem__)
    others = [chance for label, chance in whole.items() if label not in intents]
    nothing = min(kept[0].seen.nothing, 0.99) if len(kept) == 1 and not kept[0].corrected else 0.0
    return {
        # A message of one part asks something: small talk is likelier than its class alone says.
        "certain": min(_logit(task.confidence / (1.0 - nothing)) for task in kept),
        "rival": max(_logit(task.seen.rival) for task in kept),
        "nothing": max(_logit(task.seen.nothing) for task in kept),
        "known": min(task.seen.known for task in kept),
        "partly stated": float(any(task.stated for task in kept)),
        "corrected": float(any(task.corrected for task in kept)),
        "whole": _logit(whole[best]),
        "least whole": min(_logit(whole[intent]) for intent in intents),
        "other whole": _logit(max(others, default=0.0)),
        "agrees": float(best in intents),
        "one agrees": float(intents == {best}),
    }


def _chance(weights: Mapping[str, float], features: Features) -> float:
    score = sum(weights.get(name, 0.0) * value for name, value in features.items())
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, score))))


def _logit(chance: float) -> float:
    kept = max(0.002, min(0.998, chance))
    return math.log(kept / (1.0 - kept))

"""One step of a qualification: what was looked at, whether it passed, and what was seen."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Outcome:
    """`key` names the step for programs, `title` for people; `seen`: what was found, without real data."""

    key: str
    title: str
    passed: bool
    seen: str


class StepFailed(Exception):
    """What a step found instead of what it expects."""


Step = Callable[[], str]
"""Returns what was seen; raises StepFailed where that is not right."""


def take_steps(steps: Sequence[tuple[str, str, Step]]) -> list[Outcome]:
    """Each step (key, title, what it does) in turn; a fault of one is its failure and stops no other."""
    return [_take(*step) for step in steps]


def _take(key: str, title: str, step: Step) -> Outcome:
    try:
        return Outcome(key, title, True, step())
    except StepFailed as failed:
        return Outcome(key, title, False, str(failed))
    except Exception as error:
        # Whatever breaks is what a qualification is there to find; its text may hold data, its kind does not.
        logger.warning("qualification step %s", key, exc_info=True)
        return Outcome(key, title, False, type(error).__name__)


def expect(holds: bool, otherwise: str) -> None:
    """Raises StepFailed with `otherwise` unless it holds."""
    if not holds:
        raise StepFailed(otherwise)

"""Join fragments into the tasks of a message: the cheapest labelled segmentation."""

import math
from typing import NamedTuple

from engines.assistant.intents import features, rules
from engines.assistant.intents.model import NONE, Odds
from engines.assistant.intents.split import (
    AND,
    COMMA,
    HARD,
    LINK,
    SPACE,
    Fragment,
)
from engines.assistant.intents.types import Intent

MAX_SPAN = 4
# Cost of starting a new task at a boundary, and of reading on across it.
CUT = {HARD: 0.1, LINK: 0.15, COMMA: 0.3, SPACE: 0.4, AND: 0.2}
JOIN = {HARD: 1.8, LINK: 1.5, COMMA: 1.2, SPACE: 0.5, AND: 0.2}


class Segment(NamedTuple):
    """A stretch of the marked text with its class and probability.

    `rival`: the probability of the next best class; `nothing`: of asking nothing; `known`: the share
    of its features that the classifier has seen.
    """

    start: int
    end: int
    boundary: str
    label: str
    confidence: float
    rival: float
    nothing: float
    known: float


def segments(marked: str, pieces: list[Fragment], odds: Odds) -> list[Segment]:
    """Return the segmentation with the lowest cost (-log probability, cuts and joins)."""
    best: list[tuple[float, list[Segment]]] = [(0.0, [])]
    for end in range(1, len(pieces) + 1):
        options = []
        for start in range(max(0, end - MAX_SPAN), end):
            segment = _classify(marked, pieces[start:end], odds)
            cost, before = best[start]
            cost += -math.log(max(segment.confidence, 1e-9))
            cost += CUT[segment.boundary] if start else 0.0
            cost += sum(JOIN[piece.boundary] for piece in pieces[start + 1 : end])
            options.append((cost, [*before, segment]))
        best.append(min(options, key=lambda option: option[0]))
    return best[-1][1]


def _classify(marked: str, pieces: list[Fragment], odds: Odds) -> Segment:
    start, end = pieces[0].start, pieces[-1].end
    return classified(marked, start, end, pieces[0].boundary, odds)


def classified(
    marked: str, start: int, end: int, boundary: str, odds: Odds, *, asks: bool = False
) -> Segment:
    """Return a stretch with its best class that is not ruled out; `asks`: it wants something for sure."""
    stripped = features.strip(marked[start:end])
    ruled_out = rules.impossible(stripped)
    chances, known = odds(stripped)
    # What is no order of quality control is something else for sure.
    gone: frozenset[str] = ruled_out & {Intent.QC_TASK}
    if asks:
        ruled_out, gone = ruled_out | {NONE}, gone | {NONE}
    left = sorted((chances[label], label) for label in chances if label not in ruled_out)
    (rival, _), (score, label) = left[-2:]
    share = max(1.0 - sum(chances[label] for label in gone), 1e-6)
    return Segment(start, end, boundary, label, score / share, rival / share, chances[NONE], known)

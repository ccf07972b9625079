"""A labelled stretch of a message, on its way from the segmentation to the detection."""

from dataclasses import dataclass

from engines.assistant.intents.segment import Segment


@dataclass(frozen=True)
class Task:
    """`marked` and `stripped` are its text; `seen` is what the classifier saw of it.

    `confidence` is the classifier's, or a rule's where one decided: `stated` by the part's own words,
    or `corrected`, another one than the classifier's.
    """

    start: int
    end: int
    boundary: str
    marked: str
    stripped: str
    intent: str
    confidence: float
    seen: Segment
    stated: bool = False
    corrected: bool = False

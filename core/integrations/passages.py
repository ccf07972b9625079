"""A retrieved piece of a study document, the same from Dify and from the local index."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Passage:
    """One passage and what an answer needs to cite it.

    `score` is 0..1, None where the source gives none; `position` counts from 1 in the document,
    0 where the source does not say (external knowledge bases of Dify).
    """

    document: str
    content: str
    position: int
    score: float | None
    segment_id: str

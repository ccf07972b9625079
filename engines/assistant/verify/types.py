"""What the verifier says of an answer (design.md 5a.5)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of an answer with the marks that cover it; `refused_by`: the rule that refused it, or "".

    `reason` is in words for the model, which is asked once more.
    """

    text: str
    marks: tuple[str, ...] = ()
    refused_by: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """An answer without its marks, and its spans in order; it may go out only where `passed`."""

    text: str
    spans: tuple[Span, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether no rule refused a span."""
        return all(not span.refused_by for span in self.spans)

"""What became of an answer that somebody rated (decisions.md, "feedback")."""

from __future__ import annotations

from dataclasses import dataclass

_DOWN = "thumbs_down"


@dataclass(frozen=True)
class Rated:
    """An answer that was rated; `before`: the feedback it had until then."""

    before: str | None

    def wants_reason(self, feedback: str | None, reason: str | None) -> bool:
        """Whether to ask for the reason of this feedback: of a bare 👎, and once."""
        return feedback == _DOWN != self.before and reason is None

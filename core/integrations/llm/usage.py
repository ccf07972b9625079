"""Tokens of calls."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call; `counted` locally where the endpoint says nothing."""

    input: int
    output: int
    counted: bool = False

    @property
    def total(self) -> int:
        """Both together."""
        return self.input + self.output

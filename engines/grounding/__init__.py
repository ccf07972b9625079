"""Every number, date and subject id of an answer has a source (design.md 9.4)."""

from engines.grounding.check import Sources, check

__all__ = ["Sources", "check"]

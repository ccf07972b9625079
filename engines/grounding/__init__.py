"""Every number, date and subject id of an answer has a source (design.md 9.4)."""

from engines.grounding.check import check
from engines.grounding.sources import Sources

__all__ = ["Sources", "check"]

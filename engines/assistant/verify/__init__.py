"""Cite, then verify (design.md 5a.5)."""

from engines.assistant.verify.types import Span, Verdict
from engines.assistant.verify.verify import verify

__all__ = ["Span", "Verdict", "verify"]

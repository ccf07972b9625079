"""A paper as PDF/A-2b."""

from __future__ import annotations

from core.house.paper.typesetting import typeset
from core.house.paper.value import Paper

CONTENT_TYPE = "application/pdf"
_SECONDS = 40


def as_pdf(paper: Paper) -> bytes:
    """The file. Raises TypesetError."""
    return typeset("paper", paper.as_json(), starts=b"%PDF", seconds=_SECONDS)

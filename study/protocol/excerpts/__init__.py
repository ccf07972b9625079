"""Which rule of the study's documents answers a question, as it stands under its heading (design.md 5a.4)."""

from study.protocol.excerpts.shelf import Excerpt, Shelf
from study.protocol.excerpts.units import Unit

__all__ = ["Excerpt", "Shelf", "Unit"]

"""Which rule of the study's documents answers a question, as it stands under its heading (design.md 5a.4)."""

from projects.excerpts.shelf import Excerpt, Shelf
from projects.excerpts.units import Unit

__all__ = ["Excerpt", "Shelf", "Unit"]

"""A sheet of drawings with their titles and notes as PNG, as wide as a phone shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from core.house.paper.typesetting import typeset

_SECONDS = 10


@dataclass(frozen=True)
class Panel:
    """A part of the sheet: a title, drawings (caption, SVG), and text beneath them."""

    title: str
    drawings: Sequence[tuple[str, str]]
    note: str = ""


@dataclass(frozen=True)
class Sheet:
    """`language`: as `zh-hans`. The texts are values, none is read as markup; the SVG is ours."""

    title: str
    subtitle: str
    language: str
    panels: Sequence[Panel]


def as_png(sheet: Sheet) -> bytes:
    """The picture, 1083 pixels wide. Raises TypesetError."""
    return typeset("picture", asdict(sheet), starts=b"\x89PNG", seconds=_SECONDS)

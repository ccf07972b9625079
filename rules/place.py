"""Where a row stands."""

from __future__ import annotations

from typing import NamedTuple


class Place(NamedTuple):
    """Where a row stands in its record."""

    event: str | None
    instrument: str | None
    instance: int | None

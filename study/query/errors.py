"""A query that cannot be answered, with the place and the nearest names (contracts.md)."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext as _


class QueryError(ValueError):
    """`at`: a path such as `where[0].field`; `nearest`: names that may have been meant."""

    def __init__(self, at: str, message: str, nearest: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.at = at
        self.message = message
        self.nearest = tuple(nearest)

    def as_json(self) -> dict[str, Any]:
        """The error line of contracts.md."""
        told = {"at": self.at, "message": self.message, "nearest": list(self.nearest)}
        return {"error": told}


class NotSetError(QueryError):
    """A column that hangs on a setting which the study lacks; the message names it for the reader."""


def unknown(at: str, name: str, known: Mapping[str, str]) -> QueryError:
    """`name` is none of `known` (spelling -> name). A hidden field is told in these words, too."""
    told = _("There is no field, form or column “%(name)s”.") % {"name": name}
    return QueryError(at, told, nearest(name, known))


def nearest(name: str, known: Mapping[str, str]) -> tuple[str, ...]:
    """Up to three names whose spelling (or label) holds `name` or is like it, the likest first."""
    asked = name.casefold().strip()
    folded = {spelling.casefold(): found for spelling, found in known.items()}
    inside = sorted((s for s in folded if asked and asked in s), key=len)
    close = difflib.get_close_matches(asked, folded, n=6, cutoff=0.5)
    return tuple(dict.fromkeys(folded[spelling] for spelling in (*inside, *close)))[:3]

"""Searching encrypted columns: the reader's own rows of a bounded period are decrypted and looked through."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any

from django.db.models import QuerySet
from django.utils.text import smart_split, unescape_string_literal
from django.utils.timezone import now
from django.utils.translation import gettext as _

DAYS = 90
MOST = 20_000
MOST_WORDED = 5_000
"""So many where a row has to be put into words first."""


def words(text: str) -> list[str]:
    """What is searched for; words in quotes belong together, as in Django's search."""
    return [
        unescape_string_literal(word) if word[0] in "\"'" and word[0] == word[-1] else word
        for word in smart_split(text)
    ]


def holding(
    rows: QuerySet[Any],
    columns: Sequence[str],
    text: str,
    *,
    at: str,
    texts: Callable[[Any], Iterable[str]] | None = None,
) -> list[Any]:
    """Keys of those of the newest `MOST` rows of the last `DAYS` days that hold each word in some column.

    `rows` are those that the reader may see; `at` names the column of their time; `texts`: what is shown of a
    row, in place of its columns.
    """
    wanted = [word.casefold() for word in words(text)]
    recent = rows.filter(**{f"{at}__gte": now() - timedelta(days=DAYS)}).order_by(f"-{at}")
    if texts is not None:
        shown = recent[:MOST_WORDED].iterator(chunk_size=2000)
        return [row.pk for row in shown if _holds([*texts(row)], wanted)]
    read = recent.values_list("pk", *columns)[:MOST].iterator(chunk_size=2000)
    return [pk for pk, *texts in read if _holds(texts, wanted)]


def _holds(texts: Sequence[Any], wanted: Sequence[str]) -> bool:
    given = [str(text).casefold() for text in texts if text]
    return all(any(word in text for text in given) for word in wanted)


def bounds(*, worded: bool = False) -> str:
    """How far back a search goes, for who reads its result."""
    return _(
        "Texts were searched for the last %(days)s days, at most the newest %(rows)s rows."
    ) % {
        "days": DAYS,
        "rows": MOST_WORDED if worded else MOST,
    }

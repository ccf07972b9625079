"""Rows of forms that repeat (events, drugs): each with its name, days and grades, as much as fits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from django.utils.translation import gettext as _

from engines.assistant.answer import conditions, words
from engines.assistant.answer.fitting import Told
from engines.assistant.answer.reader import Reader
from engines.assistant.answer.rows import Row
from engines.assistant.understand.types import Asked
from study.facts import Fact

MOST = 6
"""So many facts of a row are told."""
_ISO = re.compile(r"\d{4}(-\d{2}){0,2}")


def listed(asked: Asked, rows: Sequence[Row], reader: Reader) -> list[Row]:
    """The rows that are told whole: of forms that repeat, asked for as such or with several of one subject."""
    repeating = [row for row in rows if row.first.instrument in reader.design.repeating_forms]
    of_form = Counter((row.subject, row.first.instrument) for row in repeating)
    return [
        row
        for row in repeating
        if row.first.instrument in asked.slots.select
        or (len(row.facts) > 1 and of_form[row.subject, row.first.instrument] > 1)
        or (len(row.facts) > 1 and row.of(naming_field(row, reader)))
    ]


def told(asked: Asked, rows: Sequence[Row], reader: Reader) -> list[Told]:
    """A line a subject and form: `P019 合并用药 2 条:铝碳酸镁片(…)、酮康唑片(…)`."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        found.setdefault((row.subject, row.first.instrument), []).append(row)
    return [_of_one(own, asked, reader) for own in found.values()]


def _of_one(rows: Sequence[Row], asked: Asked, reader: Reader) -> Told:
    form = reader.design.metadata.form_label(rows[0].first.instrument)
    head = (
        f"{rows[0].subject} "
        if len(rows) == 1
        else _("%(subject)s %(form)s, %(count)s entries: ")
        % {
            "subject": rows[0].subject,
            "form": form,
            "count": len(rows),
        }
    )
    line: Told | None = None
    most = max(len(row.facts) for row in rows)
    # In however little room: what was asked for is told of each row that is.
    known = {naming_field(rows[0], reader), *conditions.settled(asked)}
    asked_for = {fact.field for row in rows for fact in row.facts} & {*asked.slots.select} - known
    for shown in range(min(1 + len(asked_for), most), most + 1):
        line = Told(head, tuple(entry(row, asked, reader, shown) for row in rows), shorter=line)
    return line or Told(head)


def entry(row: Row, asked: Asked, reader: Reader, shown: int | None = None) -> str:
    """皮疹(2级,AE开始日期 2026-08-27): the row's name, then the `shown` − 1 most telling of its other facts."""
    naming = naming_field(row, reader)
    named = row.of(naming) if naming else None
    rest = [fact for fact in row.facts if fact is not named and _is_news(fact, asked, reader)]
    rest.sort(key=lambda fact: _rank(fact, asked.about, reader))
    rest = rest[: min(shown or MOST, MOST) - (1 if named else 0)]
    if named is None:
        details = (_detail(fact, reader) for fact in rest if fact.text != row.first.date)
        return words.place(row.first, reader) + words.bracketed(*details)
    return words.value(named, reader) + words.bracketed(*(_detail(f, reader) for f in rest))


def _is_news(fact: Fact, asked: Asked, reader: Reader) -> bool:
    """Whether the question does not say it already; a no is none unless it was asked for."""
    if fact.field in conditions.settled(asked):
        return False
    if fact.field in asked.about:
        return True
    row = reader.design.metadata.fields.get(fact.field, {})
    if words.is_blank(fact):
        # No end is said of what goes on; other blanks are no part of what happened.
        return str(row.get("text_validation_type_or_show_slider_number") or "").startswith("date")
    return row.get("field_type") not in ("yesno", "truefalse") or fact.value == "1"


def naming_field(row: Row, reader: Reader) -> str:
    """The field that a row is called by, "" for none."""
    return words.naming_field(row.first.instrument, reader)


def _rank(fact: Fact, about: Sequence[str], reader: Reader) -> int:
    """What was asked by name first, then the row's own day, what was judged, other days; yes and no, and
    blanks, last."""
    if fact.field in about:
        return 0
    if words.is_blank(fact):
        return 5
    if _ISO.fullmatch(fact.text) and not conditions.choices(fact.field, reader):
        return 1 if fact.text == fact.date else 3
    kind = reader.design.metadata.fields.get(fact.field, {}).get("field_type")
    return 4 if kind in ("yesno", "truefalse") else 2


def _detail(fact: Fact, reader: Reader) -> str:
    """A choice speaks for itself; a day, a number, yes and no, and a blank need their label."""
    kind = reader.design.metadata.fields.get(fact.field, {}).get("field_type")
    speaks = kind in ("radio", "dropdown", "checkbox") or (kind == "text" and not fact.unit)
    if speaks and not words.is_blank(fact) and not _ISO.fullmatch(fact.text):
        return words.value(fact, reader)
    return f"{words.label(fact, reader)} {words.value(fact, reader)}"

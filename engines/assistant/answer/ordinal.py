"""第二次化验: of several rows the one that was asked for by its number."""

from __future__ import annotations

from dataclasses import replace

from django.utils.translation import gettext as _

from engines.assistant.answer import conditions, values, words
from engines.assistant.answer.fitting import Told, joint
from engines.assistant.answer.reader import Reader
from engines.assistant.answer.rows import Row, rows_of
from engines.assistant.understand.types import Asked
from study.facts import Answer


def told(asked: Asked, answer: Answer, reader: Reader) -> list[Told]:
    """The row of each subject and form, from the first or the last; or that there are not so many."""
    nth = asked.slots.nth or 1
    from_last = isinstance(asked.slots.rows, dict) and "latest" in asked.slots.rows
    own: dict[tuple[str, str], list[Row]] = {}
    for row in rows_of(answer.facts):
        if not all(words.is_blank(fact) for fact in row.facts):
            own.setdefault((row.subject, row.first.instrument), []).append(row)
    kept = [rows[-nth if from_last else nth - 1] for rows in own.values() if len(rows) >= nth]
    few = [(subject, len(rows)) for (subject, _form), rows in own.items() if len(rows) < nth]
    facts = tuple(fact for row in kept for fact in row.facts)
    lines = values.told(asked, replace(answer, facts=facts), reader) if facts or not few else []
    what = joint().join(conditions.name_of(name, reader) for name in asked.slots.select)
    text = _("%(subject)s %(what)s: only %(count)s so far, no number %(nth)s")
    short = [{"subject": name, "what": what, "count": count, "nth": nth} for name, count in few]
    return [*lines, *(Told(text % one) for one in short)]

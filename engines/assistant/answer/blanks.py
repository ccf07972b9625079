"""What is not filled in: the fields of each row, by their labels."""

from __future__ import annotations

from django.utils.translation import gettext as _

from engines.assistant.answer import forms, values, words
from engines.assistant.answer.fitting import Told, colon
from engines.assistant.answer.reader import Reader
from engines.assistant.answer.rows import Row, rows_of
from engines.assistant.understand.types import Asked
from study.facts import Answer, Fact


def told(asked: Asked, answer: Answer, reader: Reader) -> list[Told]:
    """P010 发热性中性粒细胞减少 未填写:SAE首次报告日期; where nothing is blank that all is filled in."""
    rows = rows_of(answer.facts)
    if not rows:
        return [values.nothing(asked, answer, reader)]
    lines = [_line(row, reader) for row in rows if any(map(_is_open, row.facts))]
    what = {"subject": rows[0].subject, "count": len(rows)}
    return lines or [Told(_("%(subject)s: nothing is left blank (%(count)s entries)") % what)]


def _is_open(fact: Fact) -> bool:
    """Whether something is still to be filled in; boxes of which none is ticked may say just that."""
    return words.is_blank(fact) and fact.value != ()


def _line(row: Row, reader: Reader) -> Told:
    blank = [words.label(fact, reader) for fact in row.facts if _is_open(fact)]
    head = " ".join(filter(None, [row.subject, _name(row, reader), _("not filled in")]))
    return Told(head + colon(), tuple(blank))


def _name(row: Row, reader: Reader) -> str:
    """What a row is called, or where it stands."""
    named = row.of(forms.naming_field(row, reader))
    if row.first.instance is not None and named is not None and not words.is_blank(named):
        return words.value(named, reader)
    return words.place(row.first, reader, dated=False)

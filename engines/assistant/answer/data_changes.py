"""What was changed in the data: whose field, from what to what, and when it was read."""

from __future__ import annotations

from django.utils.translation import gettext as _

from engines.assistant.answer import words
from engines.assistant.answer.fitting import Told, joint
from engines.assistant.answer.reader import Reader
from engines.assistant.answer.rows import Row, rows_of
from engines.assistant.answer.values import looked_at
from engines.assistant.understand.types import Asked
from study.facts import Answer


def told(asked: Asked, answer: Answer, reader: Reader) -> list[Told]:
    """数据改动 2 处:P001 体重 61.5 → 81.5 (2026-11-20 10:30); the newest first."""
    rows = [row for row in rows_of(answer.facts) if row.of("@changes.field")]
    rows.sort(key=lambda row: row.text("@changes.at"), reverse=True)
    since = _since(asked)
    if not rows:
        who = joint().join(asked.query.get("subjects") or ())
        nobody = _("of %(subject)s no change was read") % {"subject": who} if who else ""
        text = nobody or _("no change of data was read") + looked_at(asked, answer, reader)
        return [Told(since + text)]
    head = since + _("changes of data, %(count)s: ") % {"count": len(rows) + answer.left_out}
    entries = tuple(_change(row, reader) for row in rows)
    return [Told(head, entries, left_out=answer.left_out)]


def _since(asked: Asked) -> str:
    """Since when, where it was asked by a review: its time is the house's to say."""
    if asked.slots.aspect != "review":
        return ""
    wanted = (c for c in asked.query.get("where", ()) if c.get("field") == "@changes.at")
    at = next((str(c["value"]) for c in wanted if c["op"] == ">="), "")
    if not at:
        return _("no review was decided yet; ")
    return _("since the last review (%(time)s) ") % {"time": at[:16].replace("T", " ")}


def _change(row: Row, reader: Reader) -> str:
    before, after = (_value(row, name, reader) for name in ("@changes.from", "@changes.to"))
    at = row.text("@changes.at")[:16].replace("T", " ")
    where = words.event_name(row.first.event, reader) if row.first.event else ""
    what = f"{row.subject} {_label(row.text('@changes.field'), reader)} {before} → {after}"
    return what + words.bracketed(where, at)


def _value(row: Row, name: str, reader: Reader) -> str:
    text = row.text(name)
    return reader.masked(text) if text else _("not filled in")


def _label(column: str, reader: Reader) -> str:
    """What people call an export column, a box of a checkbox with its choice."""
    metadata = reader.design.metadata
    name, code = metadata.columns.get(column, (column, ""))
    choice = metadata.choices(name).get(code, code) if code else ""
    return words.field_label(name, reader) + words.bracketed(choice)

"""Contradictions are asked: once, with the next reply; the answer is kept (issue 4, "asked, not stored")."""

from __future__ import annotations

from datetime import timedelta

from django.db import models
from django.utils.timezone import now
from django.utils.translation import gettext as _

from memory import session
from memory.models import MemoryQuestion, UserMemory
from memory.people import (
    answers,
    fact_store,
    forgotten,
    saving,
)
from memory.people.schemas import current
from projects.models import Member

KEPT = timedelta(days=7)


def to_ask(member: Member, room: int) -> str:
    """The question that goes with this reply, marked as asked; "" for none, or where it has no room.

    Inside the caller's transaction; at most one a reply, each once.
    """
    labels = _labels()
    for row in _open(member).filter(asked_at=None):
        asked = _("You told me two things about %(field)s: %(values)s. Which one holds?") % {
            "field": labels[row.field],
            "values": _values(row),
        }
        mine = MemoryQuestion.objects.filter(pk=row.pk, asked_at=None)
        if len(asked) < room and mine.update(asked_at=now()):
            return asked
    return ""


def answered(member: Member, text: str) -> tuple[MemoryQuestion, fact_store.Detail] | None:
    """The question that a message answers with one of its values; None for every other message."""
    for row in _open(member).exclude(asked_at=None).order_by("-asked_at"):
        chosen = answers.chosen(row.options, text, _words(row.field))
        if chosen is None and (place := answers.place(text, len(row.options))) is not None:
            chosen = row.options[place] if _just_asked(member, row) else None
        if chosen is not None:
            return row, chosen
    return None


def _just_asked(member: Member, row: MemoryQuestion) -> bool:
    """Whether our last reply ends with it: "the second one" may mean another list."""
    messages = session.load(member).messages
    return bool(messages) and _values(row) in messages[-1]["content"]


def _words(field: str) -> tuple[str, ...]:
    slot = current().slot(field)
    return (slot.label, *slot.words) if slot else ()


def settle(member: Member, question: MemoryQuestion, detail: fact_store.Detail) -> UserMemory:
    """Keep the value that the member chose, as a proposal where an editor removed it.

    Inside the caller's transaction.
    """
    schema = current()
    fact_store.claim(member.project_id, member.identity)
    forgotten.lift(member, saving.line(schema, question.field, detail))
    return saving.keep(member, schema, [(question.field, detail)], now())[0]


def drop_old() -> None:
    """Forget what nobody answered within a week."""
    MemoryQuestion.objects.filter(created_at__lt=now() - KEPT).delete()


def _open(member: Member) -> models.QuerySet[MemoryQuestion]:
    """Those about fields that the schema (still) has."""
    return MemoryQuestion.objects.filter(
        project_id=member.project_id, user_id=member.identity, field__in=_labels()
    )


def _values(row: MemoryQuestion) -> str:
    return " / ".join(option["said"] for option in row.options)


def _labels() -> dict[str, str]:
    return {slot.name: slot.label for slot in current().fields}

"""Contradictions are asked: once, with the next reply; the answer is kept (issue 4, "asked, not stored")."""

from __future__ import annotations

from datetime import timedelta

from django.db import models
from django.utils.timezone import now
from django.utils.translation import gettext as _

from memory.agent import book, forgotten, tools
from memory.agent.grounding import plain
from memory.agent.schemas import current
from memory.models import MemoryQuestion, UserMemory
from projects import audit
from projects.models import Member

KEPT = timedelta(days=7)


def to_ask(member: Member, room: int) -> str:
    """The question that goes with this reply, marked as asked; "" for none, or where it has no room.

    Inside the caller's transaction; at most one a reply, each once.
    """
    row = _open(member).filter(asked_at=None).first()
    slot = current().slot(row.field) if row else None
    if row is None or slot is None:
        return ""
    asked = _("You told me two things about %(field)s: %(values)s. Which one holds?") % {
        "field": slot.label,
        "values": " / ".join(option["said"] for option in row.options),
    }
    mine = MemoryQuestion.objects.filter(pk=row.pk, asked_at=None)
    return asked if len(asked) < room and mine.update(asked_at=now()) else ""


def answered(member: Member, text: str) -> tuple[MemoryQuestion, book.Detail] | None:
    """The question that a message answers with one of its values; None for every other message."""
    said = plain(text)
    for row in _open(member).exclude(asked_at=None):
        fitting = [o for o in row.options if said in (plain(o["said"]), plain(str(o["value"])))]
        if len(fitting) == 1:
            return row, fitting[0]
    return None


def settle(member: Member, question: MemoryQuestion, detail: book.Detail) -> UserMemory:
    """Keep the value that the member chose; inside the caller's transaction."""
    schema = current()
    row = schema.row(question.field)
    made = book.plan(member, row, {question.field: detail}, many=False, alone=False)
    given = book.arguments(schema, row, made, proposed=False)
    forgotten.lift(member, given["content"])
    kept = tools.save_user_memory(tools.Context(member, schema, now()), given, made)
    question.delete()
    audit.record(
        "memory.learn", actor=member, project=member.project, new={"fields": [question.field]}
    )
    return kept


def drop_old() -> None:
    """Forget what nobody answered within a week."""
    MemoryQuestion.objects.filter(created_at__lt=now() - KEPT).delete()


def _open(member: Member) -> models.QuerySet[MemoryQuestion]:
    return MemoryQuestion.objects.filter(project_id=member.project_id, user_id=member.identity)

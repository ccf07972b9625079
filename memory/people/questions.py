"""Contradictions are asked: once, with the next reply; the answer is kept (issue 4, "asked, not stored").

Offline, an answer is one of the offered values or its place among them; what says it in other words is read
by the model like any message.
"""

from __future__ import annotations

import re
from datetime import timedelta

from django.db import models
from django.utils.timezone import now
from django.utils.translation import gettext as _

from memory import session
from memory.models import MemoryQuestion, UserMemory
from memory.people import fact_store, forgotten
from memory.people.fact_store import Detail
from memory.people.quotes import folded, letters_of
from memory.people.schemas import current
from projects.models import Member

KEPT = timedelta(days=7)
_BESIDE = re.compile(r"^(?:应该|就|是|以|选|the )+|(?:为准|[那这]?个| one|吧|的)+$")
_PLACES = (
    ("第一", "前者", "first"),
    ("第二", "后者", "second"),
    ("第三", "third"),
    ("第四", "fourth"),
)


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


def answered(member: Member, text: str) -> tuple[MemoryQuestion, Detail] | None:
    """The question that a message answers with one of its values; None for every other message."""
    said = _BESIDE.sub("", _BESIDE.sub("", folded(text).casefold().strip(" 。.!,")))
    place = next((at for at, words in enumerate(_PLACES) if said in words), None)
    for row in _open(member).exclude(asked_at=None).order_by("-asked_at"):
        for at, option in enumerate(row.options):
            spelled = {letters_of(option["said"]), letters_of(str(option["value"]))}
            if letters_of(said) in spelled or (at == place and _just_asked(member, row)):
                return row, option
    return None


def _just_asked(member: Member, row: MemoryQuestion) -> bool:
    """Whether our last reply ends with it: "the second one" may mean another list."""
    messages = session.load(member).messages
    return bool(messages) and _values(row) in messages[-1]["content"]


def settle_question(member: Member, question: MemoryQuestion, detail: Detail) -> UserMemory:
    """Keep the value that the member chose, as a proposal where an editor removed it.

    Inside the caller's transaction.
    """
    fact_store.claim(member.project_id, member.identity)
    forgotten.lift(member, fact_store.as_line(current(), question.field, detail))
    return fact_store.keep_fields(member, [(question.field, detail)], now())[0]


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

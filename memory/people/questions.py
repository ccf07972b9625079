"""Contradictions are asked: once, with the next reply; the answer is kept (issue 4, "asked, not stored").

An answer names one of the offered values: 肿瘤科, 以肿瘤科为准, 不是心内科是肿瘤科, 第二个. Offline.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta

from django.db import models
from django.utils.timezone import now
from django.utils.translation import gettext as _

from core.language import clock_times
from memory import session
from memory.models import MemoryQuestion, UserMemory
from memory.people import clauses, fact_store, forgotten
from memory.people.clauses import letters_of
from memory.people.fact_store import Detail
from memory.people.grounding import torn
from memory.people.schemas import current
from projects.models import Member

KEPT = timedelta(days=7)
_LONGEST = 40
_LEAST = 2
# Letters that stand around a value that is chosen, and say nothing else.
_AROUND = (
    "以后今是应该当就按照选择用算要填写记改为成而那这个我们本人现在目前年的请还然对嗯好哦更正准确地来说"
    "其实才边里上班工作任职了吧啊呀呢行可没错谢"
)
_NOT = re.compile(r"^(?:不是|不对|不|没有?)+|不$")
# Words for a place among the values, from 0; -1 is the last.
_PLACES = {
    **dict.fromkeys(("第一", "第1", "前者", "前面", "前", "头", "first"), 0),
    **dict.fromkeys(("第二", "第两", "第2", "second"), 1),
    **dict.fromkeys(("第三", "第3", "third"), 2),
    **dict.fromkeys(("第四", "第4", "fourth"), 3),
    **dict.fromkeys(("后者", "后面", "后", "最后", "latter", "last"), -1),
}
_BESIDE_PLACE = re.compile(
    r"^(?:以|选|就|是|the )+|(?:[那这]?(?<!第)一?[个种项条])?(?: one)?(?:为准|吧|的)?$"
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
    for row in _open(member).exclude(asked_at=None).order_by("-asked_at"):
        slot = current().slot(row.field)
        option = _chosen(row.options, text, (slot.label, *slot.words) if slot else ())
        if option is None and (at := _place(text, len(row.options))) is not None:
            option = row.options[at] if _just_asked(member, row) else None
        if option is not None:
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


def _chosen(options: Sequence[Detail], text: str, names: Sequence[str]) -> Detail | None:
    """The one value that every clause of the answer names, or denies another than; else None.

    `names`: how the field is called ("科室是肿瘤科").
    """
    said = clauses.folded(text).strip()
    told = clauses.split(said)
    if len(said) > _LONGEST or not all(one.states and one.who == "self" for one in told):
        return None
    meant: set[int] = set()
    denied: set[int] = set()
    for clause in told:
        words = _NOT.sub("", clause.text.strip(" 。.!?,:"))
        value = _bare(words, names)
        hits = _fitting(options, words, value)
        if value and len(hits) != 1:
            return None
        (denied if clauses.denies(clause.text) else meant).update(hits)
    return options[meant.pop()] if len(meant) == 1 and not meant & denied else None


def _bare(words: str, names: Sequence[str]) -> str:
    """Letters and digits without what merely stands around a value."""
    left = letters_of(words).strip(_AROUND)
    for name in names:
        left = left.removeprefix(letters_of(name)).strip(_AROUND)
    return left


def _fitting(options: Sequence[Detail], words: str, value: str) -> list[int]:
    """The options that the words are; none are: those that hold the words."""
    spelled = [{letters_of(one["said"]), letters_of(str(one["value"]))} - {""} for one in options]
    for said in (letters_of(words), value):
        if same := [at for at, texts in enumerate(spelled) if said in texts]:
            return same
    time = clock_times.exact(words)
    if time and not clock_times.without(words).strip():
        return [at for at, one in enumerate(options) if clock_times.exact(one["said"]) == time]
    return [at for at, texts in enumerate(spelled) if any(_holds(text, value) for text in texts)]


def _holds(value: str, said: str) -> bool:
    """肿瘤 names 肿瘤科 and 32 names 32岁, but 2 does not."""
    at = value.find(said) if said else -1
    if at < 0 or (len(said) < _LEAST and not said.isdigit()):
        return False
    return not torn(value, at) and not torn(value, at + len(said))


def _place(text: str, count: int) -> int | None:
    """The place of the value that "the second one" means among `count`; None for other words."""
    said = clauses.folded(text).strip(" 。.!,").casefold()
    at = _PLACES.get(_BESIDE_PLACE.sub("", said), count)
    return at % count if at < count else None

"""Who is speaking, and of which study (decisions.md, "a message names no project")."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from engines.assistant.intents import detect
from memory import session
from projects.models import Member, Person
from study.models import Subject


@dataclass(frozen=True)
class Choice:
    """The membership a message belongs to, or the question that has to be asked first."""

    member: Member | None
    text: str
    question: str = ""


def choose(person: Person, text: str, project_code: str | None) -> Choice:
    """One membership: it. Several: the study named, matched by a record id, used last, else a question."""
    rows = person.memberships.filter(is_active=True).select_related("project", "person__user")
    members = list(rows.order_by("project__code"))
    if project_code is not None:
        members = [member for member in members if member.project.code == project_code]
    if len(members) < 2:
        return Choice(members[0] if members else None, text)
    return _picked(person, text, members) or _choose_among(person, text, members)


def _picked(person: Person, text: str, members: Sequence[Member]) -> Choice | None:
    """A bare number answers the question we asked before."""
    bare = unicodedata.normalize("NFKC", text).strip().rstrip(".、)")
    if not re.fullmatch(r"\d{1,2}", bare):
        return None
    kept = session.chosen_project(person, int(bare))
    member = next((m for m in members if kept and m.project.code == kept[1]), None)
    return Choice(member, kept[0]) if member and kept else None


def _choose_among(person: Person, text: str, members: Sequence[Member]) -> Choice:
    folded = unicodedata.normalize("NFKC", text).casefold()
    named = [m for m in members if _named(m, folded)]
    if len(named) == 1:
        return Choice(named[0], text)
    matched = [member for member in members if _knows(member, text)]
    if len(matched) == 1:
        return Choice(matched[0], text)
    last = session.last_project(person)
    recent = next((member for member in members if str(member.project_id) == last), None)
    if recent is not None:
        return Choice(recent, text)
    session.ask_project(person, text, [member.project.code for member in members])
    return Choice(None, text, _question(members))


def _named(member: Member, folded: str) -> bool:
    project = member.project
    return project.code.casefold() in folded or project.name.casefold() in folded


def _knows(member: Member, text: str) -> bool:
    """Whether a subject of this study that the member may see is named."""
    ids = detect(text, record_id_pattern=member.project.record_id_pattern or None).record_ids
    subjects = Subject.objects.for_member(member).filter(is_present=True)
    return bool(ids) and subjects.filter(record_id__in=ids).exists()


def _question(members: Sequence[Member]) -> str:
    rows = [f"{number}. {member.project.name}" for number, member in enumerate(members, 1)]
    return "\n".join([_("Which study do you mean? Please answer with the number."), *rows])

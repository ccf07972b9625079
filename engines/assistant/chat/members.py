"""Who is speaking, and of which study (decisions.md, "a message names no project")."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from memory import session
from projects.models import Member, Person, Project

NAME_CHARS, NAME_CHARS_APART = 6, 4
"""So long is a name that tells a study, within a sentence and set apart; a shorter one may be any word."""
_EDGE = (r"(?<![0-9a-z_])(?<![0-9a-z_]-)", r"(?![0-9a-z_])(?!-[0-9a-z_])")
"""Where a word of Latin letters and digits begins and ends: no code is part of another."""
_SWITCH = re.compile(
    r"(?:请|帮我|麻烦)*(?:切换?|换)(?:到|至|成)?(?:研究|项目|试验)?[:\s]*(?P<name>.+?)(?:吧|一下)?[。.!\s]*"
    r"|switch to (?:the )?(?:study )?(?P<study>.+?)[.!\s]*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Choice:
    """The membership a message belongs to, or the question that has to be asked first."""

    member: Member | None
    text: str
    question: str = ""


def choose_member(person: Person, text: str, project_code: str | None) -> Choice:
    """One membership: it. Several: the study named, else the one used last, else a question.

    A question that was asked before is over with any message but the number of a study.
    """
    held = _memberships(person)
    members = [one for one in held if project_code in (None, one.project.code)]
    if len(members) > 1 and (picked := _picked(person, text, members)):
        return picked
    if len(held) > 1:
        session.leave_choice(person)
    if len(members) < 2:
        return Choice(members[0] if members else None, text)
    return _choose_among(person, text, members)


def find_switch(person: Person, text: str) -> Member | None:
    """The membership that a message does nothing but turn to, by the study's code or its whole name."""
    found = _SWITCH.fullmatch(_folded(text))
    if not found:
        return None
    name = _bare(found["name"] or found["study"])
    named = [
        member
        for member in _memberships(person)
        if name in [_bare(_folded(one)) for one in (member.project.code, member.project.name)]
    ]
    return named[0] if name and len(named) == 1 else None


def _bare(name: str) -> str:
    """A study's name without quotation marks and the word for a study behind it."""
    return re.sub(r"(?:研究|项目|试验)$", "", name.strip(" \"'“”‘’「」《》【】"))


def _memberships(person: Person) -> list[Member]:
    rows = person.memberships.filter(is_active=True).select_related("project", "person__user")
    return list(rows.order_by("project__code"))


def _picked(person: Person, text: str, members: Sequence[Member]) -> Choice | None:
    """A bare number answers the question we asked before."""
    said = unicodedata.normalize("NFKC", text).strip().rstrip(".、)")
    if not re.fullmatch(r"\d{1,2}", said):
        return None
    kept = session.chosen_project(person, int(said))
    member = next((m for m in members if kept and m.project.code == kept[1]), None)
    return Choice(member, kept[0]) if member and kept else None


def _choose_among(person: Person, text: str, members: Sequence[Member]) -> Choice:
    named = _named(members, text)
    if len(named) == 1:
        return Choice(named[0], text)
    last = session.last_project(person)
    recent = next((member for member in members if str(member.project_id) == last), None)
    if recent is not None and not named:
        return Choice(recent, text)
    session.ask_project(person, text, [member.project.code for member in members])
    rows = [f"{number}. {member.project.name}" for number, member in enumerate(members, 1)]
    asked = _("Which study do you mean? Please answer with the number.")
    return Choice(None, text, "\n".join([asked, *rows]))


def _named(members: Sequence[Member], text: str) -> list[Member]:
    """Whose study is named: by its code as a word of its own, or by its whole name.

    Nothing else that a study's administrator writes has a say here, and no short name that any sentence could
    hold. A name inside another one that is named does not count.
    """
    said = _folded(text)
    found = {member: _mentioned(member.project, said) for member in members}
    longest = [name for names in found.values() for name in names]
    return [
        member
        for member, names in found.items()
        if any(not any(name != other and name in other for other in longest) for name in names)
    ]


def _mentioned(project: Project, said: str) -> list[str]:
    code, name = _folded(project.code), _folded(project.name)
    told = ([code] if code.isascii() else []) + ([name] if len(name) >= NAME_CHARS else [])
    found = [one for one in told if re.search(rf"{_EDGE[0]}{re.escape(one)}{_EDGE[1]}", said)]
    is_apart = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said)
    return [*found, name] if is_apart and len(name) >= NAME_CHARS_APART else found


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())

"""Writing hot memory: versioned, compared before it is replaced, audited (design.md 3)."""

from __future__ import annotations

import difflib

from django.utils.timezone import now
from django.utils.translation import gettext as _

from integrations import tokens
from memory.hot import RULES, lines
from memory.models import ProjectMemory, ProjectMemoryVersion
from projects import audit
from projects.db import atomic
from projects.models import Project

RULES_LIMIT = 1200
PROFILE_LIMIT = 400


class MemoryConflict(Exception):
    """Somebody saved another version in between; `content` and `version` are what they wrote."""

    def __init__(self, current: ProjectMemory | None) -> None:
        super().__init__(_("Hot memory was changed in the meantime."))
        self.content = current.content if current else ""
        self.version = current.version if current else 0


class MemoryTooLarge(ValueError):
    """A section is larger than every prompt could carry."""


def save_memory(
    *, project: Project, content: str, actor: object, base_version: int | None, reason: str = ""
) -> ProjectMemory:
    """Store a new version on top of `base_version` (None: there is none yet).

    `actor` is a member, a console user or the name of a job.

    Raises MemoryConflict when another version came first, MemoryTooLarge (decisions.md, "sizes").
    """
    text = content.replace("\r\n", "\n").replace("\r", "\n")
    check_size(text)
    author = audit.actor_name(actor)
    with atomic():
        before = ProjectMemory.objects.filter(project=project).first()
        memory = _store(project, text, author, base_version, before)
        ProjectMemoryVersion.objects.create(
            memory=memory, version=memory.version, content=text, author=author
        )
        audit.record(
            "memory.save",
            actor=actor,
            project=project,
            subject=memory,
            old={"version": before.version if before else 0},
            new={"version": memory.version, "diff": _diff(before.content if before else "", text)},
            reason=reason,
        )
    return memory


def _store(
    project: Project, text: str, author: str, base: int | None, before: ProjectMemory | None
) -> ProjectMemory:
    if before is None and not base:
        return ProjectMemory.objects.create(project=project, content=text, last_updated_by=author)
    if before is None or before.version != base:
        raise MemoryConflict(before)
    replaced = ProjectMemory.objects.filter(pk=before.pk, version=base).update(
        content=text, last_updated_by=author, version=before.version + 1, updated_at=now()
    )
    if not replaced:
        raise MemoryConflict(ProjectMemory.objects.filter(project=project).first())
    return ProjectMemory.objects.get(pk=before.pk)


def _diff(old: str, new: str) -> list[str]:
    changed = difflib.unified_diff(old.split("\n"), new.split("\n"), lineterm="", n=0)
    return [line for line in changed if not line.startswith(("---", "+++", "@@"))]


def memory_problem(content: str) -> str:
    """What keeps a text from being saved, for forms; "" when nothing does."""
    try:
        check_size(content)
    except MemoryTooLarge as error:
        return str(error)
    return ""


def check_size(content: str) -> None:
    """Raises MemoryTooLarge when 系统禁令 exceed 1,200 tokens or one profile 400."""
    parsed = lines(content)
    rules = "\n".join(line.text for line in parsed if any(name in line.section for name in RULES))
    if tokens.count(rules) > RULES_LIMIT:
        raise MemoryTooLarge(_("The rules exceed %(limit)d tokens.") % {"limit": RULES_LIMIT})
    for profile in {line.profile for line in parsed if line.profile}:
        text = "\n".join(line.text for line in parsed if line.profile == profile)
        if tokens.count(text) > PROFILE_LIMIT:
            message = _("The profile of %(user)s exceeds %(limit)d tokens.")
            raise MemoryTooLarge(message % {"user": profile, "limit": PROFILE_LIMIT})

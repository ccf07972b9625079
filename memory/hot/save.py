"""Writing hot memory: versioned, compared before it is replaced, audited (design.md 3)."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from enum import StrEnum

from django.utils.timezone import now
from django.utils.translation import gettext as _

from house.db import atomic
from house.markdown import TextTooLong, check_length
from integrations import tokens
from memory.hot import removal
from memory.hot.text import Kind, lines, parse
from memory.models import ProjectMemory, ProjectMemoryVersion
from projects import audit
from projects.models import Project
from study.blinding import veil

RULES_LIMIT = 1200
PROFILE_LIMIT = 400
_TRIES = 5


class Job(StrEnum):
    """Who writes without being a person (decisions.md, "last_updated_by"); all others are somebody's id."""

    DAILY = "system_daily_job"
    PROFILER = "profiler_job"
    SCHEDULER = "system_scheduler"


JOBS = frozenset(Job)


class MemoryConflict(Exception):
    """Somebody saved another version in between; `content` and `version` are what they wrote."""

    def __init__(self, current: ProjectMemory | None) -> None:
        super().__init__(_("Hot memory was changed in the meantime."))
        self.content = current.content if current else ""
        self.version = current.version if current else 0


class MemoryTooLarge(ValueError):
    """A section is larger than every prompt could carry."""


class RulesAreForPeople(PermissionError):
    """A job tried to change 系统禁令."""


def save_memory(
    *, project: Project, content: str, actor: object, base_version: int | None, reason: str = ""
) -> ProjectMemory:
    """Store a new version on top of `base_version` (None: there is none yet).

    `actor` is a member, a console user, a person's id or the name of a job. Lines that a person removed are
    gone for good, lines that a person added are welcome again; a job's text loses what was removed before.

    Raises MemoryConflict when another version came first, MemoryTooLarge (decisions.md, "sizes"),
    RulesAreForPeople.
    """
    text = content.replace("\r\n", "\n").replace("\r", "\n")
    text = veil.of_all(project).text(text)
    check_size(text)
    with atomic():
        before = ProjectMemory.objects.filter(project=project).first()
        if before is not None and before.version != base_version:
            raise MemoryConflict(before)
        old = before.content if before else ""
        if actor in JOBS:
            text = _by_a_job(project, old, text)
            if before is not None and text == old:
                return before
        memory = _store(project, text, audit.actor_name(actor), base_version, before)
        if actor not in JOBS:
            removal.settle(project=project, old=old, new=text, actor=actor)
        _keep(memory, before, actor, reason, diff=diff(old, memory.content))
    return memory


def _by_a_job(project: Project, old: str, new: str) -> str:
    if _rules(old) != _rules(new):
        raise RulesAreForPeople(_("Only people change the rules."))
    return removal.without_removed(project, old, new)


def _rules(content: str) -> list[str]:
    return [line.text for line in lines(content) if line.kind is Kind.RULES and line.text.strip()]


def _keep(
    memory: ProjectMemory,
    before: ProjectMemory | None,
    actor: object,
    reason: str = "",
    **told: list[str],
) -> None:
    """The version and its entry in the trail."""
    ProjectMemoryVersion.objects.create(
        memory=memory,
        version=memory.version,
        content=memory.content,
        author=memory.last_updated_by,
    )
    audit.record(
        "memory.save",
        actor=actor,
        project=memory.project,
        subject=memory,
        old={"version": before.version if before else 0},
        new={"version": memory.version, **told},
        reason=reason,
    )


def erase_lines(*, project: Project, profile: str, gone: Sequence[str], actor: object) -> None:
    """Take lines of a profile out of hot memory and out of every version; inside the caller's transaction.

    For a user who has something forgotten: unlike an editor's removal it leaves no word in the trail, and
    the user may say it again. Raises MemoryConflict when others write all the time.
    """
    for _attempt in range(_TRIES - 1):
        try:
            _erase(project, profile, gone, actor)
        except MemoryConflict:
            continue
        return
    _erase(project, profile, gone, actor)


def _erase(project: Project, profile: str, gone: Sequence[str], actor: object) -> None:
    before = ProjectMemory.objects.filter(project=project).first()
    if before is None:
        return
    left = _without(before.content, profile, gone)
    if left != before.content:
        memory = _store(project, left, audit.actor_name(actor), before.version, before)
        _keep(memory, before, actor)
    for version in before.versions.all():
        cleaned = _without(version.content, profile, gone)
        if cleaned != version.content:
            before.versions.filter(pk=version.pk).update(content=cleaned)


def _without(content: str, profile: str, gone: Sequence[str]) -> str:
    own = profile.casefold()
    kept = [line.text for line in lines(content) if line.profile != own or line.text not in gone]
    return "\n".join(kept)


def restore(*, version: ProjectMemoryVersion, actor: object, base_version: int) -> ProjectMemory:
    """An older version as the newest one. Raises what `save_memory` raises."""
    return save_memory(
        project=version.memory.project,
        content=version.content,
        actor=actor,
        base_version=base_version,
        reason=_("Version %(number)d restored") % {"number": version.version},
    )


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


def diff(old: str, new: str) -> list[str]:
    """The changed lines, each with its sign."""
    changed = difflib.unified_diff(old.split("\n"), new.split("\n"), lineterm="", n=0)
    return [line for line in changed if not line.startswith(("---", "+++", "@@"))]


def check_size(content: str) -> None:
    """Raises MemoryTooLarge: 系统禁令 have 1,200 tokens, a profile 400, the whole what is rendered at once."""
    try:
        check_length(content)
    except TextTooLong as error:
        raise MemoryTooLarge(str(error)) from error
    parsed = lines(content)
    rules = "\n".join(line.text for line in parsed if line.kind is Kind.RULES)
    if tokens.count(rules) > RULES_LIMIT:
        raise MemoryTooLarge(_("The rules exceed %(limit)d tokens.") % {"limit": RULES_LIMIT})
    for profile in parse(content).profiles:
        text = "\n".join(line.text for line in parsed if line.profile == profile)
        if tokens.count(text) > PROFILE_LIMIT:
            message = _("The profile of %(user)s exceeds %(limit)d tokens.")
            raise MemoryTooLarge(message % {"user": profile, "limit": PROFILE_LIMIT})

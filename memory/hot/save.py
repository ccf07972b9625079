"""Writing hot memory: versioned, compared before it is replaced, audited (design.md 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, TypeVar

from django.dispatch import receiver
from django.utils.translation import gettext as _

from core.house.db import atomic
from core.house.line_diff import changed_lines
from core.house.markdown import TextTooLong, check_length
from core.integrations import tokens
from memory.hot import tombstones
from memory.hot.text import Kind, MemoryTooLarge, lines, profiles
from memory.models import ProjectMemory, ProjectMemoryVersion
from projects import audit
from projects.models import Project
from study.blinding import mask
from study.blinding.services import study_blinded

RULES_LIMIT = 1200
PROFILE_LIMIT = 400
_TRIES = 3
T = TypeVar("T")


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


class RulesAreForPeople(PermissionError):
    """A job tried to change 系统禁令."""


def retried(work: Callable[[], T]) -> T:
    """What `work` returns, begun anew where somebody saved meanwhile; at last MemoryConflict is raised."""
    for _attempt in range(_TRIES - 1):
        try:
            return work()
        except MemoryConflict:
            continue
    return work()


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
    text = mask.mask_for_all(project).text(text)
    check_size(text)
    with atomic():
        before = ProjectMemory.objects.filter(project=project).first()
        if before is not None and before.version != base_version:
            raise MemoryConflict(before)
        old = before.content if before else ""
        if actor in JOBS:
            if _rules(old) != _rules(text):
                raise RulesAreForPeople(_("Only people change the rules."))
            text = tombstones.without_removed(project, old, text)
            if before is not None and text == old:
                return before
        if before is None and base_version:
            raise MemoryConflict(None)
        memory = _store(project, text, actor, before, reason, diff=changed_lines(old, text))
        if actor not in JOBS:
            tombstones.settle_removals(project=project, old=old, new=text, actor=actor)
    return memory


def _rules(content: str) -> list[str]:
    return [line.text for line in lines(content) if line.kind is Kind.RULES and line.text.strip()]


def _store(
    project: Project,
    text: str,
    actor: object,
    before: ProjectMemory | None,
    reason: str = "",
    **told: list[str],
) -> ProjectMemory:
    """The text as the next version, with its entry in the trail. Raises MemoryConflict."""
    author = audit.actor_name(actor)
    old = before.version if before else 0
    if before is None:
        memory = ProjectMemory.objects.create(project=project, content=text, last_updated_by=author)
    elif before.replaced(old + 1, content=text, last_updated_by=author):
        memory = before
    else:
        raise MemoryConflict(ProjectMemory.objects.filter(project=project).first())
    memory.versions.create(version=memory.version, content=text, author=author)
    audit.record(
        "memory.save",
        actor=actor,
        project=project,
        subject=memory,
        old={"version": old},
        new={"version": memory.version, **told},
        reason=reason,
    )
    return memory


@receiver(study_blinded, dispatch_uid="memory.study_blinded")
def on_study_blinded(*, project: Project, **_kwargs: Any) -> None:
    """Save hot memory anew, which masks what unblinds; inside the transaction of the switch."""
    memory = ProjectMemory.objects.filter(project=project).first()
    if memory is not None:
        save_memory(
            project=project,
            content=memory.content,
            base_version=memory.version,
            actor="system",
        )


def erase_lines(*, project: Project, profile: str, gone: Sequence[str], actor: object) -> None:
    """Take lines of a profile out of hot memory and out of every version; inside the caller's transaction.

    For a user who has something forgotten: unlike an editor's removal it leaves no word in the trail, and
    the user may say it again. Raises MemoryConflict when others write all the time.
    """

    def without(content: str) -> str:
        own = profile.casefold()
        kept = (one.text for one in lines(content) if one.profile != own or one.text not in gone)
        return "\n".join(kept)

    def erase() -> None:
        before = ProjectMemory.objects.filter(project=project).first()
        if before is None:
            return
        if (left := without(before.content)) != before.content:
            _store(project, left, actor, before)
        for version in before.versions.all():
            if (cleaned := without(version.content)) != version.content:
                before.versions.filter(pk=version.pk).update(content=cleaned)

    retried(erase)


def restore(*, version: ProjectMemoryVersion, actor: object, base_version: int) -> ProjectMemory:
    """An older version as the newest one. Raises what `save_memory` raises."""
    return save_memory(
        project=version.memory.project,
        content=version.content,
        actor=actor,
        base_version=base_version,
        reason=_("Version %(number)d restored") % {"number": version.version},
    )


def check_size(content: str) -> None:
    """Raises MemoryTooLarge: 系统禁令 have 1,200 tokens, a profile 400, the whole what is rendered at once."""
    try:
        check_length(content)
    except TextTooLong as error:
        raise MemoryTooLarge(str(error)) from error
    rules, of_profiles = sizes(content)
    if rules > RULES_LIMIT:
        raise MemoryTooLarge(_("The rules exceed %(limit)d tokens.") % {"limit": RULES_LIMIT})
    for profile, count in of_profiles.items():
        if count > PROFILE_LIMIT:
            message = _("The profile of %(user)s exceeds %(limit)d tokens.")
            raise MemoryTooLarge(message % {"user": profile, "limit": PROFILE_LIMIT})


def sizes(content: str) -> tuple[int, dict[str, int]]:
    """The tokens of the rules, and of each profile with its heading by user id."""
    parsed = lines(content)
    rules = [line.text for line in parsed if line.kind is Kind.RULES]
    own = {of: [line.text for line in parsed if line.profile == of] for of in profiles(content)}
    counts = {of: tokens.count("\n".join(texts)) for of, texts in own.items()}
    return tokens.count("\n".join(rules)), counts

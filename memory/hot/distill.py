"""The daily distillation of hot memory (seed 000, 1; issue 4): line-level changes with their evidence.

What users said about themselves goes into their profile; everything else waits for a person. A day is
distilled once, whatever beat or the broker do.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from house import cron
from house.db import atomic
from house.models import CronFiring
from memory.hot import (
    asked,
    distill_checks,
    distill_material,
    distiller,
    edit,
    injection,
    proposals,
)
from memory.hot.distiller import Brief, DistillerDown, Item
from memory.hot.proposals import Action, Change, State
from memory.hot.save import (
    Job,
    MemoryConflict,
    MemoryTooLarge,
    check_size,
    save_memory,
)
from memory.hot.text import Kind, Line, lines
from memory.models import ProjectMemory
from projects import audit
from projects.models import Project

log = logging.getLogger(__name__)
AUTHOR = Job.DAILY
_TRIES = 3


@dataclass(frozen=True)
class Distilled:
    """What a day came to."""

    applied: int
    waiting: int
    dropped: int


def distil(project: Project, day: date) -> Distilled | None:
    """Distil a day of a study; None when it was done before."""
    if is_done(project, day):
        return None
    items = distill_material.statements(project, day)
    counts = distill_material.feedback(project, day)
    changes, save = _proposed(project, items, counts)
    for _attempt in range(_TRIES - 1):
        try:
            return _write(project, day, changes, [*items, *counts], save)
        except MemoryConflict:
            log.info("hot memory changed while a day was distilled")
    return _write(project, day, changes, [*items, *counts], save)


def is_done(project: Project, day: date) -> bool:
    """Whether a day was distilled."""
    _since, due = distill_material.bounds(project, day)
    return CronFiring.objects.filter(job=_job(project), due_at=due).exists()


def _job(project: Project) -> str:
    return f"distil:{project.pk}"


def _proposed(
    project: Project, items: Sequence[Item], counts: Sequence[Item]
) -> tuple[list[Change], Callable[[], None]]:
    """The model's changes, and every proposal it passed over: its user was told that somebody decides."""
    content = injection.read(project)
    plain = {item.id: as_said(item, content) for item in items}
    if not items and not counts:
        return [], lambda: None
    try:
        said = distiller.ask(Brief(project, content, [*items, *counts]))
    except DistillerDown as error:
        log.info("distilled without a model: %s", error)
        return list(plain.values()), error.save
    cited = {found for change in said.changes for found in change.evidence}
    passed_over = [plain[i.id] for i in items if not i.is_own and i.id not in cited]
    return [*said.changes, *passed_over], said.save


def as_said(item: Item, content: str) -> Change:
    """A statement as it stands: a line of the user's own profile, or one of 当前状态."""
    if not item.is_own:
        return asked.change_of(item)
    text = f"- **{_label(item)}**: {item.text}"
    old = _single(item, content) if item.field in distill_material.SINGLE else None
    return Change(
        Action.CHANGE if old else Action.ADD,
        Kind.PROFILES,
        old=old.text if old else "",
        new=text,
        profile=item.user_id,
        evidence=(item.id,),
    )


def _label(item: Item) -> str:
    return item.field if item.field in distill_material.LABELS else distill_material.LABELS[0]


def _single(item: Item, content: str) -> Line | None:
    own = (line for line in lines(content) if line.profile == item.user_id.casefold())
    return next((line for line in own if f"**{item.field}**" in line.text), None)


def _write(
    project: Project,
    day: date,
    changes: Sequence[Change],
    items: Sequence[Item],
    save: Callable[[], None],
) -> Distilled | None:
    _since, due = distill_material.bounds(project, day)
    with atomic():
        if not cron.claim(_job(project), due):
            return None
        save()
        current = ProjectMemory.objects.filter(project=project).first()
        content = current.content if current else ""
        found = distill_checks.sort(changes, items, content, project)
        text, applied, refused = _applied(project, content, found.applied)
        if applied:
            base = current.version if current else None
            save_memory(project=project, content=text, actor=AUTHOR, base_version=base)
        proposals.store(project=project, changes=applied, author=AUTHOR, state=State.APPLIED)
        waiting = proposals.store(
            project=project, changes=[*found.waiting, *refused], author=AUTHOR
        )
        result = Distilled(len(applied), len(waiting), found.dropped)
        if changes:
            audit.record(
                "memory.distil",
                actor=AUTHOR,
                project=project,
                new={"day": day.isoformat(), **result.__dict__},
            )
    return result


def _applied(
    project: Project, content: str, changes: Sequence[Change]
) -> tuple[str, list[Change], list[Change]]:
    """The text with the changes that fit in; the others wait for a person."""
    done, refused = [], []
    for change in changes:
        try:
            name = proposals.name_of(project, change.profile)
            text = proposals.apply(content, change, name=name)
            check_size(text)
        except (edit.LineGone, MemoryTooLarge):
            refused.append(change)
            continue
        content = text
        done.append(change)
    return content, done, refused

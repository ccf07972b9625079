"""Hot memory over its 2000 tokens: a shorter text is proposed, people decide (seed 000, 5.1)."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from house.db import atomic
from integrations import tokens
from memory.hot import (
    distiller,
    injection,
    proposals,
    similarity,
)
from memory.hot.distiller import DistillerDown, Shortened, Summary
from memory.hot.proposals import SHORTENED, Action, Change
from memory.hot.save import Job
from memory.hot.signals import memory_over_cap
from memory.hot.text import Kind, Line, lines
from memory.hot.tombstones import Guard
from memory.models import MemoryProposal, ProjectMemory
from projects.models import Project

log = logging.getLogger(__name__)

AUTHOR = Job.DAILY
ROOM = 300
"""Tokens that a summary may take: so many more go, for what is said shorter to fit in."""


def prune(project: Project) -> MemoryProposal | None:
    """Propose what could go and tell the administrators; None when nothing is to be done.

    While a proposal to shorten waits, there is no other one. 系统禁令 and profiles are never shortened.
    """
    memory = ProjectMemory.objects.filter(project=project).first()
    content = memory.content if memory else ""
    count = tokens.count(content)
    if memory is None or count <= injection.LIMIT or _waits(project):
        return None
    change, used = _shorter(project, content)
    with atomic():
        used.save()
        made = proposals.store(
            project=project, changes=[change] if change.old else [], author=AUTHOR
        )
        proposal = made[0] if made else None
        memory_over_cap.send(MemoryProposal, memory=memory, tokens=count, proposal=proposal)
    return proposal


def is_over(content: str) -> bool:
    """Whether a text is more than what every prompt takes of it."""
    return tokens.count(content) > injection.LIMIT


def _shorter(project: Project, content: str) -> tuple[Change, Shortened]:
    """What goes and what says it shorter; without a model that does, as little as possible goes."""
    goes = surplus(content, ROOM)
    said = _summarised(project, [line.text for line in goes])
    kept = [summary for summary in said.summaries if _holds(summary, goes, project)]
    new = "\n".join(f"- {similarity.one_line(summary.text)}" for summary in kept)
    if not new or tokens.count(new) > ROOM:
        goes, new = surplus(content), ""
    old = "\n".join(line.text for line in goes)
    return Change(Action.SHORTEN, Kind.CURRENT, old=old, new=new), said


def _summarised(project: Project, texts: Sequence[str]) -> Shortened:
    try:
        return distiller.shorten(project, texts) if texts else Shortened((), lambda: None)
    except DistillerDown as error:
        log.info("shortened without a model: %s", error)
        return Shortened((), error.save)


def _holds(summary: Summary, goes: Sequence[Line], project: Project) -> bool:
    """Whether a summary cites lines that go, has no figure of its own and nothing that was removed."""
    cited = [goes[number - 1].text for number in summary.of if 0 < number <= len(goes)]
    if not cited or len(cited) != len(summary.of) or not similarity.pieces(summary.text):
        return False
    there = {
        figure for text in cited for piece in similarity.pieces(text) for figure in piece.numbers
    }
    own = {figure for piece in similarity.pieces(summary.text) for figure in piece.numbers}
    return own <= there and not Guard(project).blocks(summary.text)


def _waits(project: Project) -> bool:
    return MemoryProposal.objects.filter(
        project=project, action=Action.SHORTEN, state=MemoryProposal.State.PENDING
    ).exists()


def surplus(content: str, room: int = 0) -> list[Line]:
    """The lines to take away until the rest fits with `room` to spare: the oldest 当前状态 first, then FAQ."""
    over = tokens.count(content) - injection.LIMIT + room
    kept = [line for line in lines(content) if line.is_content]
    candidates = sorted((line for line in kept if line.kind in SHORTENED), key=_rank)
    goes: list[Line] = []
    for line in candidates:
        if over <= 0:
            break
        goes.append(line)
        over -= tokens.count(line.text)
    return goes


def _rank(line: Line) -> int:
    return SHORTENED.index(line.kind)

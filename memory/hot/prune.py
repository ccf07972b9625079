"""Hot memory over its 2000 tokens: a shorter text is proposed, people decide (seed 000, 5.1)."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from django.dispatch import Signal

from core.house.db import atomic
from core.integrations import tokens
from core.llm.job_llm import ModelDown
from memory.hot import distiller, injection, proposals, similarity
from memory.hot.distiller import Said, Summary
from memory.hot.proposals import SHORTENED, Action, Change
from memory.hot.save import Job
from memory.hot.text import Kind, Line, lines
from memory.hot.tombstones import Guard
from memory.models import MemoryProposal, ProjectMemory
from projects.models import Project

log = logging.getLogger(__name__)

AUTHOR = Job.DAILY
ROOM = 300
"""Tokens that a summary may take: so many more go, for what is said shorter to fit in."""

# Sent inside the transaction of the job with memory, tokens and proposal (None: nothing is left that a
# machine may take away); receivers only insert outbox rows, for channels are above the memories.
memory_over_cap = Signal()


def prune(project: Project) -> MemoryProposal | None:
    """Propose what could go and tell the administrators; None when nothing is to be done.

    While a proposal to shorten waits there is no other one, nor one for the same lines once it was decided.
    系统禁令 and profiles are never shortened.
    """
    memory = ProjectMemory.objects.filter(project=project).first()
    count = tokens.count(memory.content) if memory else 0
    if memory is None or count <= injection.LIMIT or _was_asked(project, memory.content):
        return None
    goes, new, said = _shorter(project, memory.content)
    change = Change(Action.SHORTEN, Kind.CURRENT, old=_joined(goes), new=new)
    with atomic():
        said.save()
        made = proposals.store(project=project, changes=[change] if goes else [], author=AUTHOR)
        proposal = made[0] if made else None
        if proposal or not goes:
            memory_over_cap.send(MemoryProposal, memory=memory, tokens=count, proposal=proposal)
    return proposal


def _was_asked(project: Project, content: str) -> bool:
    """Whether people are asked to let lines go, or decided on those that would be proposed now."""
    shorter, without = (_joined(surplus(content, room)) for room in (ROOM, 0))
    made = MemoryProposal.objects.filter(project=project, action=Action.SHORTEN)
    return any(
        one.state == MemoryProposal.State.PENDING or one.old == (shorter if one.new else without)
        for one in made
    )


def _joined(goes: Sequence[Line]) -> str:
    return "\n".join(line.text for line in goes)


def is_over(content: str) -> bool:
    """Whether a text is more than what every prompt takes of it."""
    return tokens.count(content) > injection.LIMIT


def _shorter(project: Project, content: str) -> tuple[list[Line], str, Said[Summary]]:
    """What goes and what says it shorter; without a model that does, as little as possible goes."""
    goes = surplus(content, ROOM)
    said: Said[Summary] = Said((), lambda: None)
    if goes:
        try:
            said = distiller.shorten(project, [line.text for line in goes])
        except ModelDown as error:
            log.info("shortened without a model: %s", error)
            said = Said((), error.save)
    kept = [summary for summary in said.found if _holds(summary, goes, project)]
    new = "\n".join(f"- {similarity.one_line(summary.text)}" for summary in kept)
    if not new or tokens.count(new) > ROOM:
        return surplus(content), "", said
    return goes, new, said


def _holds(summary: Summary, goes: Sequence[Line], project: Project) -> bool:
    """Whether a summary cites lines that go, has no figure of its own and nothing that was removed."""
    cited = [goes[number - 1].text for number in summary.of if 0 < number <= len(goes)]
    pieces = similarity.pieces(summary.text)
    if not cited or len(cited) != len(summary.of) or not pieces:
        return False
    there = {n for text in cited for piece in similarity.pieces(text) for n in piece.numbers}
    own = {number for piece in pieces for number in piece.numbers}
    return own <= there and not Guard(project).blocks(summary.text)


def surplus(content: str, room: int = 0) -> list[Line]:
    """The lines to take away until the rest fits with `room` to spare: the oldest 当前状态 first, then FAQ."""
    over = tokens.count(content) - injection.LIMIT + room
    candidates = [line for line in lines(content) if line.is_content and line.kind in SHORTENED]
    goes: list[Line] = []
    for line in sorted(candidates, key=lambda line: SHORTENED.index(line.kind)):
        if over <= 0:
            break
        goes.append(line)
        over -= tokens.count(line.text)
    return goes

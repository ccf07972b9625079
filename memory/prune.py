"""Hot memory over its 2000 tokens: a shorter text is proposed, people decide (seed 000, 5.1)."""

from __future__ import annotations

from integrations import tokens
from memory import hot, hot_proposals
from memory.hot_proposals import SHORTENED, Action, Change
from memory.hot_signals import memory_over_cap
from memory.hot_text import Kind, Line, lines
from memory.models import MemoryProposal
from memory.services import Job
from projects.db import atomic
from projects.models import Project

AUTHOR = Job.DAILY


def prune(project: Project) -> MemoryProposal | None:
    """Propose what could go and tell the administrators; None when nothing is to be done.

    While a proposal to shorten waits, there is no other one. 系统禁令 and profiles are never shortened.
    """
    content = hot.read(project)
    count = tokens.count(content)
    if count <= hot.LIMIT or _waits(project):
        return None
    goes = surplus(content)
    with atomic():
        change = Change(Action.SHORTEN, Kind.CURRENT, old="\n".join(line.text for line in goes))
        made = hot_proposals.store(project=project, changes=[change] if goes else [], author=AUTHOR)
        proposal = made[0] if made else None
        memory_over_cap.send(MemoryProposal, project=project, tokens=count, proposal=proposal)
    return proposal


def _waits(project: Project) -> bool:
    return MemoryProposal.objects.filter(
        project=project, action=Action.SHORTEN, state=MemoryProposal.State.PENDING
    ).exists()


def surplus(content: str) -> list[Line]:
    """The lines to take away until the rest fits: the oldest 当前状态 first, then FAQ."""
    over = tokens.count(content) - hot.LIMIT
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

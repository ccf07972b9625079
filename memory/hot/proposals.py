"""Changes of hot memory that wait for a person (issue 4, "Hot memory")."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.timezone import now
from django.utils.translation import gettext as _

from core.house.db import atomic
from core.house.key_ring import digest
from memory.hot import save
from memory.hot.text import (
    Kind,
    LineGone,
    MemoryTooLarge,
    add_line,
    change_line,
    lines,
    remove_line,
)
from memory.models import MemoryProposal, ProjectMemory, UserMemory
from projects import audit
from projects.models import Member, Project

Action = MemoryProposal.Action
State = MemoryProposal.State
FEEDBACK = "feedback:"
# Sections that may be shortened, the first to go first.
SHORTENED = (Kind.CURRENT, Kind.FAQ)


class AlreadyDecided(Exception):
    """Somebody else accepted or refused it before."""

    def __init__(self) -> None:
        super().__init__(_("This proposal was decided already."))


class ProposalOutdated(Exception):
    """The line it concerns is not there any more."""

    def __init__(self) -> None:
        super().__init__(_("The line that this proposal concerns is not there any more."))


# What keeps a proposal from being written, each with a message for its reader.
REFUSALS = (AlreadyDecided, ProposalOutdated, save.MemoryConflict, MemoryTooLarge)


@dataclass(frozen=True)
class Change:
    """One line-level change: `old` stands there now, `new` is to come, `evidence` names stored statements."""

    action: str
    kind: Kind
    old: str = ""
    new: str = ""
    profile: str = ""
    evidence: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The same for the same request."""
        said = [self.action, self.kind, self.profile, self.old, self.new, sorted(self.evidence)]
        return digest(f"proposal\n{json.dumps(said, ensure_ascii=False)}")


def apply(content: str, change: Change, *, name: str = "") -> str:
    """The text with a change in it; `name` heads a new profile. Raises LineGone."""
    kind, profile = change.kind, change.profile
    if change.action == Action.ADD:
        return add_line(content, kind=kind, line=change.new, user_id=profile, name=name)
    if change.action == Action.CHANGE:
        return change_line(content, old=change.old, new=change.new, kind=kind, user_id=profile)
    if change.action == Action.RETIRE:
        return remove_line(content, line=change.old, kind=kind, user_id=profile)
    for text in change.old.split("\n"):
        # The same words may stand among the rules, which nothing shortens.
        stands = (line.kind for line in lines(content) if line.text == text)
        kind = next((kind for kind in stands if kind in SHORTENED), Kind.CURRENT)
        content = remove_line(content, line=text, kind=kind)
    for text in change.new.splitlines():
        content = add_line(content, kind=Kind.CURRENT, line=text)
    return content


def store(
    *, project: Project, changes: Iterable[Change], author: str, state: str = State.PENDING
) -> list[MemoryProposal]:
    """Keep changes with their evidence; inside the caller's transaction. What was asked before is skipped.

    The evidence is references only: the words stay where their user can have them forgotten.
    """
    made = []
    for change in changes:
        counts = [found for found in change.evidence if found.startswith(FEEDBACK)]
        rows = UserMemory.objects.filter(pk__in={*change.evidence} - {*counts})
        is_applied = state == State.APPLIED
        kept, created = MemoryProposal.objects.get_or_create(
            project=project,
            key=change.key,
            defaults={
                "action": change.action,
                "section": change.kind,
                "profile": change.profile,
                "old": change.old,
                "new": change.new,
                "evidence": [
                    *({"kind": "memory", "id": str(r.pk), "user_id": r.user_id} for r in rows),
                    *(
                        {"kind": "feedback", "id": one, "user_id": one.removeprefix(FEEDBACK)}
                        for one in counts
                    ),
                ],
                "author": author,
                "state": state,
                "decided_by": author if is_applied else "",
                "decided_at": now() if is_applied else None,
            },
        )
        made += [kept] if created else []
    return made


def cited(project: Project) -> set[str]:
    """The stored statements that some change rests on already, whatever became of it."""
    rows = MemoryProposal.objects.filter(project=project).values_list("evidence", flat=True)
    return {item["id"] for items in rows for item in items if item["kind"] == "memory"}


def is_waiting(project: Project, statement: str) -> bool:
    """Whether a change that rests on a stored statement (its id) waits for a person."""
    waiting = MemoryProposal.objects.filter(project=project, state=State.PENDING)
    rows = waiting.values_list("evidence", flat=True)
    return any(item["id"] == statement for items in rows for item in items)


def quotes(proposal: MemoryProposal) -> list[str]:
    """`user: words` of the evidence that is still stored; what a user had forgotten is gone here, too.

    Of feedback: `user: 👎 reason time`; it has no words.
    """
    ids = [item["id"] for item in proposal.evidence if item["kind"] == "memory"]
    rows = UserMemory.objects.filter(project_id=proposal.project_id, pk__in=ids)
    signs = [item for item in proposal.evidence if item["kind"] == "feedback" and "quote" in item]
    return [
        *(f"{user_id}: {content}" for user_id, content in rows.values_list("user_id", "content")),
        *(f"{item['user_id']}: {item['quote']} ({item['id']})" for item in signs),
    ]


def accept(*, proposal: MemoryProposal, actor: object) -> ProjectMemory:
    """Write a waiting change as `actor`, a person.

    Raises AlreadyDecided, ProposalOutdated, and what `save_memory` raises.
    """
    project = proposal.project
    change = Change(
        action=proposal.action,
        kind=Kind(proposal.section),
        old=proposal.old,
        new=proposal.new,
        profile=proposal.profile,
    )
    with atomic():
        _decide(proposal, State.APPLIED, actor)
        current = ProjectMemory.objects.filter(project=project).first()
        name = name_of(project, proposal.profile)
        try:
            content = apply(current.content if current else "", change, name=name)
        except LineGone as error:
            raise ProposalOutdated from error
        audit.record("memory.accept", actor=actor, project=project, subject=proposal)
        return save.save_memory(
            project=project,
            content=content,
            actor=actor,
            base_version=current.version if current else None,
            reason=_("Proposal of %(author)s accepted") % {"author": proposal.author},
        )


def refuse_proposal(*, proposal: MemoryProposal, actor: object) -> None:
    """Close a waiting change without effect. Raises AlreadyDecided."""
    with atomic():
        _decide(proposal, State.REFUSED, actor)
        audit.record("memory.refuse", actor=actor, project=proposal.project, subject=proposal)


def _decide(proposal: MemoryProposal, state: str, actor: object) -> None:
    waiting = MemoryProposal.objects.filter(pk=proposal.pk, state=State.PENDING)
    if not waiting.update(state=state, decided_by=audit.actor_name(actor), decided_at=now()):
        raise AlreadyDecided
    proposal.state = state


def name_of(project: Project, userid: str) -> str:
    """What people call a member, for the heading of a new profile."""
    member = Member.objects.filter(project=project, wecom_userid__iexact=userid).first()
    return member.display_name if member and userid else userid

"""What a person asked to be remembered stands before the editors at once; distilling stays daily."""

from __future__ import annotations

from collections.abc import Sequence

from memory.hot import distill_checks, proposals
from memory.hot.distiller import Item
from memory.hot.proposals import Action, Change
from memory.hot.text import Kind
from memory.models import MemoryProposal, ProjectMemory, UserMemory
from projects.models import Project


def item_of(row: UserMemory) -> Item:
    """A stored proposal as the distillation reads it."""
    return Item(str(row.pk), row.user_id, row.content, row.field, is_own=False, at=row.created_at)


def change_of(item: Item) -> Change:
    """A line of 当前状态 that says it as it was said."""
    return Change(Action.ADD, Kind.CURRENT, new=f"- {item.text}", evidence=(item.id,))


def propose(*, project: Project, row: UserMemory) -> None:
    """Put a stored proposal before the editors; inside the caller's transaction.

    Checked as the daily job checks: what stands there already, or is too long for a line, waits for nobody.
    """
    item = item_of(row)
    content = ProjectMemory.objects.filter(project=project).values_list("content", flat=True)
    found = distill_checks.sort([change_of(item)], [item], content.first() or "", project)
    proposals.store(project=project, changes=found.waiting, author=row.user_id)


def without_proposed(project: Project, items: Sequence[Item]) -> list[Item]:
    """The statements that no person was shown yet: those of others are not asked twice, in no wording."""
    keys = {item.id: distill_checks.tidy(change_of(item)).key for item in items if not item.is_own}
    asked = MemoryProposal.objects.filter(project=project, key__in=keys.values())
    known = set(asked.values_list("key", flat=True))
    return [item for item in items if keys.get(item.id) not in known]

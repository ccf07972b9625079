"""One inbox row in the hands of one worker: its lease, and the one transaction that ends it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass

from django.utils.timezone import now

from core.house import leases
from projects.members import headed
from projects.models import Member, Project
from wechat.inbound.parse import Incoming
from wechat.models import InboxMessage
from wechat.outbound import channels


class LostLease(Exception):
    """Another worker has the row: whatever this one wanted to write is rolled back."""


@dataclass
class Job:
    """A claimed row. `finish` is called exactly once, inside the transaction that answers it.

    `speaker` is any active membership of the sender, None for a stranger.
    """

    row: InboxMessage
    incoming: Incoming
    speaker: Member | None = None
    finished: bool = False

    def finish(
        self, text: str = "", project: Project | None = None, conversation_id: str | None = None
    ) -> None:
        """Mark the row done and hand its one final reply to its channel. Raises LostLease.

        `conversation_id`: the row of the flow log that a vote on this reply concerns.
        """
        close(self.row, InboxMessage.Status.DONE, project=project)
        reply(self.row, self._headed(text, project), project, conversation_id)
        self.finished = True

    def _headed(self, text: str, project: Project | None) -> str:
        """With the study's name for a reader of several."""
        if project is None or self.speaker is None or not text.strip():
            return text
        mine = [*Member.objects.active_of(self.row.from_user)]
        here = next((one for one in mine if one.project_id == project.pk), None)
        return headed(text, here) if here and len(mine) > 1 else text


def mine(row: InboxMessage) -> dict[str, object]:
    """The condition under which a worker still owns its row."""
    return {"pk": row.pk, "fence": row.fence, "status": InboxMessage.Status.PROCESSING}


def close(row: InboxMessage, status: str, *, project: Project | None, error: str = "") -> None:
    """End a row of ours. Raises LostLease."""
    changed = InboxMessage.objects.filter(**mine(row)).update(
        status=status, done_at=now(), lease_until=None, project=project, error=error[:300]
    )
    if not changed:
        raise LostLease(f"inbox {row.pk}")


def reply(
    row: InboxMessage, text: str, project: Project | None, conversation_id: str | None = None
) -> None:
    """The row's final reply, by the channel it came from; there is never a second one."""
    channels.channel_of(row.channel).reply(row, text, project, conversation_id)


def kept(row: InboxMessage) -> AbstractContextManager[None]:
    """Renew the row's lease while the body works."""
    return leases.kept(InboxMessage.objects.filter(**mine(row)))

"""One inbox row in the hands of one worker: its channel, its lease, and the one transaction that ends it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from django.utils.timezone import now
from django.utils.translation import gettext as _

from core.house import leases
from projects.members import headed
from projects.models import Member, Project
from wechat.aibot import posting, streams
from wechat.aibot.parse import parse_json
from wechat.inbound.parse import Incoming, parse_xml
from wechat.models import InboxMessage
from wechat.outbound.outbox import enqueue_text


@dataclass(frozen=True)
class Channel:
    """What differs between the products of WeCom; a further one is a line in `CHANNELS`.

    `parse`: a stored callback as a value; raises wechat.inbound.parse.BadCallback. `answer`: the channel's
    own way to reply to a row, in the transaction that ends it; False where it has none for this row.
    `tell_alone`: its way into the sender's single chat; None where the app tells them.
    `rates_natively`: whether 👍/👎 stand under each answer without a card of ours.
    """

    parse: Callable[[str], Incoming]
    answer: Callable[[InboxMessage, str, Project | None, str | None], bool] | None = None
    tell_alone: Callable[[InboxMessage, str, Project | None], None] | None = None
    rates_natively: bool = False


CHANNELS: dict[str, Channel] = {
    InboxMessage.Channel.APP: Channel(parse_xml),
    InboxMessage.Channel.AIBOT: Channel(parse_json, streams.finish, rates_natively=True),
    InboxMessage.Channel.SOCKET: Channel(
        parse_json, posting.finish, posting.tell_alone, rates_natively=True
    ),
}


class LostLease(Exception):
    """Another worker has the row: whatever this one wanted to write is rolled back."""


@dataclass
class Job:
    """A claimed row. `finish` is called exactly once, inside the transaction that answers it.

    `speaker` is any active membership of the sender, None for a stranger. `note`: a line below the reply.
    `is_private`: others read along where it was asked, so the reply goes to the speaker alone.
    """

    row: InboxMessage
    incoming: Incoming
    speaker: Member | None = None
    finished: bool = False
    note: str = ""
    is_private: bool = False

    def finish(
        self, text: str = "", project: Project | None = None, conversation_id: str | None = None
    ) -> None:
        """Mark the row done and hand its one final reply to its channel. Raises LostLease.

        `conversation_id`: the row of the flow log that a vote on this reply concerns.
        """
        close(self.row, InboxMessage.Status.DONE, project=project)
        told = "\n".join(filter(None, (text, self.note))) if text.strip() else text
        told = self._headed(told, project)
        if self.is_private and told.strip():
            # Not of the study's: a vote under it would be on what others cannot see.
            told, project, conversation_id = self._told_alone(told, project), None, None
        reply(self.row, told, project, conversation_id)
        self.finished = True

    def _told_alone(self, text: str, project: Project | None) -> str:
        """Tell the speaker where nobody reads along; what the group hears of it."""
        if tell_alone := CHANNELS[self.row.channel].tell_alone:
            tell_alone(self.row, text, project)
            return _("I have answered you in our single chat.")
        key = f"inbox:{self.row.pk}"
        enqueue_text(to_user=self.row.from_user, project=project, content=text, key=key)
        return _("I have answered you in the chat with the app.")

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
    """The row's final reply, the way it came, else a message of the app; there is never a second one.

    In the transaction that ends the row, under a key of the row's own; a blank text is none.
    """
    answer = CHANNELS[row.channel].answer
    if answer and answer(row, text, project, conversation_id):
        return
    if text.strip():
        enqueue_text(to_user=row.from_user, project=project, content=text, key=f"inbox:{row.pk}")


def kept(row: InboxMessage) -> AbstractContextManager[None]:
    """Renew the row's lease while the body works."""
    return leases.kept(InboxMessage.objects.filter(**mine(row)))

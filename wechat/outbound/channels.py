"""A channel is where a message came from and its answer goes (issue 5, "Channel").

The engine and the handlers know none of them; a further channel is a class and a line in `_CHANNELS`.
"""

from __future__ import annotations

from typing import Protocol

from projects.models import Project
from wechat.aibot import streams
from wechat.aibot.parse import parse_json as parse_json
from wechat.inbound.parse import Incoming, parse_xml
from wechat.models import InboxMessage
from wechat.outbound import outbox


class Channel(Protocol):
    """What differs between the products of WeCom."""

    rates_natively: bool
    """Whether 👍/👎 stand under each answer without a card of ours."""

    def parse(self, raw: str) -> Incoming:
        """A stored callback as a value. Raises wechat.inbound.parse.BadCallback."""
        ...

    def reply(
        self, row: InboxMessage, text: str, project: Project | None, conversation_id: str | None
    ) -> None:
        """Give a row its one final reply, in the transaction that ends it; a blank text is none."""
        ...


class SelfBuiltApp:
    """自建应用: XML in, message/send out."""

    rates_natively = False

    def parse(self, raw: str) -> Incoming:
        """The XML of wecom.md 1.9."""
        return parse_xml(raw)

    def reply(
        self, row: InboxMessage, text: str, project: Project | None, conversation_id: str | None
    ) -> None:
        """A message in the sender's lane; the key is the row's, so there is never a second one."""
        if text.strip():
            key = f"inbox:{row.pk}"
            outbox.enqueue_text(to_user=row.from_user, project=project, content=text, key=key)


class SmartBot:
    """智能机器人: JSON in, a stream that WeCom fetches out; events are answered through the app."""

    rates_natively = True

    def parse(self, raw: str) -> Incoming:
        """The JSON of wecom.md 5."""
        return parse_json(raw)

    def reply(
        self, row: InboxMessage, text: str, project: Project | None, conversation_id: str | None
    ) -> None:
        """The end of the row's stream; what has none (a click) is answered by the app."""
        if not streams.finish(row, text, project, conversation_id):
            APP.reply(row, text, project, conversation_id)


APP = SelfBuiltApp()
_CHANNELS: dict[str, Channel] = {
    InboxMessage.Channel.APP: APP,
    InboxMessage.Channel.AIBOT: SmartBot(),
}


def channel_of(name: str) -> Channel:
    """The channel of an inbox row."""
    return _CHANNELS[name]

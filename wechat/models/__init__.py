"""Tables of the WeCom channel: nothing received is lost, nothing is sent twice (design.md 3)."""

from wechat.models.answers import Answer
from wechat.models.cards import Card
from wechat.models.connection import BotConnection
from wechat.models.groups import GroupChat
from wechat.models.inbox import InboxMessage
from wechat.models.operations import AccessToken, Alert
from wechat.models.outbox import OutboxMessage
from wechat.models.streams import Stream

__all__ = [
    "AccessToken",
    "Alert",
    "Answer",
    "BotConnection",
    "Card",
    "GroupChat",
    "InboxMessage",
    "OutboxMessage",
    "Stream",
]

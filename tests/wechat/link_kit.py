"""The long connection in one process: the holder runs in the test's own thread until something holds."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from threading import Event
from typing import Any

from pytest_django import Settings

from tests.support.stand_ins import StandIns
from tests.wechat.working import work
from wechat.aibot.holder import Holder, Pauses
from wechat.aibot.link import Timing
from wechat.models import InboxMessage, OutboxMessage

BOT, SECRET = "AIBOTID", "demoBotSecret"
IMAGE: dict[str, Any] = {"msgtype": "image", "image": {"url": "https://wework.qpic.cn/x"}}
"""What is answered without a look at the study."""
QUERYING = "🫡 正在查询,请稍候..."
QUICK = Timing(poll_s=0.01, answer_s=2.0, overdue_s=0.02, stop_s=2.0)
SHORT = Pauses(standby_s=0.02, first_s=0.01, longest_s=0.05, kick_s=0.01, longest_kick_s=0.05)
_ids = itertools.count(1)


class Until(Event):
    """Set as soon as `condition` holds; the test fails where it never does."""

    def __init__(self, condition: Callable[[], object], limit_s: float = 120.0) -> None:
        super().__init__()
        self._condition, self._end = condition, time.monotonic() + limit_s

    def is_set(self) -> bool:
        if not super().is_set() and self._condition():
            self.set()
        assert super().is_set() or time.monotonic() < self._end, "it never came to this"
        return super().is_set()

    def wait(self, timeout: float | None = None) -> bool:
        """Looks as often as a connection does."""
        end = time.monotonic() + (timeout or 0.0)
        while not self.is_set() and (left := end - time.monotonic()) > 0:
            super().wait(min(left, 0.01))
        return self.is_set()


def configure(settings: Settings, stand_ins: StandIns) -> None:
    settings.WECOM_AIBOT_ID, settings.WECOM_AIBOT_SECRET = BOT, SECRET
    settings.WECOM_AIBOT_SOCKET = f"ws://127.0.0.1:{stand_ins.port}/wecom/aibot/"
    link(stand_ins)


def link(stand_ins: StandIns, **order: Any) -> dict[str, Any]:
    """How the stand-in's side stands, after `order`."""
    found: dict[str, Any] = stand_ins.post("aibot/link", order)
    return found


def hold(condition: Callable[[], object], pauses: Pauses = SHORT, timing: Timing = QUICK) -> Holder:
    """Hold the connection until `condition`, then end as on SIGTERM."""
    holder = Holder(timing, pauses, stop=Until(condition))
    holder.run()
    return holder


def worked(stand_ins: StandIns) -> bool:
    """Work off what has come; whether each question has its last answer."""
    if InboxMessage.objects.filter(status__in=InboxMessage.UNFINISHED).exists():
        work()
    return not link(stand_ins)["unfinished"]


def asks(
    stand_ins: StandIns, text: str = "P001 入组了吗?", user: str = "ZhangYi", **more: Any
) -> str:
    """A member writes to the bot, which is there or will be; the id of the message."""
    msgid = f"CAIQ{next(_ids)}"
    plain = {
        "msgid": msgid,
        "aibotid": BOT,
        "chattype": "single",
        "from": {"userid": user},
        "msgtype": "text",
        "text": {"content": text},
        **more,
    }
    stand_ins.post("aibot/push", {"link": plain})
    return msgid


def all_sent() -> bool:
    """Whether nothing waits for WeCom."""
    return not OutboxMessage.objects.exclude(status="sent").exists()


def finals(stand_ins: StandIns) -> list[dict[str, Any]]:
    """Last answers as members saw them, oldest first."""
    return [row for row in stand_ins.sent() if row["type"] in ("stream", "aibot_push")]

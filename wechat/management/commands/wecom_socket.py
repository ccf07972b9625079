from __future__ import annotations

import logging
import signal
from types import FrameType
from typing import Any

from django.core.management.base import BaseCommand

from wechat.aibot import lease
from wechat.aibot.holder import Holder

logger = logging.getLogger(__name__)


class Command(BaseCommand):
    help = (
        "Hold the smart bot's long connection (WECOM_AIBOT_ID, WECOM_AIBOT_SECRET), until SIGTERM; "
        "a second process stands by. Without these settings it waits and does nothing."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        holder = Holder()

        def end(_number: int, _frame: FrameType | None) -> None:
            holder.stop.set()

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, end)
        if lease.is_configured():
            holder.run()
            return
        # A process manager would take an end for a crash.
        logger.info("no long connection is configured: WECOM_AIBOT_ID, WECOM_AIBOT_SECRET")
        holder.stop.wait()

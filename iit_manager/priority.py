"""Workers and scheduler give way to the web: WeCom waits five seconds, people wait longer for their answers."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.conf import settings

AUTOGROUP = Path("/proc/self/autogroup")


def give_way(**_: Any) -> None:
    """Lower this process by WORKER_NICE.

    Linux weighs sessions against each other first (sched_autogroup), so a process that has one for itself
    lowers the session, too; in a session it shares, `nice` alone decides.
    """
    os.nice(settings.WORKER_NICE)
    if os.getsid(0) == os.getpid():
        with suppress(OSError):
            AUTOGROUP.write_text(str(settings.WORKER_NICE))

"""What all stand-ins share: the request log, planned faults, the clock and the demo's day."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from demo.simulators.http import Request

SERVER_ZONE = ZoneInfo("Asia/Shanghai")
LOG_LIMIT = 200_000
FAULT_KINDS = ("status", "body", "delay", "reset", "timeout_after")


@dataclass
class Fault:
    """A planned misbehaviour; `times` None = until the next reset (contracts.md, Stand-ins)."""

    service: str
    path: str
    kind: str
    value: Any = None
    times: int | None = 1
    body_contains: str = ""

    @staticmethod
    def parse(row: dict[str, Any]) -> Fault:
        """From one object of POST /_control/faults. Raises ValueError for an unknown kind."""
        if row.get("kind") not in FAULT_KINDS:
            raise ValueError(f"kind must be one of {', '.join(FAULT_KINDS)}")
        return Fault(
            service=row.get("service") or "",
            path=row.get("path") or "",
            kind=row["kind"],
            value=row.get("value"),
            times=row.get("times", 1),
            body_contains=row.get("body_contains") or "",
        )

    def matches(self, service: str, request: Request) -> bool:
        """Whether this fault is meant for this request and not used up."""
        if self.times is not None and self.times <= 0:
            return False
        target = f"{request.path}?{request.query_string}"
        return (
            self.service in ("", service)
            and self.path in target
            and self.body_contains in request.text
        )


class State:
    """Shared by all services of one process; every method may be called from any thread.

    `house_token`: of the house that started the process and alone configures it; blank: anybody does.
    """

    def __init__(self, house_token: str = "") -> None:
        self.house_token = house_token
        self._lock = threading.Lock()
        self._log: deque[dict[str, Any]] = deque(maxlen=LOG_LIMIT)
        self._faults: list[Fault] = []
        self._advance = 0.0
        self._today: date | None = None
        self.resets = 0
        self.stopping = threading.Event()
        self.on_today_changed: list[Callable[[], None]] = []

    def now(self) -> datetime:
        """The stand-ins' clock, UTC: real time + what /_control/clock advanced."""
        return datetime.now(UTC) + timedelta(seconds=self._advance)

    def timestamp(self) -> float:
        """`now()` as seconds since 1970."""
        return time.time() + self._advance

    def local_now(self) -> datetime:
        """`now()` as the naive local time a server in Asia/Shanghai writes."""
        return self.now().astimezone(SERVER_ZONE).replace(tzinfo=None)

    def advance(self, seconds: float) -> None:
        """Move the clock; negative values move it back."""
        with self._lock:
            self._advance += seconds

    def today(self) -> date:
        """The day `{{T}}` stands for: configured, else DEMO_TODAY, else the date in Shanghai.

        Kept from the first call on, because the loaded dates do not move at midnight either.
        """
        if self._today is None:
            configured = os.environ.get("DEMO_TODAY")
            self._today = date.fromisoformat(configured) if configured else self.local_now().date()
        return self._today

    def set_today(self, today: date) -> None:
        """Fix the day of the study; listeners hear of it only when it changes."""
        changed = today != self.today()
        self._today = today
        if changed:
            for listener in self.on_today_changed:
                listener()

    def record(self, service: str, request: Request) -> None:
        """Append one received request to the log."""
        entry = {
            "service": service,
            "time": self.timestamp(),
            "method": request.method,
            "path": request.path,
            "query": request.query_string,
            "body": request.text,
        }
        with self._lock:
            self._log.append(entry)

    def requests(self, service: str = "") -> list[dict[str, Any]]:
        """All received, oldest first; of one service when named."""
        with self._lock:
            return [row for row in self._log if service in ("", row["service"])]

    def add_faults(self, faults: list[Fault]) -> None:
        """Plan faults after those already planned."""
        with self._lock:
            self._faults.extend(faults)

    def take_fault(self, service: str, request: Request) -> Fault | None:
        """The first fault planned for this request, used up by one."""
        with self._lock:
            for fault in self._faults:
                if fault.matches(service, request):
                    if fault.times is not None:
                        fault.times -= 1
                    return fault
        return None

    def reset(self) -> None:
        """Forget log, faults and the clock's advance."""
        with self._lock:
            self.resets += 1
            self._log.clear()
            self._faults.clear()
            self._advance = 0.0

"""What goes wrong, in an order that its seed decides: each kind once before one comes again."""

from __future__ import annotations

import random
import signal
import threading
from collections import Counter
from collections.abc import Callable

from tests.bench._soak_house import call
from tests.chaos._house import WORKERS, Chaos

SERVICES = ("wecom", "redcap", "dify", "llm")
HTML = {"status": 200, "body": "<html><body>502</body></html>", "content_type": "text/html"}
KINDS = {
    "drops the answer": {"kind": "timeout_after", "value": 0},
    "is slow": {"kind": "delay", "value": 4},
    "says 500": {"kind": "status", "value": 500},
    "says HTML": {"kind": "status", "value": HTML},
}
AHEAD_S = (-20, 20)
"""Less than what is left of a lease that is kept: a skew that /readyz still bears."""
REST_S, AWAY_S = (0.5, 2.0), (0.5, 3.0)


class Faults(threading.Thread):
    """Runs until `over` is set, and then leaves a whole house."""

    def __init__(self, house: Chaos, seed: int) -> None:
        super().__init__(name="faults")
        self.house, self.random = house, random.Random(seed)
        self.over, self.done = threading.Event(), Counter[str]()
        self.broken: BaseException | None = None

    def run(self) -> None:
        try:
            while not self.over.is_set():
                for name, fault in self._deck():
                    if self.over.wait(self.random.uniform(*REST_S)):
                        break
                    fault()
                    self.done[name] += 1
            self._calm()
        except BaseException as error:
            self.broken = error

    def _deck(self) -> list[tuple[str, Callable[[], None]]]:
        deck: list[tuple[str, Callable[[], None]]] = [
            ("worker killed", self._worker),
            ("beat killed", lambda: self._again("beat", self.house.beat)),
            ("web killed", lambda: self._again("web", self.house.web)),
            ("PostgreSQL stopped", self._postgres),
            ("Redis killed", lambda: self._again("redis", self.house.redis)),
            ("disk full", self._disk),
            ("clock jumped", self._clock),
        ]
        for service in SERVICES:
            kind = self.random.choice([*KINDS])
            deck.append((f"{service} {kind}", lambda s=service, k=kind: self._outside(s, k)))  # type: ignore[misc]
        self.random.shuffle(deck)
        return deck

    def _away(self) -> None:
        self.over.wait(self.random.uniform(*AWAY_S))

    def _again(self, name: str, start: Callable[[], None], how: int = signal.SIGKILL) -> None:
        with self.house.changing:
            self.house.kill(name, how)
            self._away()
            start()

    def _worker(self) -> None:
        number = self.random.randrange(WORKERS)
        self._again(f"worker{number}", lambda: self.house.worker(number))

    def _postgres(self) -> None:
        # An immediate stop: as a crash, with recovery at the start.
        self._again("postgres", self.house.postgres, signal.SIGQUIT)

    def _disk(self) -> None:
        self.house.fill_disk(True)
        self._away()
        self.house.fill_disk(False)

    def _clock(self) -> None:
        number = self.random.randrange(WORKERS)
        ahead_s = self.random.choice(AHEAD_S)
        self._again(f"worker{number}", lambda: self.house.worker(number, ahead_s))

    def _outside(self, service: str, kind: str) -> None:
        fault = {"service": service, "path": "", "times": self.random.randint(2, 5)}
        call(f"{self.house.env['SIM']}/_control/faults", [fault | KINDS[kind]])

    def _calm(self) -> None:
        """Clocks right again; what is planned of the stand-ins wears off by itself."""
        self.house.fill_disk(False)
        with self.house.changing:
            for number in range(WORKERS):
                self.house.kill(f"worker{number}", signal.SIGKILL)
                self.house.worker(number)

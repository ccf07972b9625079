"""What people do meanwhile: order workflows, decide reviews, change data. Only what was confirmed counts."""

from __future__ import annotations

import json
import random
import threading
from collections import Counter
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from demo.planted import AE, CLEAN, PLANTED, QC, VISIT
from tests.bench._soak_house import call
from tests.chaos._house import Chaos

CHANGED = CLEAN[2:8]
"""Subjects without a fault, who get one: from then on rule EL03 must tell of them."""
ORDERED = (*(one.subject for one in PLANTED), *CLEAN[:2])
PAUSE_S, WAIT_S = 0.4, 20


class Work(threading.Thread):
    """One person after another, until `over`; `orders` and `decided` hold what the house confirmed."""

    def __init__(self, house: Chaos, seed: int) -> None:
        super().__init__(name="work")
        self.house, self.random = house, random.Random(seed)
        content = json.loads((house.var / "run.json").read_text("utf-8"))
        # The PI orders; who administers has a say in every site's reviews.
        self.tokens = {who: content["logins"][who]["token"] for who in ("zhangyi", "admin")}
        self.over = threading.Event()
        self.orders: list[str] = []
        self.decided: list[str] = []
        self.changed: list[str] = []
        self.refused = Counter[str]()

    def run(self) -> None:
        while not self.over.wait(PAUSE_S):
            deed = self.random.choice([self._order, self._order, self._decide, self._change])
            try:
                deed()
            except (OSError, ValueError, KeyError) as error:
                # Nothing was promised.
                self.refused[str(getattr(error, "code", type(error).__name__))] += 1

    def _api(self, who: str, path: str, body: Any = None) -> Any:
        headers = {
            "Authorization": f"Token {self.tokens[who]}",
            "Content-Type": "application/json",
            "X-Forwarded-Proto": "https",
        }
        url = f"{self.house.env['PUBLIC_URL']}/api/v1/{path}"
        raw = None if body is None else json.dumps(body).encode()
        with urlopen(Request(url, raw, headers), timeout=WAIT_S) as answer:
            return json.loads(answer.read())

    def _order(self) -> None:
        said = {
            "project": "LUNG-IIT",
            "record_id": self.random.choice(ORDERED),
            "skill_type": self.random.choice((QC, AE, VISIT)),
        }
        self.orders.append(self._api("zhangyi", "task-runs/start/", said)["id"])

    def _decide(self) -> None:
        waiting = self._api("admin", "task-runs/?status=SUSPENDED")["results"]
        if not waiting:
            return
        run = self.random.choice(waiting)
        decision = self.random.choice(("approve", "reject"))
        said = {"reason": "已核对原始病历", "seen": run["review"]["seen"]}
        try:
            self._api("admin", f"task-runs/{run['id']}/{decision}/", said)
        except HTTPError as error:
            if error.code == 409:  # decided by an earlier click whose answer was lost
                return
            raise
        self.decided.append(str(run["review"]["id"]))

    def _change(self) -> None:
        left = [one for one in CHANGED if one not in self.changed]
        if left:
            row = {"record": left[0], "event": "screening_arm_1", "values": {"ecog_score": "3"}}
            call(f"{self.house.env['SIM']}/_control/redcap/records", [row])
            self.changed.append(left[0])

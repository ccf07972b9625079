"""`make soak`: the WeCom channel under load, kills and a WeCom that stumbles (issue 5, must show 2).

100 callbacks a second for SOAK_S seconds (120) from 400 members: 20 % of them repeated deliveries, all of
them shuffled within a second, one question in 50 reads REDCap. One worker is killed each 20 s, the broker
(our own redis-server on a port of its own) is restarted once with its memory lost, WeCom leaves 10 % of the
sends unanswered after it has delivered them. Then the queues may drain for SOAK_DRAIN_S (900) seconds.

PostgreSQL: DATABASE_URL or 127.0.0.1:5432, where a database is made and dropped. Loopback only.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.bench._database import ABSENT, temporary
from tests.bench._soak_house import WORKERS, House, call, environment
from tests.bench._soak_load import Delivery, Seen, deliveries, write

if TYPE_CHECKING:
    from wechat.models import OutboxMessage

SECONDS = int(os.environ.get("SOAK_S", "120"))
DRAIN_S = int(os.environ.get("SOAK_DRAIN_S", "900"))
RATE, USERS = 100, 400
AMBIGUOUS, KILL_EVERY_S = 0.1, 20
P99_MS = 50.0


def run() -> list[dict[str, Any]]:
    """Nothing: too long for `make bench`; see `make soak`."""
    return []


def tried() -> int:
    """Sends so far."""
    from django.db.models import Sum

    from wechat.models import OutboxMessage

    return int(OutboxMessage.objects.aggregate(n=Sum("attempts"))["n"] or 0)


def misbehave(house: House, until: threading.Event, done: Counter[str]) -> None:
    """Each second a tenth of the sends stays unanswered; kills and the restart at their times."""
    fault = {"service": "wecom", "path": "message/send", "kind": "timeout_after", "value": 0}
    for second in range(1, 10**6):
        if until.wait(1.0):
            return
        sends = int(tried() * AMBIGUOUS) - done["sends left unanswered"]
        if sends > 0:
            call(f"{house.env['SIM']}/_control/faults", [{**fault, "times": sends}])
            done["sends left unanswered"] += sends
        if second % KILL_EVERY_S == KILL_EVERY_S // 2 and second < SECONDS:
            number = (second // KILL_EVERY_S) % WORKERS
            house.kill(f"worker{number}")
            house.worker(number)
            done["workers killed"] += 1
        if second == max(2, SECONDS // 2):
            house.kill("redis")
            house.redis()
            done["broker restarts"] += 1


def drain(expected: int) -> float:
    """Seconds until every accepted message is answered and sent, at most DRAIN_S."""
    from wechat.models import InboxMessage, OutboxMessage

    start = time.monotonic()
    while time.monotonic() - start < DRAIN_S:
        open_in = InboxMessage.objects.filter(status__in=InboxMessage.UNFINISHED).exists()
        open_out = OutboxMessage.objects.filter(status__in=OutboxMessage.UNSENT).exists()
        if not open_in and not open_out and InboxMessage.objects.count() >= expected:
            break
        time.sleep(1)
    return time.monotonic() - start


def answered() -> int:
    """Questions that are done so far."""
    from wechat.models import InboxMessage

    return int(InboxMessage.objects.filter(status=InboxMessage.Status.DONE).count())


def judge(sent: list[dict[str, Any]]) -> dict[str, Any]:
    """Each stored question against what the members of the stand-in received."""
    from wechat.models import InboxMessage, OutboxMessage

    arrived = arrivals(sent)
    asked = InboxMessage.objects.filter(from_user__startswith="soak").order_by("pk")
    out = OutboxMessage.objects.filter(to_user__startswith="soak").order_by("pk")
    by_key = {row.key: row for row in out}
    once = never = failed = 0
    order: defaultdict[str, list[int]] = defaultdict(list)
    for pk, user, status in asked.values_list("pk", "from_user", "status"):
        answer = by_key.get(f"inbox:{pk}#1")
        times = arrived[user].count(answer.msgid) if answer and answer.msgid else 0
        once += times == 1
        never += times == 0
        failed += status == InboxMessage.Status.FAILED
        if times:
            order[user].append(arrived[user].index(answer.msgid))
    return {
        "questions stored": asked.count(),
        "answered exactly once": once,
        "lost (never answered)": never,
        "answered with a failure": failed,
        **doubles(out, arrived),
        "sends that were ambiguous": out.filter(is_ambiguous=True).count(),
        "members out of order": sum(rows != sorted(rows) for rows in order.values()),
    }


def arrivals(sent: list[dict[str, Any]]) -> defaultdict[str, list[str]]:
    """The ids of the texts that each member received, in order."""
    arrived: defaultdict[str, list[str]] = defaultdict(list)
    for row in sent:
        is_text = row["type"] in ("text", "markdown") and not row["dropped"]
        if is_text and row["to"].startswith("soak"):
            arrived[row["to"].lower()].append(row["msgid"])
    return arrived


def doubles(out: Iterable[OutboxMessage], arrived: dict[str, list[str]]) -> dict[str, int]:
    """What arrived more often than it was sent, by what the rows say of it."""
    marked = Counter(row.to_user for row in out if row.possible_duplicate)
    sent_to = Counter(row.to_user for row in out)
    extra = {user: max(0, len(rows) - sent_to[user]) for user, rows in arrived.items()}
    unexplained = sum(max(0, more - marked[user]) for user, more in extra.items())
    return {
        "doubled (arrived twice, no mark)": unexplained,
        "possible duplicates, marked (apart)": sum(marked.values()),
        "of these arrived twice": sum(extra.values()) - unexplained,
    }


def members() -> None:
    from projects.models import Member, Project

    project = Project.objects.get()
    for number in range(USERS):
        Member.objects.create(
            project=project, wecom_userid=f"soak{number:03d}", role="PI", display_name="S"
        )


def main() -> int:
    """Run, print, 0 when everything held."""
    if shutil.which("redis-server") is None:
        print("soak: not measured: no redis-server")
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that our processes end with us
    with temporary() as url, tempfile.TemporaryDirectory(prefix="soak") as folder:
        if url is None:
            print(f"soak: not measured: {ABSENT}")
            return 2
        from django.conf import settings

        house = House(Path(folder), environment(url, Path(folder)))
        os.environ["FIELD_ENCRYPTION_KEYS"] = house.env["FIELD_ENCRYPTION_KEYS"]
        settings.FIELD_ENCRYPTION_KEYS = [house.env["FIELD_ENCRYPTION_KEYS"]]
        try:
            return _soak(house)
        finally:
            house.stop()


@dataclass
class Soaked:
    """What came of the load: `cpu` in seconds by kind of process, before it, behind it and at the end."""

    rows: list[Delivery]
    trouble: Counter[str] = field(default_factory=Counter)
    cpu: list[Counter[str]] = field(default_factory=list)
    seen: Seen = field(default_factory=Seen)
    pushed_s: float = 0.0
    answered: int = 0
    drained_s: float = 0.0

    @property
    def fresh(self) -> int:
        """Questions without their repeated deliveries."""
        return len({row.number for row in self.rows})


def _soak(house: House) -> int:
    house.all()
    members()
    call(f"{house.env['SIM']}/_control/configure", {"wecom": {"users": []}})
    soaked = Soaked(deliveries(house.env, rate=RATE, users=USERS, seconds=SECONDS))
    over = threading.Event()
    shaking = threading.Thread(target=misbehave, args=(house, over, soaked.trouble))
    shaking.start()
    try:
        _push(house, soaked)
        soaked.drained_s = drain(len(soaked.seen.acknowledged))
    finally:
        over.set()
        shaking.join()
    soaked.cpu.append(house.cpu())
    found = judge(call(f"{house.env['SIM']}/_control/sent"))
    for name, value in figures(soaked, found).items():
        print(f"{name:38} {value}")
    held = promises(soaked, found)
    for name, ok in held.items():
        print(f"{'held' if ok else 'NOT HELD':10} {name}")
    return 0 if all(held.values()) else 1


def _push(house: House, soaked: Soaked) -> None:
    """Deliver everything by a process of its own."""
    plan, result = house.var / "plan", house.var / "seen.json"
    write(plan, soaked.rows)
    start = time.monotonic()
    soaked.cpu.append(house.cpu())
    sender = [sys.executable, "-m", "tests.bench._soak_load", house.env["PORT"]]
    house.start("load", *sender, str(plan), str(result)).wait()
    soaked.pushed_s = time.monotonic() - start
    soaked.cpu.append(house.cpu())
    soaked.answered = answered()
    soaked.seen = Seen.read(result)


def figures(soaked: Soaked, found: dict[str, Any]) -> dict[str, object]:
    """What is printed. From the due time is what WeCom would see of us and of the load generator together."""
    rows, seen = soaked.rows, soaked.seen
    rate = len(rows) / soaked.pushed_s
    return {
        "callbacks": f"{len(rows)} in {soaked.pushed_s:.0f} s ({rate:.0f}/s)",
        "questions asked / repeated deliveries": f"{soaked.fresh} / {len(rows) - soaked.fresh}",
        "delivered again after 5 s or an error": seen.repeated_by_us,
        "statuses": dict(seen.statuses),
        "questions accepted": len(seen.acknowledged),
        "acknowledged p50 / p99 / max, ms": spread(seen.took),
        "from the due time p50 / p99 / max, ms": spread(seen.from_due),
        **soaked.trouble,
        **found,
        "answered while callbacks came": soaked.answered,
        "drained after, s": round(soaked.drained_s, 1),
        **costs(soaked, found["questions stored"]),
        "load average": " ".join(f"{one:.1f}" for one in os.getloadavg()),
    }


def spread(took: list[float]) -> str:
    """Median, 99th percentile and maximum of sorted figures."""
    return f"{took[len(took) // 2]:.1f} / {p99(took):.1f} / {took[-1]:.1f}"


def p99(took: list[float]) -> float:
    return took[int(len(took) * 0.99)]


def promises(soaked: Soaked, found: dict[str, Any]) -> dict[str, bool]:
    """What must hold (issue 5, must show 2)."""
    stored, accepted = found["questions stored"], len(soaked.seen.acknowledged)
    return {
        "every question answered exactly once": found["answered exactly once"]
        == stored
        == accepted
        == soaked.fresh,
        "nothing arrived twice without a mark": not found["doubled (arrived twice, no mark)"],
        "in order per member": not found["members out of order"],
        f"acknowledged p99 < {P99_MS:g} ms": p99(soaked.seen.took) < P99_MS,
    }


def costs(soaked: Soaked, questions: int) -> dict[str, str]:
    """CPU ms: of web and load generator a callback, of everything behind them a question."""
    before, pushed, end = soaked.cpu
    callbacks, used = len(soaked.rows), end - before

    def each(seconds: float, number: int) -> str:
        return f"{seconds * 1000 / max(1, number):.1f}"

    web, load = each((pushed - before)["web"], callbacks), each(soaked.seen.cpu_s, callbacks)
    kinds = ("worker", "simulators", "postgres", "redis")
    behind = (f"{name} {each(used[name], questions)}" for name in kinds)
    return {
        "CPU a callback, ms": f"web {web}, load {load}",
        "CPU a question, ms": ", ".join(behind),
    }


if __name__ == "__main__":
    sys.exit(main())

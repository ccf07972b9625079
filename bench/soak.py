"""`make soak`: the WeCom channel under load, kills and a WeCom that stumbles (issue 5, must show 2).

100 callbacks a second for SOAK_S seconds (120) from 400 members: 20 % of them repeated deliveries, all of
them shuffled within a second, one question in 50 reads REDCap. One worker is killed each 20 s, the broker
(our own redis-server on a port of its own) is restarted once with its memory lost, WeCom leaves 10 % of the
sends unanswered after it has delivered them. Then the queues may drain for SOAK_DRAIN_S (600) seconds.

PostgreSQL: DATABASE_URL or 127.0.0.1:5432, where a database is made and dropped. Loopback only.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import queue
import random
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from bench._database import ABSENT, temporary

ROOT = Path(__file__).resolve().parents[1]
SECONDS = int(os.environ.get("SOAK_S", "120"))
DRAIN_S = int(os.environ.get("SOAK_DRAIN_S", "600"))
RATE, USERS, WORKERS, SENDERS = 100, 400, 3, 24
REPEATED, AMBIGUOUS, KILL_EVERY_S, REDCAP_EVERY = 0.2, 0.1, 20, 50
P99_MS = 50.0
PLAIN = ("今天天气怎么样", "帮我写首诗", "讲个笑话")
CLINICAL = "P001 入组了吗?"
MESSAGE = (
    "<xml><ToUserName>{corp}</ToUserName><FromUserName>{user}</FromUserName>"
    "<CreateTime>{at}</CreateTime><MsgType>text</MsgType><Content>{text}</Content>"
    "<MsgId>{number}</MsgId><AgentID>1000002</AgentID></xml>"
)


def run() -> list[dict[str, Any]]:
    """Nothing: too long for `make bench`; see `make soak`."""
    return []


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@dataclass
class House:
    """The processes of this soak; only these are ever killed."""

    var: Path
    env: dict[str, str]
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self, name: str, *command: str) -> None:
        with (self.var / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(
                command, cwd=ROOT, env=self.env, stdout=log, stderr=log, start_new_session=True
            )

    def kill(self, name: str, how: int = signal.SIGKILL) -> None:
        process = self.running.pop(name)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, how)
        process.wait()

    def stop(self) -> None:
        for name in list(self.running):
            self.kill(name)

    def redis(self) -> None:
        port = self.env["REDIS_URL"].rpartition(":")[2].partition("/")[0]
        options = ["--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", str(self.var)]
        self.start("redis", "redis-server", *options)

    def worker(self, number: int) -> None:
        celery = [sys.executable, "-m", "celery", "-q", "-A", "iit_manager", "worker"]
        options = ["--pool", "threads", "--concurrency", "6", "--without-gossip"]
        name = ["-n", f"w{number}@soak", "--without-mingle", "--loglevel", "error"]
        # The web answers first: WeCom waits five seconds, people wait longer.
        self.start(f"worker{number}", "nice", "-n", "10", *celery, *options, *name)

    def all(self) -> None:
        python, port, sim_port = sys.executable, self.env["PORT"], self.env["SIM_PORT"]
        self.redis()
        self.start("simulators", python, "-m", "simulators", "--port", sim_port)
        eventually(lambda: call(f"{self.env['SIM']}/_control/health"), "the stand-ins")
        manage = [python, "manage.py", "demo"]
        subprocess.run(manage, cwd=ROOT, env=self.env, check=True, stdout=subprocess.DEVNULL)
        web = ["gunicorn", "iit_manager.wsgi", "--worker-class", "gthread", "--workers", "2"]
        tuning = ["--threads", "8", "--keep-alive", "30", "--log-level", "error"]
        self.start("web", python, "-m", *web, *tuning, "--bind", f"127.0.0.1:{port}")
        beat = ["-m", "celery", "-q", "-A", "iit_manager", "beat", "--pidfile", ""]
        self.start("beat", python, *beat, "--loglevel", "error")
        for number in range(WORKERS):
            self.worker(number)
        eventually(lambda: call(f"{self.env['PUBLIC_URL']}/readyz"), "the house")


def call(url: str, body: Any = None) -> Any:
    raw = None if body is None else json.dumps(body).encode()
    with urlopen(Request(url, raw, {"Content-Type": "application/json"}), timeout=60) as answer:
        return json.loads(answer.read())


def eventually(condition: Any, what: str, seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while True:
        try:
            if condition():
                return
        except OSError:
            pass
        if time.monotonic() > end:
            raise SystemExit(f"soak: waited in vain for {what}")
        time.sleep(0.2)


def environment(url: str, var: Path) -> dict[str, str]:
    port, sim, redis = free_port(), free_port(), free_port()
    key = base64.b64encode(secrets.token_bytes(32)).decode()
    own = {
        "DATABASE_URL": url, "REDIS_URL": f"redis://127.0.0.1:{redis}/0", "VAR_DIR": str(var),
        "PORT": str(port), "SIM_PORT": str(sim), "DEBUG": "1", "SECRET_KEY": secrets.token_hex(32),
        "FIELD_ENCRYPTION_KEYS": key, "LOG_LEVEL": "ERROR", "SIM": f"http://127.0.0.1:{sim}",
        "PUBLIC_URL": f"http://127.0.0.1:{port}", "PYTHONWARNINGS": "ignore",
    }  # fmt: skip
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("WECOM_", "LLM_"))}
    return inherited | own


@dataclass
class Delivery:
    """One POST: when it is due (s from the start), whose, which message."""

    due: float
    user: str
    number: int
    path: str
    body: bytes


def deliveries() -> list[Delivery]:
    """All POSTs in the order of sending: repeated ones come up to 3 s later, then all are shuffled a little."""
    from django.conf import settings

    from integrations.wecom import Crypt

    chance = random.Random(7)
    crypt = Crypt(settings.WECOM_TOKEN, settings.WECOM_AES_KEY, settings.WECOM_CORP_ID)
    found: list[Delivery] = []
    fresh = int(RATE * (1 - REPEATED) * SECONDS)
    for number in range(fresh):
        user = f"soak{number % USERS:03d}"
        text = CLINICAL if number % REDCAP_EVERY == 0 else chance.choice(PLAIN)
        due = number / (RATE * (1 - REPEATED)) + chance.uniform(0, 1)
        plain = MESSAGE.format(
            corp=settings.WECOM_CORP_ID,
            user=user,
            at=int(time.time()),
            text=text,
            number=10**9 + number,
        )
        times = 2 if chance.random() < REPEATED / (1 - REPEATED) else 1
        for again in range(times):
            encrypted, stamp = crypt.encrypt(plain.encode()), str(int(time.time()))
            nonce = str(chance.randrange(10**10))
            signed = crypt.sign(stamp, nonce, encrypted)
            query = {"msg_signature": signed, "timestamp": stamp, "nonce": nonce}
            body = f"<xml><Encrypt><![CDATA[{encrypted}]]></Encrypt></xml>".encode()
            at = due + again * chance.uniform(0, 3)
            found.append(Delivery(at, user, number, f"/wechat/callback/?{urlencode(query)}", body))
    return sorted(found, key=lambda one: one.due)


@dataclass
class Load:
    """What the senders saw."""

    port: int
    waiting: queue.SimpleQueue[Delivery | None] = field(default_factory=queue.SimpleQueue)
    took: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    acknowledged: set[int] = field(default_factory=set)

    def send_all(self, rows: list[Delivery]) -> None:
        threads = [threading.Thread(target=self._sender) for _ in range(SENDERS)]
        for thread in threads:
            thread.start()
        start = time.monotonic()
        for row in rows:
            time.sleep(max(0.0, start + row.due - time.monotonic()))
            self.waiting.put(row)
        for _ in threads:
            self.waiting.put(None)
        for thread in threads:
            thread.join()

    def _sender(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        while row := self.waiting.get():
            begin = time.perf_counter()
            status = 0
            for _ in range(3):  # as WeCom: three deliveries in all
                try:
                    connection.request("POST", row.path, row.body, {"Content-Type": "text/xml"})
                    answer = connection.getresponse()
                    answer.read()
                    status = answer.status
                except (OSError, http.client.HTTPException):
                    connection.close()
                    continue
                if status == 200:
                    break
            self.took.append((time.perf_counter() - begin) * 1000)
            self.statuses[status] += 1
            if status == 200:
                self.acknowledged.add(row.number)
        connection.close()


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


def judge(load: Load, sent: list[dict[str, Any]]) -> dict[str, Any]:
    """Each accepted question against what the members of the stand-in received."""
    from wechat.models import InboxMessage, OutboxMessage

    arrived: defaultdict[str, list[str]] = defaultdict(list)
    for row in sent:
        if (
            row["to"].startswith("soak")
            and row["type"] in ("text", "markdown")
            and not row["dropped"]
        ):
            arrived[row["to"].lower()].append(row["msgid"])
    asked = InboxMessage.objects.filter(from_user__startswith="soak").order_by("pk")
    out = OutboxMessage.objects.filter(to_user__startswith="soak").order_by("pk")
    by_key = {row.key: row for row in out}
    once = never = 0
    order: defaultdict[str, list[int]] = defaultdict(list)
    for pk, user in asked.values_list("pk", "from_user"):
        answer = by_key.get(f"inbox:{pk}#1")
        times = arrived[user].count(answer.msgid) if answer and answer.msgid else 0
        once += times == 1
        never += times == 0
        if times:
            order[user].append(arrived[user].index(answer.msgid))
    doubled = Counter(row.to_user for row in out if row.possible_duplicate)
    sent_to = Counter(row.to_user for row in out)
    extra = {user: len(rows) - sent_to[user] for user, rows in arrived.items()}
    unexplained = sum(max(0, more - doubled[user]) for user, more in extra.items())
    return {
        "questions accepted": len(load.acknowledged),
        "questions stored": asked.count(),
        "answered exactly once": once,
        "never answered": never,
        "possible duplicates, marked (apart)": sum(doubled.values()),
        "of these arrived twice": sum(max(0, more) for more in extra.values()) - unexplained,
        "arrived twice without a mark": unexplained,
        "sends that were ambiguous": out.filter(is_ambiguous=True).count(),
        "members out of order": sum(rows != sorted(rows) for rows in order.values()),
    }


def members() -> None:
    from projects.models import Member, Project

    project = Project.objects.get()
    Member.objects.bulk_create(
        Member(project=project, wecom_userid=f"soak{number:03d}", role="PI", display_name="S")
        for number in range(USERS)
    )


def main() -> int:
    """Run, print, 0 when everything held."""
    if shutil.which("redis-server") is None:
        print("soak: not measured: no redis-server")
        return 2
    os.environ["DEBUG"] = "1"
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


def _soak(house: House) -> int:
    house.all()
    members()
    call(f"{house.env['SIM']}/_control/configure", {"wecom": {"users": []}})
    rows = deliveries()
    load, over, trouble = Load(int(house.env["PORT"])), threading.Event(), Counter[str]()
    shaking = threading.Thread(target=misbehave, args=(house, over, trouble))
    shaking.start()
    start = time.monotonic()
    try:
        load.send_all(rows)
        pushed_in = time.monotonic() - start
        drained = drain(len(load.acknowledged))
    finally:
        over.set()
        shaking.join()
    found = judge(load, call(f"{house.env['SIM']}/_control/sent"))
    took = sorted(load.took)
    p99, fresh = took[int(len(took) * 0.99)], len({row.number for row in rows})
    figures = {
        "callbacks": f"{len(rows)} in {pushed_in:.0f} s ({len(rows) / pushed_in:.0f}/s)",
        "of these repeated": len(rows) - fresh,
        "statuses": dict(load.statuses),
        "acknowledged p50 / p99 / max, ms": f"{took[len(took) // 2]:.1f} / {p99:.1f} / {took[-1]:.1f}",
        **trouble,
        **found,
        "drained after, s": round(drained, 1),
        "load average": " ".join(f"{one:.1f}" for one in os.getloadavg()),
    }
    held = {
        "every question answered exactly once": found["answered exactly once"]
        == found["questions stored"] == len(load.acknowledged) == fresh,
        "nothing arrived twice without a mark": not found["arrived twice without a mark"],
        "in order per member": not found["members out of order"],
        f"acknowledged p99 < {P99_MS:g} ms": p99 < P99_MS,
    }  # fmt: skip
    for name, value in figures.items():
        print(f"{name:37} {value}")
    for name, ok in held.items():
        print(f"{'held' if ok else 'NOT HELD':10} {name}")
    return 0 if all(held.values()) else 1


if __name__ == "__main__":
    sys.exit(main())

"""The load of `make soak`: prepared POSTs sent at their due times by a process of its own.

`python -m tests.bench._soak_load PORT PLAN RESULT`: PLAN is what `write` made, RESULT is JSON for `Seen`.
A small asyncio client over kept-alive sockets, so that what it costs is not taken from the server it measures.
"""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import random
import sys
import time
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

PLAIN = ("今天天气怎么样", "帮我写首诗", "讲个笑话")
CLINICAL = "P001 入组了吗?"
REPEATED, REDCAP_EVERY = 0.2, 50
SHUFFLED_S, AGAIN_S = 1.0, 3.0
WAIT_S, DELIVERIES = 5.0, 3  # as WeCom: five seconds, three deliveries in all
MESSAGE = (
    "<xml><ToUserName>{corp}</ToUserName><FromUserName>{user}</FromUserName>"
    "<CreateTime>{at}</CreateTime><MsgType>text</MsgType><Content>{text}</Content>"
    "<MsgId>{number}</MsgId><AgentID>1000002</AgentID></xml>"
)


@dataclass(frozen=True)
class Delivery:
    """One POST: when it is due (s from the start), which message, the bytes of the request."""

    due: float
    number: int
    request: bytes


def deliveries(
    env: Mapping[str, str],
    *,
    rate: int,
    users: int,
    seconds: int,
    clinical_every: int = REDCAP_EVERY,
) -> list[Delivery]:
    """All POSTs in the order of sending, encrypted before the clock starts.

    A fifth are repeated deliveries, up to 3 s later with a nonce of their own; all are shuffled a little.
    """
    from core.integrations.wecom import Crypt

    chance = random.Random(7)
    crypt = Crypt(env["WECOM_TOKEN"], env["WECOM_AES_KEY"], env["WECOM_CORP_ID"])
    fresh_rate = rate * (1 - REPEATED)
    found: list[Delivery] = []
    for number in range(int(fresh_rate * seconds)):
        plain = MESSAGE.format(
            corp=env["WECOM_CORP_ID"],
            user=f"soak{number % users:03d}",
            at=int(time.time()),
            text=CLINICAL if number % clinical_every == 0 else chance.choice(PLAIN),
            number=10**9 + number,
        ).encode()
        due = number / fresh_rate + chance.uniform(0, SHUFFLED_S)
        times = 2 if chance.random() < REPEATED / (1 - REPEATED) else 1
        for again in range(times):
            nonce = str(chance.randrange(10**10))
            at = due + again * chance.uniform(0, AGAIN_S)
            found.append(Delivery(at, number, _request(crypt, plain, nonce)))
    return sorted(found, key=lambda one: one.due)


def _request(crypt: Any, plain: bytes, nonce: str) -> bytes:
    encrypted, stamp = crypt.encrypt(plain), str(int(time.time()))
    signed = crypt.sign(stamp, nonce, encrypted)
    query = urlencode({"msg_signature": signed, "timestamp": stamp, "nonce": nonce})
    body = f"<xml><Encrypt><![CDATA[{encrypted}]]></Encrypt></xml>".encode()
    head = (
        f"POST /wechat/callback/?{query} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Content-Type: text/xml\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def write(path: Path, rows: list[Delivery]) -> None:
    """The plan for the sending process."""
    path.write_bytes(pickle.dumps([(row.due, row.number, row.request) for row in rows]))


@dataclass
class Seen:
    """What the sender saw: ms to each acknowledgement, statuses (0: none), which messages got their 200.

    `took` is counted from the sending, `from_due` from when it was due: their difference is the sender's own.
    """

    took: list[float] = field(default_factory=list)
    from_due: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    acknowledged: set[int] = field(default_factory=set)
    repeated_by_us: int = 0
    cpu_s: float = 0.0

    @classmethod
    def read(cls, path: Path) -> Seen:
        found = json.loads(path.read_text())
        return cls(
            took=sorted(found["took"]),
            from_due=sorted(found["from_due"]),
            statuses=Counter({int(k): v for k, v in found["statuses"].items()}),
            acknowledged=set(found["acknowledged"]),
            repeated_by_us=found["repeated_by_us"],
            cpu_s=found["cpu_s"],
        )


Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Sender:
    """Each POST starts at its due time on a connection that is free, or on a new one."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._free: deque[Streams] = deque()
        self.seen = Seen()

    async def run(self, plan: list[tuple[float, int, bytes]]) -> None:
        start = time.perf_counter()
        running = set()
        for due, number, request in plan:
            if (early := start + due - time.perf_counter()) > 0:
                await asyncio.sleep(early)
            task = asyncio.create_task(self._deliver(start + due, number, request))
            running.add(task)
            task.add_done_callback(running.discard)
        await asyncio.gather(*running)

    async def _deliver(self, due: float, number: int, request: bytes) -> None:
        begin = time.perf_counter()
        status = 0
        for again in range(DELIVERIES):
            self.seen.repeated_by_us += again > 0
            try:
                status = await asyncio.wait_for(self._post(request), WAIT_S)
            except (OSError, EOFError, TimeoutError):
                continue
            if status == 200:
                self.seen.acknowledged.add(number)
                break
        end = time.perf_counter()
        self.seen.took.append((end - begin) * 1000)
        self.seen.from_due.append((end - due) * 1000)
        self.seen.statuses[status] += 1

    async def _post(self, request: bytes) -> int:
        streams = self._free.popleft() if self._free else await self._connect()
        reader, writer = streams
        try:
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            lines = head.decode("latin-1").lower().split("\r\n")
            length = next(int(line[15:]) for line in lines if line.startswith("content-length:"))
            await reader.readexactly(length)
        except BaseException:
            writer.close()
            raise
        self._free.append(streams)  # the longest unused goes first: the server's processes share
        return int(lines[0].split()[1])

    async def _connect(self) -> Streams:
        return await asyncio.open_connection("127.0.0.1", self._port)


def main() -> None:
    port, plan, result = int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
    sender = Sender(port)
    asyncio.run(sender.run(pickle.loads(plan.read_bytes())))
    used = os.times()
    seen = {
        "took": sender.seen.took,
        "from_due": sender.seen.from_due,
        "statuses": sender.seen.statuses,
        "acknowledged": sorted(sender.seen.acknowledged),
        "repeated_by_us": sender.seen.repeated_by_us,
        "cpu_s": used.user + used.system,
    }
    result.write_text(json.dumps(seen))


if __name__ == "__main__":
    main()

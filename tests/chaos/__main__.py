"""`make chaos`: faults at random while people work (part O, 8); CHAOS_S=120, CHAOS_SEED repeats their order.

A house of its own on PostgreSQL and Redis of its own. Loopback only. 0 when nothing is lost, doubled or wrongly
clean, the audit trail is whole, no lease is held and the queues are empty.
"""

from __future__ import annotations

import os
import secrets
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from tests.bench._soak_house import call, eventually
from tests.bench._soak_load import Seen, deliveries, write
from tests.chaos import _judge
from tests.chaos._faults import Faults
from tests.chaos._house import RESTART_S, Chaos, binaries
from tests.chaos._work import Work

SECONDS = int(os.environ.get("CHAOS_S") or 120)
SEED = int(os.environ.get("CHAOS_SEED") or secrets.randbelow(10**6))
DRAIN_S = int(os.environ.get("CHAOS_DRAIN_S") or 300)
RATE, USERS, CLINICAL_EVERY = 5, 40, 4


def main() -> int:
    """Run, print one table."""
    if (folder := binaries()) is None:
        print("chaos: NOT RUN: no PostgreSQL or no Redis on this machine")
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that our processes end with us
    print(f"chaos: {SECONDS} s, seed {SEED}", flush=True)
    with tempfile.TemporaryDirectory(prefix="chaos") as var:
        house, over = Chaos.made(Path(var), folder), threading.Event()
        watch = threading.Thread(target=_supervise, args=(house, over), name="supervisor")
        try:
            _set_up(house)
            watch.start()
            return _report(*_run(house))
        finally:
            over.set()
            if watch.ident:
                watch.join()
            house.stop()


def _supervise(house: Chaos, over: threading.Event) -> None:
    while not over.wait(RESTART_S):
        house.restart_ended()


def _set_up(house: Chaos) -> None:
    os.environ |= house.env | {"DJANGO_SETTINGS_MODULE": "iit_manager.settings"}
    house.postgres()
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    call_command("createcachetable", verbosity=0)
    house.all()
    _poll()
    eventually(_was_read, "the first reading of the study")  # what is changed later is a change
    _members()
    call(f"{house.env['SIM']}/_control/configure", {"wecom": {"users": []}})


def _was_read() -> bool:
    from study.models import ReadingState

    return ReadingState.objects.filter(read_at__isnull=False).exists()


def _members() -> None:
    from projects.models import Member, Project, Role

    project = Project.objects.get()
    for number in range(USERS):
        name = f"soak{number:03d}"
        Member.objects.create(project=project, wecom_userid=name, role=Role.PI, display_name=name)


def _run(house: Chaos) -> tuple[Faults, dict[str, Any], float]:
    rows = deliveries(
        house.env, rate=RATE, users=USERS, seconds=SECONDS, clinical_every=CLINICAL_EVERY
    )
    plan, result = house.var / "plan", house.var / "seen.json"
    write(plan, rows)
    faults, work = Faults(house, SEED), Work(house, SEED)
    begun = time.monotonic()
    sender = [sys.executable, "-m", "tests.bench._soak_load", house.env["PORT"]]
    load = house.start("load", *sender, str(plan), str(result))
    faults.start(), work.start()
    try:
        load.wait(SECONDS + 60)
        work.over.wait(max(0.0, begun + SECONDS - time.monotonic()))
    finally:  # also where we are ended: else they go on, and start again what was stopped
        work.over.set(), faults.over.set()
        work.join(), faults.join()
    if faults.broken:
        raise faults.broken
    _poll()
    drained_s = _judge.drain(DRAIN_S)
    sent = call(f"{house.env['SIM']}/_control/sent")
    return faults, _judge.verdict(house, Seen.read(result), sent, work), drained_s


def _poll() -> None:
    """Beat's next look at REDCap, now: a trigger that came while nobody listened is found by it."""
    from django.db import connections

    from iit_manager.celery import app

    connections.close_all()
    app.send_task("study.tasks.read_studies")


def _report(faults: Faults, found: dict[str, Any], drained_s: float) -> int:
    counted = faults.done + faults.house.restarted
    rows = [(name, str(count)) for name, count in sorted(counted.items())]
    rows += [(name, str(value)) for name, value in found["told"].items()]
    rows += [("drained after, s", f"{drained_s:.0f}")]
    rows += [(f"must be 0: {name}", str(value)) for name, value in found["zero"].items()]
    width = max(len(name) for name, _value in rows)
    for name, value in rows:
        print(f"{name:{width}} | {value}")
    held = not any(found["zero"].values())
    print("chaos: held" if held else f"chaos: NOT HELD (CHAOS_SEED={SEED})")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())

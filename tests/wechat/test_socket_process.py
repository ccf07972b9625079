"""`manage.py wecom_socket`: two processes, one connection; stopped and killed (issue 27, O.2)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.kit import until
from tests.support.stand_ins import StandIns
from tests.wechat.link_kit import BOT, SECRET, link

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]


class Processes:
    """Of one house, with a database of its own."""

    def __init__(self, var: Path, port: int) -> None:
        outside = {name: os.environ[name] for name in ("PATH",)}
        self.env = outside | {
            "VAR_DIR": str(var),
            "HOME": str(var),
            "DEBUG": "1",
            "SIM_PORT": str(port),
            "WECOM_AIBOT_ID": BOT,
            "WECOM_AIBOT_SECRET": SECRET,
        }
        self.running: list[subprocess.Popen[bytes]] = []

    def call(self, *arguments: str) -> None:
        command = [sys.executable, "manage.py", *arguments]
        subprocess.run(command, cwd=ROOT, env=self.env, check=True, capture_output=True)

    def start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "manage.py", "wecom_socket"]
        self.running.append(
            subprocess.Popen(command, cwd=ROOT, env=self.env, stderr=subprocess.DEVNULL)
        )
        return self.running[-1]


@pytest.fixture
def processes(tmp_path: Path, stand_ins: StandIns) -> Iterator[Processes]:
    made = Processes(tmp_path, stand_ins.port)
    made.call("migrate", "--verbosity", "0")
    yield made
    for one in made.running:
        one.kill()
        one.wait()


def test_one_holds_it_another_takes_over(processes: Processes, stand_ins: StandIns) -> None:
    def subscriptions(number: int) -> bool:
        found = link(stand_ins)
        return bool(found["subscribed"]) and found["subscriptions"] == number

    first = processes.start()
    until(lambda: subscriptions(1), limit_s=120)
    second = processes.start()
    first.send_signal(signal.SIGTERM)
    assert first.wait(60) == 0
    until(lambda: subscriptions(2), limit_s=120)
    third = processes.start()
    second.kill()
    until(lambda: subscriptions(3), limit_s=180)
    third.send_signal(signal.SIGTERM)
    assert third.wait(60) == 0
    assert link(stand_ins)["refused"] == []

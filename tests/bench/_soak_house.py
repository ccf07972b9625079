"""The processes of `make soak`: started, killed, and what CPU time each of them took."""

from __future__ import annotations

import base64
import json
import os
import secrets
import signal
import string
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from demo.own_house import free_port

ROOT = Path(__file__).resolve().parents[2]
WORKERS = 3
_TICKS = os.sysconf("SC_CLK_TCK")


def environment(url: str, var: Path) -> dict[str, str]:
    """As in production: no DEBUG, secrets of our own, which the stand-ins share."""
    port, sim, redis = free_port(), free_port(), free_port()
    stand_ins = f"http://127.0.0.1:{sim}"
    own = {
        "DATABASE_URL": url, "REDIS_URL": f"redis://127.0.0.1:{redis}/0", "VAR_DIR": str(var),
        "PORT": str(port), "SIM_PORT": str(sim), "SIM": stand_ins, "DEBUG": "0", "LOG_LEVEL": "ERROR",
        "SECRET_KEY": secrets.token_hex(32), "PYTHONWARNINGS": "ignore", "ALLOWED_HOSTS": "127.0.0.1",
        "PRIVATE_HTTP_HOSTS": "127.0.0.1",
        "FIELD_ENCRYPTION_KEYS": base64.b64encode(secrets.token_bytes(32)).decode(),
        "PUBLIC_URL": f"http://127.0.0.1:{port}", "WECOM_API_BASE": f"{stand_ins}/wecom/cgi-bin",
        "WECOM_CORP_ID": f"ww{secrets.token_hex(8)}", "WECOM_AGENT_ID": "1000002",
        "WECOM_SECRET": _word(40), "WECOM_TOKEN": _word(24), "WECOM_AES_KEY": _word(43),
        "LLM_PRESET": "local", "LLM_BASE_URL": f"{stand_ins}/llm/v1", "LLM_API_KEY": _word(20),
    }  # fmt: skip
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("WECOM_", "LLM_"))}
    return inherited | own


def _word(length: int) -> str:
    return "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(length))


@dataclass
class House:
    """The processes of this soak; only these are ever killed."""

    var: Path
    env: dict[str, str]
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    ended: Counter[str] = field(default_factory=Counter)
    """CPU seconds of processes that are gone, by kind (`worker2` is of the kind `worker`)."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self, name: str, *command: str) -> subprocess.Popen[bytes]:
        with (self.var / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                command, cwd=ROOT, env=self.env, stdout=log, stderr=log, start_new_session=True
            )
        with self._lock:
            self.running[name] = process
        return process

    def kill(self, name: str, how: int = signal.SIGKILL) -> None:
        with self._lock:
            process = self.running.pop(name)
            self.ended[kind(name)] += cpu_of_session(process.pid)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, how)
        process.wait()

    def stop(self) -> None:
        for name in list(self.running):
            self.kill(name)

    def cpu(self) -> Counter[str]:
        """CPU seconds so far by kind, and of PostgreSQL's processes for our database."""
        with self._lock:
            used = Counter(self.ended)
            for name, process in self.running.items():
                used[kind(name)] += cpu_of_session(process.pid)
        used["postgres"] = cpu_of_database(self.env["DATABASE_URL"].rpartition("/")[2])
        return used

    def redis(self) -> None:
        port = self.env["REDIS_URL"].rpartition(":")[2].partition("/")[0]
        options = ["--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", str(self.var)]
        self.start("redis", "redis-server", *options)

    def worker(self, number: int) -> None:
        celery = [sys.executable, "-m", "celery", "-q", "-A", "iit_manager", "worker"]
        options = ["--pool", "threads", "--concurrency", "6", "--without-gossip"]
        name = ["-n", f"w{number}@soak", "--without-mingle", "--loglevel", "error"]
        self.start(f"worker{number}", *celery, *options, *name)

    def all(self) -> None:
        python, port, sim_port = sys.executable, self.env["PORT"], self.env["SIM_PORT"]
        self.redis()
        self.start("simulators", python, "-m", "simulators", "--port", sim_port)
        eventually(lambda: call(f"{self.env['SIM']}/_control/health"), "the stand-ins")
        manage = [python, "manage.py", "demo"]
        seeding = {**self.env, "DEBUG": "1"}  # the demo study exists only so
        subprocess.run(manage, cwd=ROOT, env=seeding, check=True, stdout=subprocess.DEVNULL)
        collect = [python, "manage.py", "collectstatic", "--noinput"]
        subprocess.run(collect, cwd=ROOT, env=self.env, check=True, stdout=subprocess.DEVNULL)
        web = ["gunicorn", "iit_manager.wsgi", "--worker-class", "gthread", "--workers", "2"]
        tuning = ["--threads", "8", "--keep-alive", "30", "--log-level", "error"]
        self.start("web", python, "-m", *web, *tuning, "--bind", f"127.0.0.1:{port}")
        beat = ["-m", "celery", "-q", "-A", "iit_manager", "beat", "--pidfile", ""]
        self.start("beat", python, *beat, "--loglevel", "error")
        for number in range(WORKERS):
            self.worker(number)
        eventually(lambda: call(f"{self.env['PUBLIC_URL']}/readyz"), "the house")


def kind(name: str) -> str:
    return name.rstrip("0123456789")


def cpu_of_session(leader: int) -> float:
    """CPU seconds of the processes that `leader` started and of itself."""
    found = (_stat(path) for path in Path("/proc").glob("[0-9]*"))
    return sum(row[1] for row in found if row and row[0] == leader)


def cpu_of_database(name: str) -> float:
    """CPU seconds of PostgreSQL's processes that serve `name`; those that have ended are not known."""
    total = 0.0
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            line = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if line.startswith("postgres:") and f" {name} " in line and (row := _stat(path)):
                total += row[1]
    return total


def _stat(path: Path) -> tuple[int, float] | None:
    """Session and CPU seconds of a process; None when it is gone."""
    try:
        parts = (path / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return int(parts[3]), sum(map(int, parts[11:15])) / _TICKS


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

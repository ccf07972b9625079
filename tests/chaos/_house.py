"""The house of `make chaos`: that of `make soak` with a PostgreSQL of its own, which may be stopped too."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

import psycopg

from demo.own_house import free_port
from tests.bench._soak_house import ROOT, WORKERS, House, environment, eventually, kind

RESTART_S = 5.0
"""As RestartSec in deploy/systemd."""
AHEAD = Path(__file__).parent / "ahead"
FULL_BYTES = 1024**2
"""No file grows beyond it while the disk is "full". A segment of the write-ahead log is as large: with less,
PostgreSQL would not refuse a write but end."""


def binaries() -> Path | None:
    """The folder of PostgreSQL's programs; None without them or without a Redis."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name))
    known = shutil.which("initdb")
    folder = found[-1] if found else Path(known).resolve().parent if known else None
    return (
        folder if folder and (folder / "initdb").exists() and shutil.which("redis-server") else None
    )


def unprivileged(*command: str) -> list[str]:
    """PostgreSQL refuses to run as root; whoever it runs as may not enter our folder."""
    drop = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--"]
    words = [*(drop if os.getuid() == 0 else []), *command]
    return ["sh", "-c", 'cd / && exec "$@"', "sh", *words]


@dataclass
class Chaos(House):
    """Each process can be lost, and comes again."""

    bin: Path = Path()
    data: Path = Path()
    changing: threading.RLock = field(default_factory=threading.RLock)
    """Held while processes end and start on purpose, so that only what ended by itself is started again."""
    restarted: Counter[str] = field(default_factory=Counter)

    @classmethod
    def made(cls, var: Path, folder: Path) -> Chaos:
        """With an empty PostgreSQL that is not started yet."""
        data = Path(mkdtemp(prefix="chaos-pg"))
        if os.getuid() == 0:
            shutil.chown(data, "nobody", "nogroup")
        init = ["-D", str(data / "data"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "-N"]
        command = unprivileged(str(folder / "initdb"), *init, "--wal-segsize=1")
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        url = f"postgresql://postgres@127.0.0.1:{free_port()}/postgres"
        env = environment(url, var) | {"TRUSTED_PROXIES": "127.0.0.1", "WORKER_NICE": "0"}
        return cls(var, env, bin=folder, data=data)

    def postgres(self) -> None:
        """Start it, after a crash with recovery, and wait until it answers."""
        port = self.env["DATABASE_URL"].rpartition(":")[2].partition("/")[0]
        options = ["-p", port, "-k", str(self.data), "-c", "listen_addresses=127.0.0.1"]
        command = [str(self.bin / "postgres"), "-D", str(self.data / "data"), *options]
        self.start("postgres", *unprivileged(*command))
        eventually(self._answers, "PostgreSQL")

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.env["DATABASE_URL"], connect_timeout=2).close()
        except psycopg.Error:
            return False
        return True

    def restart_ended(self) -> None:
        """Start again what ended by itself, as Restart=always does: a worker may end when its broker goes."""
        again: dict[str, Callable[[], None]] = {"web": self.web, "beat": self.beat}
        again |= {f"worker{number}": partial(self.worker, number) for number in range(WORKERS)}
        with self.changing:
            for name in again.keys() & self.running.keys():
                if self.running[name].poll() is not None:
                    self.restarted[f"{kind(name)} ended by itself"] += 1
                    self.kill(name)  # what it has left behind
                    again[name]()

    def worker(self, number: int, ahead_s: int = 0) -> None:
        """As `make soak` starts it; with a clock that is `ahead_s` seconds off."""
        env = self.env
        if ahead_s:
            self.env = env | {"PYTHONPATH": str(AHEAD), "CHAOS_AHEAD_S": str(ahead_s)}
        try:
            super().worker(number)
        finally:
            self.env = env

    def web(self) -> None:
        command = ["gunicorn", "iit_manager.wsgi", "--worker-class", "gthread", "--workers", "2"]
        tuning = ["--threads", "8", "--keep-alive", "30", "--log-level", "error"]
        bind = ["--bind", f"127.0.0.1:{self.env['PORT']}"]
        self.start("web", sys.executable, "-m", *command, *tuning, *bind)

    def beat(self) -> None:
        command = ["-m", "celery", "-q", "-A", "iit_manager", "beat", "--pidfile", ""]
        self.start("beat", sys.executable, *command, "--loglevel", "error")

    def fill_disk(self, is_full: bool) -> None:
        """Stands in for a full disk, which takes a mount: no process writes beyond FULL_BYTES of a file."""
        most = str(FULL_BYTES) if is_full else "unlimited"
        with self.changing:
            trees = {name: descendants(one.pid) for name, one in self.running.items()}
        for name, pids in trees.items():
            for pid in pids:
                command = ["prlimit", "--pid", str(pid), f"--fsize={most}:unlimited"]
                # Root may not where PostgreSQL runs as somebody else, who may. Gone ones are no matter.
                allowed = unprivileged(*command) if name == "postgres" else command
                subprocess.run(allowed, check=False, stderr=subprocess.DEVNULL)

    def stop(self) -> None:
        if "postgres" in self.running:
            self.kill("postgres", signal.SIGQUIT)  # a killed one leaves its processes behind
        super().stop()
        shutil.rmtree(self.data, ignore_errors=True)


def descendants(pid: int) -> list[int]:
    """The process, and whatever it started."""
    parents: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((path / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        parents.setdefault(parent, []).append(int(path.name))
    found = [pid]
    for one in found:
        found += parents.get(one, [])
    return found


__all__ = ["ROOT", "WORKERS", "Chaos", "binaries"]

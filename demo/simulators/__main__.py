"""`python -m simulators --port 9000`: all stand-ins in one process on 127.0.0.1."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path
from types import FrameType

from demo.simulators.registry import build_services
from demo.simulators.server import serve
from demo.simulators.state import State

DEMO_STUDY = Path(__file__).resolve().parents[1] / "study"


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m simulators", description=__doc__)
    parser.add_argument("--port", type=int, default=int(os.environ.get("SIM_PORT") or 9000))
    parser.add_argument("--study", type=Path, default=DEMO_STUDY, help="directory of the study")
    return parser.parse_args(argv)


def _end(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


def main(argv: list[str] | None = None) -> int:
    """Serve until SIGTERM or Ctrl-C. Returns 1 when the port is taken."""
    arguments = _arguments(argv)
    for signum in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signum, _end)
    state = State(os.environ.get("SIM_HOUSE_TOKEN", ""))
    try:
        serve(state, build_services(state, arguments.study), arguments.port)
    except OSError as error:
        print(
            f"simulators: cannot listen on port {arguments.port}: {error.strerror}", file=sys.stderr
        )
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""`make fuzz SECONDS=300`: every harness for that long, one after the other; 1 when one found something."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from tests.fuzz.harness import ROOT

HERE = Path(__file__).parent


def main(seconds: str) -> int:
    """Run the harnesses and print what each did."""
    if find_spec("atheris") is None:
        print("NOT RUN: atheris is not installed (it comes with the environment of `make bench`)")
        return 0
    results = [_run(path.stem, seconds) for path in sorted(HERE.glob("fuzz_*.py"))]
    return 0 if all(results) else 1


def _run(name: str, seconds: str) -> bool:
    log = ROOT / "var" / "fuzz" / f"{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "FUZZ_SECONDS": seconds}
    with log.open("w") as out:
        command = [sys.executable, "-m", f"tests.fuzz.{name}"]
        # the names are those of our own files
        code = subprocess.call(command, stdout=out, stderr=out, env=environment, cwd=ROOT)
    done = re.findall(r"number_of_executed_units: (\d+)", log.read_text(errors="replace"))
    said = "nothing found" if code == 0 else f"FOUND something, see {log.relative_to(ROOT)}"
    print(f"{name}: {int(done[-1]) if done else 0:,} executions, {said}", flush=True)
    return code == 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:] or ["300"]))

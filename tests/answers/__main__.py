"""`make answers`: chat cases and scripted model answers through a house of its own.

The house is seeded for 2026-11-23 and its clock is set to that day. The chat cases are asked with the stand-in
model and with a silent one; true and false model answers are said word for word. Exit 1 when a gate fails
(design.md 8).
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from tests.answers.house import opened
from tests.answers.play import load
from tests.answers.reports import Gate, report_chat, report_model

HERE = Path(__file__).parent
CHAT = "chat_public.jsonl"
OWN = "answers_own.jsonl"
MODEL = {
    "answers_public.jsonl": Gate(true=0.95, lies=0.0),
    OWN: Gate(true=0.92, lies=0.02),
}
"""Files of model answers, each with the share of truths that must and of lies that may be delivered."""
OTHERS = Gate(true=0.92, lies=0.02)
STRIDE = "ANSWERS_STRIDE"
"""Every n-th of our own answers only, where the time is short (CI)."""


def main(*names: str) -> int:
    """Play the case files (default: the chat cases) and print what came of it."""
    files = [Path(name) for name in names] or [HERE / CHAT]
    passed = []
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder)) as house:
        for file in files:
            cases = load(file)
            if "say" in cases[0]:
                gate = MODEL.get(file.name, OTHERS)
                stride = int(os.environ.get(STRIDE) or 1) if file.name == OWN else 1
                passed.append(report_model(house, cases[::stride], file.name, gate))
                continue
            for title, silent in (("with the stand-in model", False), ("with a silent one", True)):
                passed.append(report_chat(house, cases, title, silent=silent))
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

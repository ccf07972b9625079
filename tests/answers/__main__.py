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
from tests.answers.reports import Gate, Listed, report_chat, report_model

HERE = Path(__file__).parent
CHAT = "chat_public.jsonl"
MODEL = {
    "answers_public.jsonl": Listed(Gate(true=0.95, lies=0.0)),
    "answers_fresh.jsonl": Listed(Gate(true=0.92, lies=0.02), Gate(true=0.82, lies=0.02)),
    "answers_blind.jsonl": Listed(Gate(true=0.92, lies=0.02), Gate(true=0.66, lies=0.03)),
    "answers_cite.jsonl": Listed(Gate(true=0.92, lies=0.02), Gate(true=0.56, lies=0.02)),
    "answers_own.jsonl": Listed(Gate(true=0.92, lies=0.02), Gate(true=0.75, lies=0.02), stride=10),
}
"""Files of model answers: what is required of each, what holds today and fails where it is lost.

At their first playing, never seen before, 38 % of the fresh true answers and 7 % of the lies went out; since
then the rules have been mended with them at hand. The blind list was written from the sheets alone, before the
verifier was looked at: at its first playing 33 of 84 true answers (39 %) and 3 of 83 lies (4 %) went out; of
the true ones in English, of memory and of the project none, of the protocol 3 of 10.

The list "cite" was written from the sheets in two parts: of the first (c1), before the verifier was looked at,
13 of 60 true answers (22 %) and 8 of 69 lies (12 %) went out; of the second (c2), played once after the rules
had been mended, 19 of 29 (66 %) and 4 of 34 (12 %). The rules as they were let out 14 and 3 of these.
"""
OTHERS = Listed(Gate(true=0.92, lies=0.02))
STRIDE = "ANSWERS_STRIDE"
"""Every n-th answer only, whatever the list says: 1 for all of them."""


def main(*names: str) -> int:
    """Play the case files (default: all of them) and print what came of it."""
    files = [Path(name) for name in names] or [HERE / name for name in (CHAT, *MODEL)]
    passed = []
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder)) as house:
        for file in files:
            cases = load(file)
            if "say" in cases[0]:
                listed = MODEL.get(file.name, OTHERS)
                stride = int(os.environ.get(STRIDE) or (1 if names else listed.stride))
                passed.append(report_model(house, cases[::stride], file.name, listed))
                continue
            for title, silent in (("with the stand-in model", False), ("with a silent one", True)):
                passed.append(report_chat(house, cases, title, silent=silent))
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

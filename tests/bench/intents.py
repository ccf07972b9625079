"""Latency of the offline intent detector: p99 per message in milliseconds."""

import json
import time
from pathlib import Path

from engines.assistant.read.offline import detect

ROOT = Path(__file__).resolve().parents[2]
FILES = (
    ROOT.parent / "shared/reference/intents_public.jsonl",
    ROOT.parent / "shared/reference/intents_public2.jsonl",
    *sorted((ROOT / "tests/engines/intents").glob("*.jsonl")),
)
GOAL_MS = 3.0
ROUNDS = 20


def run() -> list[dict]:
    """Return one row: ours = p99 over all messages, each taken at the median of its rounds."""
    texts = [json.loads(line)["text"] for path in FILES if path.exists() for line in path.open()]
    detect("预热")
    medians = sorted(sorted(_timed(text) for _ in range(ROUNDS))[ROUNDS // 2] for text in texts)
    p99 = medians[int(len(medians) * 0.99)] * 1000
    return [
        {
            "name": f"intents: p99 of {len(texts)} messages, ms",
            "ours": round(p99, 3),
            "peer": "-",
            "ratio": "-",
            "goal": f"< {GOAL_MS:g} ms",
            "met": p99 < GOAL_MS,
        }
    ]


def _timed(text: str) -> float:
    start = time.perf_counter()
    detect(text)
    return time.perf_counter() - start

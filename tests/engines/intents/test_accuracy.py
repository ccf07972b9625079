"""Accuracy on the public messages and on our own held-out ones."""

import json
from pathlib import Path

import pytest

from engines.intents import detect

HERE = Path(__file__).parent
PUBLIC = HERE.parents[2] / "../shared/reference/intents_public.jsonl"
MIN_INTENTS, MIN_IDS = 0.95, 0.98


def _rows(path: Path) -> list[dict]:
    if not path.exists():
        pytest.skip(f"NOT RUN: {path.name} is not there")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    "path", [PUBLIC, *sorted(HERE.glob("held_out*.jsonl"))], ids=lambda path: path.stem
)
def test_accuracy(path: Path) -> None:
    rows = _rows(path)
    answers = [detect(row["text"]) for row in rows]
    pairs = list(zip(rows, answers, strict=True))
    wrong = [(r["text"], r["intents"], a.intents) for r, a in pairs if a.intents != r["intents"]]
    wrong_ids = [
        (r["text"], r["record_ids"], a.record_ids)
        for r, a in pairs
        if a.record_ids != r["record_ids"]
    ]
    assert 1 - len(wrong) / len(rows) >= MIN_INTENTS, wrong
    assert 1 - len(wrong_ids) / len(rows) >= MIN_IDS, wrong_ids


def test_there_are_enough_held_out_messages() -> None:
    assert len(_rows(HERE / "held_out.jsonl")) >= 150

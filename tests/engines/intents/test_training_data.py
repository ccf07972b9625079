"""The training texts are our own, and the shipped model is what they give."""

import json
import re
import unicodedata
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from engines.assistant.intents import Intent, model, train

HERE = Path(__file__).parent
PUBLIC = HERE.parents[2] / "../shared/reference/intents_public.jsonl"
MAX_JACCARD = 0.42
MAX_CONTAINED = 0.6
ENOUGH_BIGRAMS = 5
MAX_BYTES = 3_000_000


def _texts() -> list[str]:
    return [row["text"] for row in train.rows()]


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).lower()
    text = re.sub(r"(?<![a-z])[a-z]{1,2}(?:-?\d+)+", "p", text)
    return re.sub(r"[\W_]+", "", re.sub(r"\d+", "0", text))


@cache
def _bigrams(text: str) -> frozenset[str]:
    plain = _plain(text)
    return frozenset(plain[i : i + 2] for i in range(len(plain) - 1))


def _load(path: Path) -> list[str]:
    if not path.exists():
        pytest.skip(f"NOT RUN: {path.name} is not there")
    return [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]


def _too_close(public: str, text: str) -> bool:
    theirs, ours = _bigrams(public), _bigrams(text)
    if not theirs or not ours:
        return public == text
    shared = len(theirs & ours)
    contained = len(theirs) >= ENOUGH_BIGRAMS and shared / len(theirs) >= MAX_CONTAINED
    return contained or shared / len(theirs | ours) >= MAX_JACCARD


def test_no_public_message_is_in_the_training_data() -> None:
    public = _load(PUBLIC)
    close = [(p, text) for text in _texts() for p in public if _too_close(p, text)]
    assert close == []


def test_the_measure_finds_a_rewording() -> None:
    assert _too_close("帮我生成本周的周报", "帮我生成这周的周报")


def test_no_held_out_message_is_in_the_training_data() -> None:
    seen = {_plain(text) for text in _texts()}
    held = [text for path in HERE.glob("*.jsonl") for text in _load(path)]
    assert [text for text in held if _plain(text) in seen and len(_plain(text)) > 4] == []


def test_every_intent_has_enough_examples() -> None:
    rows = train.rows()
    single = Counter(row["intents"][0] for row in rows if len(row["intents"]) == 1)
    assert all(single[intent] >= 120 for intent in Intent)
    assert sum(len(row["intents"]) > 1 for row in rows) >= 200


def test_parts_spell_their_message() -> None:
    rows = [row for row in train.rows() if "parts" in row]
    assert all("".join(text for text, _ in row["parts"]) == row["text"] for row in rows)


def test_labels_are_intents() -> None:
    known = {*Intent, model.NONE, train.SKIPPED}
    rows = train.rows()
    labels = {x for row in rows for x in row["intents"]}
    parts = {label for row in rows for _, label in row.get("parts", [])}
    assert labels <= set(Intent)
    assert parts <= known


def test_the_shipped_model_is_what_the_data_give() -> None:
    shipped = json.loads(model.PATH.read_text(encoding="utf-8"))
    assert model.PATH.stat().st_size <= MAX_BYTES
    assert shipped["data_hash"] == train.data_hash()
    fitted = train.fit(train.examples(train.rows()))
    assert fitted["classes"] == shipped["classes"]
    assert fitted["rows"].keys() == shipped["rows"].keys()
    far = [
        gram
        for gram, row in fitted["rows"].items()
        if max(abs(a - b) for a, b in zip(row, shipped["rows"][gram], strict=True)) > 2
    ]
    assert far == []

"""The trained classifier: TF-IDF and logistic regression as plain JSON (agents_memory.md 4.1)."""

import json
import math
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from engines.assistant.intents.features import ngrams

Odds = Callable[[str], tuple[dict[str, float], float]]
PATH = Path(__file__).with_name("model.json")
NONE = "none"


class Model:
    """Weights are integers: idf times `scale`, and idf times weight times `scale`."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.classes: list[str] = data["classes"]
        self.scale: int = data["scale"]
        self.bias: list[float] = [b / self.scale for b in data["bias"]]
        self.rows: dict[str, list[int]] = data["rows"]

    def odds(self, stripped: str) -> tuple[dict[str, float], float]:
        """Return the probability of each class for a stripped text, and the share of it that is known."""
        grams = ngrams(stripped)
        rows = [row for gram in grams if (row := self.rows.get(gram))]
        if not rows:
            return dict(zip(self.classes, _softmax(self.bias), strict=True)), 0.0
        length = math.sqrt(sum(row[0] * row[0] for row in rows))
        sums = [sum(column) for column in zip(*rows, strict=True)]
        scores = _softmax([b + s / length for b, s in zip(self.bias, sums[1:], strict=True)])
        return dict(zip(self.classes, scores, strict=True)), len(rows) / len(grams)


def _softmax(scores: list[float]) -> list[float]:
    top = max(scores)
    exps = [math.exp(s - top) for s in scores]
    total = sum(exps)
    return [e / total for e in exps]


@lru_cache(maxsize=1)
def shipped() -> Model:
    """Load the model of the package once."""
    return Model(json.loads(PATH.read_text(encoding="utf-8")))

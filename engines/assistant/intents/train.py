"""Train the classifier: `python -m engines.assistant.intents.train` (development only, scikit-learn).

Reads `training/*.jsonl`: `{"text", "intents"}` for one task (no intent: a fragment that asks
nothing) and `{"text", "intents", "parts": [[text, intent], …]}` for several; `source` says where
messages come from that people might have typed as they are. The judge follows: see `folds`.
"""

import hashlib
import json
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from engines.assistant.intents import features, model

TRAINING = Path(__file__).with_name("training")
VERSION = 1
SCALE = 100
STRENGTH = 20.0
SKIPPED = "negated"

# Wrappers say nothing about the intent; each request is also seen with one of them around it.
BEFORE = (
    "帮我",
    "麻烦",
    "请问",
    "那个",
    "老师,",
    "我想问一下",
    "哎",
    "急,",
    "再",
    "请",
    "你",
    "那",
    "先",
)
AFTER = ("啊", "呗", "谢谢", "一下", "吧", "哈", "呀", "?", "。", "可以吗", "快点", "呢", " pls")
UNWRAPPED = frozenset({"general_chat", "feedback", model.NONE})

Example = tuple[str, str]


def rows(folder: Path = TRAINING) -> list[dict[str, Any]]:
    """Return every training row, in the order of file names and lines."""
    paths = sorted(folder.glob("*.jsonl"))
    lines = [line for path in paths for line in path.read_text(encoding="utf-8").split("\n")]
    return [json.loads(line) for line in lines if line]


def data_hash(folder: Path = TRAINING) -> str:
    """Return the hash of the training data, kept in the model."""
    text = json.dumps(rows(folder), ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def examples(data: list[dict[str, Any]]) -> list[Example]:
    """Return (text, class) pairs: whole texts of one task, and the parts of the others."""
    plain = [example for row in data for example in _of_row(row)]
    whole = [example for row in data if "parts" not in row for example in _of_row(row)]
    wrapped = [
        (BEFORE[i % len(BEFORE)] + text + AFTER[i // 3 % len(AFTER)], label)
        for i, (text, label) in enumerate(whole)
        if label not in UNWRAPPED
    ]
    return plain + wrapped


def _of_row(row: dict[str, Any]) -> Iterator[Example]:
    parts = row.get("parts", [])
    yield from ((text, label) for text, label in parts if label != SKIPPED)
    if len(row["intents"]) == 1 and all(label != SKIPPED for _, label in parts):
        yield row["text"], row["intents"][0]
    if not row["intents"]:
        yield row["text"], model.NONE


def fit(pairs: list[Example]) -> dict[str, Any]:
    """Return the model of `pairs` as JSON-ready data."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    vectorizer = TfidfVectorizer(analyzer=_sorted_grams, binary=True, min_df=6)
    matrix = vectorizer.fit_transform([text for text, _ in pairs])
    regression = LogisticRegression(C=STRENGTH, class_weight="balanced", max_iter=300)
    regression.fit(matrix, [label for _, label in pairs])
    return _export(vectorizer, regression)


@cache
def _sorted_grams(text: str) -> list[str]:
    return sorted(features.from_raw(text))


def _export(vectorizer: Any, regression: Any) -> dict[str, Any]:
    weights = (regression.coef_ * vectorizer.idf_).T
    table = {
        gram: [round(vectorizer.idf_[i] * SCALE), *(round(w * SCALE) for w in weights[i])]
        for gram, i in sorted(vectorizer.vocabulary_.items())
    }
    bias = [round(b * SCALE) for b in regression.intercept_]
    classes = [str(name) for name in regression.classes_]
    return {"version": VERSION, "classes": classes, "scale": SCALE, "bias": bias, "rows": table}


def main() -> None:
    """Write model.json next to this file."""
    pairs = examples(rows())
    data = {"data_hash": data_hash(), **fit(pairs)}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace('],"', '],\n"')
    model.PATH.write_text(text + "\n", encoding="utf-8")
    sys.stderr.write(
        f"{len(pairs)} examples, {len(data['rows'])} n-grams, {len(text)} characters\n"
    )


if __name__ == "__main__":
    main()

"""Judge the detector on messages it has not seen (development only).

`python -m engines.assistant.intents.folds FILE…`

All labelled messages (the training data and the files given) are split in five; each fifth is read
by a classifier that was trained without it, and judged by a judge fitted on the other fifths. Prints
what is right by source and a table of `confidence` by tenths, and writes the judge of all fifths.
"""

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from engines.assistant.intents import (
    detector,
    judge,
    model,
    train,
)
from engines.assistant.intents.detector import Reading
from engines.assistant.intents.judge import Features, Judge

FOLDS = 5
SOURCES = {"intents_public": "public", "intents_public2": "public2"}
SURE_RIGHT = 0.976
STRENGTH = 1.0
# Few of the messages are what people write to the assistant in their ward; they weigh the most.
WEIGHTS = {"own": 0.3, "public": 1.0, "public2": 3.0, "ward": 3.0}

Example = tuple[Features, bool, float]


@dataclass(frozen=True)
class Case:
    """A labelled message as a classifier read it that was trained without it."""

    text: str
    intents: list[str]
    source: str
    fold: int
    reading: Reading


@dataclass(frozen=True)
class Verdict:
    """What became of a message: the source, whether it was right, and what the judge said of it."""

    case: Case
    found: list[str]
    confidence: float
    sure: bool

    @property
    def right(self) -> bool:
        """Whether all intents are found, in order, and no other."""
        return self.found == self.case.intents


def fold_of(text: str) -> int:
    """The fifth that a message belongs to."""
    return int(hashlib.sha256(text.encode()).hexdigest(), 16) % FOLDS


def cases(files: Sequence[Path]) -> list[Case]:
    """Read every labelled message by the classifier of its fold."""
    data = train.rows()
    rows = [(row, row.get("source", "own")) for row in data]
    rows += [
        (json.loads(line), SOURCES.get(path.stem, "own"))
        for path in files
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    labelled = {row["text"]: (row["intents"], source) for row, source in reversed(rows)}
    return [case for fold in range(FOLDS) for case in _read(fold, data, labelled)]


def _read(
    fold: int, data: list[dict[str, Any]], labelled: Mapping[str, tuple[list[str], str]]
) -> Iterator[Case]:
    seen = [row for row in data if fold_of(row["text"]) != fold]
    classifier = model.Model(train.fit(train.examples(seen)))
    for text, (intents, source) in labelled.items():
        if intents and fold_of(text) == fold:
            yield Case(text, intents, source, fold, detector.read(text, classifier))


def fitted(found: Sequence[Case]) -> Judge:
    """The judge of these cases; each half of them is weighed by what the other half taught."""
    part = _weights([example for case in found for example in _of_parts(case)])
    halves = [
        _weights([e for case in found if case.fold % 2 != half for e in _of_parts(case)])
        for half in range(2)
    ]
    wholes = [
        (of_whole, _labels(tasks) == case.intents, WEIGHTS[case.source])
        for case in found
        for tasks, of_whole in [
            detector.weighed(case.reading, Judge(halves[case.fold % 2], {}, 1.0))
        ]
    ]
    whole = _weights(wholes)
    unset = Judge(part, whole, 1.0)
    return Judge(part, whole, _threshold([(unset.right(f), r, w) for f, r, w in wholes]))


def _of_parts(case: Case) -> Iterator[Example]:
    tasks = case.reading.tasks
    if len(tasks) < 2:
        return
    for at, task in enumerate(tasks):
        found = judge.of_part(tasks, at, case.reading.whole)
        yield found, task.intent in case.intents, WEIGHTS[case.source]


def _labels(tasks: Sequence[Any]) -> list[str]:
    return list(dict.fromkeys(task.intent for task in detector.in_order(tasks)))


def _weights(examples: Sequence[Example]) -> dict[str, float]:
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression

    vectorizer = DictVectorizer(sparse=False)
    matrix = vectorizer.fit_transform([found for found, _, _ in examples])
    regression = LogisticRegression(C=STRENGTH, max_iter=2000, fit_intercept=False)
    regression.fit(matrix, [y for _, y, _ in examples], sample_weight=[w for _, _, w in examples])
    names = vectorizer.get_feature_names_out()
    return {
        str(name): round(float(w), 3) for name, w in zip(names, regression.coef_[0], strict=True)
    }


def _threshold(judged: Sequence[tuple[float, bool, float]]) -> float:
    """The lowest confidence from which on enough are right."""
    right = total = 0.0
    lowest = 1.0
    for confidence, is_right, weight in sorted(judged, reverse=True):
        total += weight
        right += weight * is_right
        if right >= SURE_RIGHT * total:
            lowest = confidence
    return round(lowest, 4)


def verdicts(found: Sequence[Case]) -> list[Verdict]:
    """Judge each fifth by what the others taught."""
    told = []
    for fold in range(FOLDS):
        by = fitted([case for case in found if case.fold != fold])
        for case in (case for case in found if case.fold == fold):
            said = detector.judged(case.reading, by)
            told.append(Verdict(case, [*map(str, said.intents)], said.confidence, said.sure))
    return told


def report(told: Sequence[Verdict]) -> str:
    """The figures by source, and the table of confidence by tenths."""
    lines = [f"{'':10}{'messages':>9}{'right':>8}{'covered':>9}{'sure':>7}"]
    ranked = sorted(told, key=lambda one: one.case.source)
    groups = [(name, [*group]) for name, group in groupby(ranked, lambda one: one.case.source)]
    for name, group in [*groups, ("all", ranked)]:
        sure = [one for one in group if one.sure]
        figures = (_share(group), len(sure) / len(group), _share(sure))
        lines.append(f"{name:10}{len(group):9}" + "".join(f"{x:8.3f}" for x in figures))
    lines += ["", "confidence  messages  mean  right"]
    for tenth in range(10):
        inside = [one for one in told if min(int(one.confidence * 10), 9) == tenth]
        if inside:
            mean = sum(one.confidence for one in inside) / len(inside)
            span = f"{tenth / 10:.1f}–{(tenth + 1) / 10:.1f}"
            lines.append(f"{span:10}{len(inside):10}{mean:6.2f}{_share(inside):7.2f}")
    return "\n".join(lines)


def _share(told: Sequence[Verdict]) -> float:
    return sum(one.right for one in told) / max(len(told), 1)


def main(*names: str) -> None:
    """Print the figures and write judge.json."""
    found = cases([Path(name) for name in names])
    sys.stdout.write(report(verdicts(found)) + "\n")
    by = fitted(found)
    data = {"data_hash": train.data_hash(), **vars(by)}
    judge.PATH.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

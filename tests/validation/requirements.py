"""The promises of docs/validation/requirements.csv, and what is missing of them."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/validation"
FEATURES = ROOT / "docs/features.md"
RISKS = ("high", "medium", "low")
_ROW = re.compile(r"^\| (?!feature \||page \||-|`docs/)(.+?) \| ([^|]+) \|$", re.MULTILINE)
_ID = re.compile(r"R-\d{3}")


@dataclass(frozen=True)
class Requirement:
    """One promise. `risk`: what a failure does to subjects, data or privacy; `tests`: files or node ids.

    A line of docs/features.md is a promise with its own words (`en`) and its tests named there.
    """

    id: str
    zh: str
    en: str
    source: str
    section: str
    risk: str
    tests: tuple[str, ...]


@dataclass(frozen=True)
class Topic:
    """A title of a guideline and the requirements that belong to it; no statement about compliance."""

    document: str
    title: str
    requirements: tuple[str, ...]


def features(text: str) -> dict[str, tuple[str, ...]]:
    """The lines of docs/features.md with their tests; pages of the folder are none."""
    return {line: tuple(re.findall(r"`(tests/[^`]+)`", held)) for line, held in _ROW.findall(text)}


def requirements(text: str, held: Mapping[str, Sequence[str]]) -> list[Requirement]:
    """The rows of the file; `held`: what `features` gives."""
    return [
        Requirement(
            **{key: row[key] for key in ("id", "zh", "en", "source", "section", "risk")},
            tests=tuple(row["tests"].split()) or tuple(held.get(row["en"], ())),
        )
        for row in csv.DictReader(text.splitlines())
    ]


def topics(text: str) -> list[Topic]:
    """The rows of docs/validation/topics.csv."""
    rows = csv.DictReader(text.splitlines())
    return [Topic(r["document"], r["title"], tuple(r["requirements"].split())) for r in rows]


def read() -> tuple[list[Requirement], list[Topic]]:
    """Both files as they stand."""
    held = features(FEATURES.read_text(encoding="utf-8"))
    rows = (FOLDER / "requirements.csv").read_text(encoding="utf-8")
    return requirements(rows, held), topics((FOLDER / "topics.csv").read_text(encoding="utf-8"))


def faults(
    promised: Sequence[Requirement], titles: Sequence[Topic], held: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """What is missing or wrong, a line each; `held`: what `features` gives."""
    ids = Counter(one.id for one in promised)
    yield from (f"{key} stands there {times} times" for key, times in ids.items() if times > 1)
    for one in promised:
        yield from _of_one(one)
    known = {one.en for one in promised if one.source == "docs/features.md"}
    yield from (f"no requirement for the feature: {line}" for line in held if line not in known)
    yield from (f"no feature for the requirement: {line}" for line in known if line not in held)
    for topic in titles:
        lost = [key for key in topic.requirements if key not in ids]
        yield from (f"{topic.title} names {key}, which is not there" for key in lost)


def _of_one(one: Requirement) -> Iterator[str]:
    if not _ID.fullmatch(one.id):
        yield f"{one.id} is no id"
    if not (one.zh and one.en and one.section and one.risk in RISKS):
        yield f"{one.id} lacks words, section or risk"
    if not one.tests:
        yield f"{one.id} has no test"
    yield from (
        f"{one.id} names {test}, which is no test" for test in one.tests if not _is_there(test)
    )


def _is_there(test: str) -> bool:
    path, _, name = test.partition("::")
    file = ROOT / path
    return file.is_file() and f"\ndef test_{name.removeprefix('test_')}" in file.read_text("utf-8")

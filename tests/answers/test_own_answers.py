"""Our own model answers against the raw export: what a true one says is so, what a lie says is not."""

from __future__ import annotations

import re
from datetime import date
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import pytest

from tests.answers import export
from tests.answers.play import load
from tests.answers.scripted import said

NAMES = ("own", "fresh", "blind")
FILES = {name: load(Path(__file__).with_name(f"answers_{name}.jsonl")) for name in NAMES}
CASES = [case for cases in FILES.values() for case in cases]
TRUE = [case for case in CASES if case["true"]]
BY_EXPORT = [case for case in TRUE if not case["id"].startswith("bl-")]
"""The blind ones cite words of their sheets, which are no cells of the export."""
OF_DATA = "field list table computed compare trend extremum normal ae conmed visit partial overview"
LIMITS = {24.0, 40.0, 75.0, 80.0, 100.0, 120.0}
"""Limits that the notes and the protocol state: hours to report, ALT, age, compliance, PLT, three times 40."""
ODD = ("|13", "|不良事件", "|有症状的脑转移", "|ALT|V4|40", "|合并用药")
"""Sources that are no value: days overdue, forms without rows, a ticked box, a limit."""


def sources(case: dict[str, Any]) -> list[list[str]]:
    return [found.split("|") for found in re.findall(r"\{([^{}\n]+)\}", case["say"])]


def of_subjects(case: dict[str, Any]) -> list[list[str]]:
    return [tokens for tokens in sources(case) if tokens[0] in export.subjects()]


@pytest.mark.parametrize(("name", "least"), [("own", 200), ("fresh", 100), ("blind", 80)])
def test_there_are_enough_of_both(name: str, least: int) -> None:
    true = [case for case in FILES[name] if case["true"]]
    assert len(true) >= least
    assert len(FILES[name]) - len(true) >= least


def test_each_case_has_a_name_of_its_own() -> None:
    assert len({case["id"] for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", BY_EXPORT, ids=lambda case: case["id"])
def test_what_a_true_answer_cites_stands_in_the_export(case: dict[str, Any]) -> None:
    for tokens in of_subjects(case):
        if not "|".join(tokens).endswith(ODD):
            lines = [cell.line for cell in export.cells() if cell.subject == tokens[0]]
            folded = [export.folded(token) for token in tokens]
            assert any(all(token in line for token in folded) for line in lines), tokens


@pytest.mark.parametrize(
    "case",
    [case for case in BY_EXPORT if case["kind"] in OF_DATA.split()],
    ids=lambda case: case["id"],
)
def test_figures_are_of_the_sources_or_worked_out_of_them(case: dict[str, Any]) -> None:
    told = [cell.value for t in of_subjects(case) if (cell := export.cell_of(t))]
    told += [token for tokens in sources(case) for token in tokens[1:]]
    known = worked_out(told) | {float(len(told))} | LIMITS
    left = [figure for figure in figures(case) if not any(near(figure, one) for one in known)]
    assert not left, (left, said(case))


def figures(case: dict[str, Any]) -> list[float]:
    """The figures of an answer, without those of names, powers, lists and dates."""
    text = export.folded(said(case))
    text = re.sub(
        r"P\d{3}|007|7号|受试者7|V2\.\d|V\d|\d+\.(?!\d)|×109/L|B6|D3|#\d|RECIST1.1", " ", text
    )
    text = re.sub(r"20\d\d-\d\d-\d\d|(\d{4}年)?\d+月(\d+日)?|\d+[日]", " ", text)
    return [float(found) for found in re.findall(r"\d+(?:\.\d+)?", text)]


def worked_out(told: list[str]) -> set[float]:
    """Values, differences (from 80 %, too), ratios, percents and days between all told and today."""
    numbers = {float(n) for text in told for n in re.findall(r"\d+(?:\.\d+)?", text)}
    days = {date.fromisoformat(t) for t in told if re.fullmatch(r"\d{4}-\d\d-\d\d", t)}
    found = set(numbers) | {float(abs((a - b).days)) for a in days for b in {*days, export.TODAY}}
    found |= {sum(numbers), *(sum(some) for some in combinations(numbers, 3))}
    for a, b in permutations(numbers, 2):
        found |= {a + b, abs(a - b)}
        if b:
            found |= {a / b, 100 * a / b, 100 * abs(a - b) / b}
    return found | {number / 40 for number in numbers} | {80 - number for number in numbers}


def near(figure: float, known: float) -> bool:
    """The same when rounded to the digits shown."""
    return abs(figure - known) <= (0.5 if figure.is_integer() and known > 5 else 0.051)


def test_a_lie_says_its_lie_and_the_true_answers_do_not() -> None:
    for case in CASES:
        if not case["true"]:
            assert case["lie"] in said(case)
            same = [
                one for one in TRUE if (one["user"], one["text"]) == (case["user"], case["text"])
            ]
            assert not [one["id"] for one in same if case["lie"] in said(one)], case["id"]

"""StudyQuery against the oracle: the same queries, two programs, one answer (tests/study/oracle).

Compared are the facts in their order by (kind, subject, field, event, instrument, instance, value,
flags), groups, the undecided subjects, basis and what was left out; numbers to nine digits. Not
compared: labels, texts, units, a fact's date and role, the reason of an undecided subject (the
contract does not say which of several is told).

Where the contract leaves a choice the oracle follows docs/query.md: a base row of an event is one
row of the answer, columns of the subject stand with its first row; `{"latest": n}`, `highest` and
`lowest` of the first item lead the other items; `highest` shows what nothing surely exceeds; what
is not exact leaves an aggregate and names the subject as undecided; `count` without `select` counts
the rows of the form asked about; `contains` ignores case; a blank is the group null; subjects are
in natural order. Of the columns `@findings`, `@reviews`, `@runs` and `@project` are not asked for:
what they hold is not in an export.
"""

from __future__ import annotations

import ast
import json
import math
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from study.query import run
from study.query.errors import QueryError
from study.query.schema import parse_query
from tests.study.oracle.answer import answer as second_opinion
from tests.study.oracle.queries import KEYS, OPERATORS, Random
from tests.study.oracle.spoiled import spoiled
from tests.study.oracle_studies import TODAY, Both, both

COUNT = 1_000
SEED = 20261123
COMPARED = ("kind", "subject", "field", "event", "instrument", "instance", "value", "flags")
# One process reads the oracle's answers for all tests of a study.
pytestmark = pytest.mark.full
STUDIES = [
    pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in ("demo", "generated")
]


@cache
def studied(name: str) -> Both:
    return both(name)


@cache
def asked(name: str) -> list[dict[str, Any]]:
    make = Random(studied(name).study, SEED)
    return [make.query() for _ in range(COUNT)]


@cache
def expected(name: str) -> list[dict[str, Any]]:
    """The oracle's answers, in short."""
    return [in_short(second_opinion(studied(name).study, query)) for query in asked(name)]


def told(study: Both, query: dict[str, Any]) -> dict[str, Any]:
    """The product's answer as JSON."""
    found = run.answer_query(
        parse_query(query), study.design, study.records, today=TODAY, work=lambda _form: {}
    )
    read: dict[str, Any] = json.loads(json.dumps(found.as_json()))
    return read


def in_short(answer: dict[str, Any]) -> dict[str, Any]:
    """What is compared of an answer."""
    return {
        "facts": [[_rounded(fact[key]) for key in COMPARED] for fact in answer["facts"]],
        "groups": [
            {key: _rounded(value) for key, value in group.items()} for group in answer["groups"]
        ],
        "undecided": [item["subject"] for item in answer["undecided"]],
        "basis": answer["basis"],
        "left_out": answer["left_out"],
    }


def _rounded(value: Any) -> Any:
    return float(f"{value:.9g}") if isinstance(value, float) and math.isfinite(value) else value


def _has_rows(answer: dict[str, Any]) -> bool:
    return bool(answer["facts"]) or any(group["count"] for group in answer["groups"])


@pytest.mark.parametrize("name", STUDIES)
def test_every_answer_is_the_oracle_s(name: str) -> None:
    study = studied(name)
    for number, (query, answer) in enumerate(zip(asked(name), expected(name), strict=True)):
        where = (name, SEED, number, json.dumps(query, ensure_ascii=False))
        assert in_short(told(study, query)) == answer, where


@pytest.mark.parametrize("name", STUDIES)
def test_what_one_query_read_changes_no_other_answer(name: str) -> None:
    study = studied(name)
    held = run.Asked(study.design, study.records, today=TODAY, work=lambda _form: {})
    for number, (query, answer) in enumerate(zip(asked(name), expected(name), strict=True)):
        found = json.loads(json.dumps(held.answer(parse_query(query)).as_json()))
        assert in_short(found) == answer, (name, SEED, number)


@pytest.mark.parametrize("name", STUDIES)
def test_the_queries_cover_the_language(name: str) -> None:
    used = Counter(word for query in asked(name) for word in _words(query))
    rare = {word: used[word] for word in (*KEYS, *OPERATORS, *OTHER_WORDS) if used[word] < 30}
    assert not rare, (SEED, rare)
    full = sum(_has_rows(answer) for answer in expected(name))
    assert full >= 0.7 * COUNT, (SEED, full)


OTHER_WORDS = (
    "any",
    "all",
    "none",
    "holds",
    "minus",
    "as",
    "ref",
    "times",
    "from",
    "to",
    "desc",
    "@site",
    "@status",
    "@enrolled",
    "@age",
)


def _words(value: Any) -> set[str]:
    """Every key of a query, its operators and its columns, once."""
    if isinstance(value, dict):
        inner = set().union(*map(_words, value.values())) if value else set()
        return set(value) | inner | ({value["op"]} if "op" in value else set())
    if isinstance(value, list):
        return set().union(*map(_words, value)) if value else set()
    return {value} if isinstance(value, str) and value.startswith("@") else set()


@pytest.mark.parametrize("name", STUDIES)
def test_what_is_no_query_is_refused_with_the_place(name: str) -> None:
    study = studied(name)
    for query, at in spoiled(Random(study.study, SEED), 180):
        with pytest.raises(QueryError) as refused:
            told(study, query)
        assert refused.value.at == at, (SEED, query)


def test_the_oracle_knows_nothing_of_the_product() -> None:
    folder = Path(__file__).parent / "oracle"
    allowed = {
        "__future__",
        "ast",
        "calendar",
        "collections",
        "csv",
        "dataclasses",
        "datetime",
        "fractions",
        "functools",
        "itertools",
        "json",
        "pathlib",
        "random",
        "re",
        "typing",
    }
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, path
                names = [node.module or ""]
            for name in names:
                own = name.partition(".oracle")[0] == "tests.study" and name.partition("oracle")[2][
                    :1
                ] in ("", ".")
                assert own or name.partition(".")[0] in allowed, (path, name)

"""What a reader must not learn of reads like what does not exist: the same bytes, in every key."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from study.query import run
from study.query.errors import QueryError
from study.query.schema import parse_query
from tests.study.oracle.queries import Random
from tests.study.oracle_studies import TODAY, Both, both, files_of, without

SEED = 7_202
HIDDEN = [
    ("demo", "subject_name"),
    ("demo", "birth_date"),
    ("demo", "egfr_mutation"),
    ("generated", "phone"),
    ("generated", "birth_date"),
    ("generated", "treatment"),
]
ALIAS = "some_alias"


def in_every_key(name: str) -> list[dict[str, Any]]:
    """Queries that name a field in each place where a field can stand."""
    test = {"field": name, "op": "filled"}
    other = {"field": "@age", "op": ">", "value": {"field": name}}
    return [
        {"where": [test]},
        {"where": [{"field": {"field": name, "rows": "latest"}, "op": "blank"}]},
        {"where": [{"field": name, "op": "=", "value": "1"}]},
        {"where": [other]},
        {"where": [{"any": [{"field": "@site", "op": "filled"}, test]}]},
        {"where": [{"all": [test]}]},
        {"where": [{"none": [{"any": [test]}]}]},
        {"where": [{"field": name, "op": "missing_code", "holds": "every"}]},
        {
            "where": [
                {"field": {"field": "@enrolled", "minus": {"field": name}}, "op": ">", "value": 3}
            ]
        },
        {"select": [name]},
        {"select": ["@site", {"field": name, "place": "V1"}]},
        {"select": [{"field": "@enrolled", "minus": {"field": name}, "as": "days"}]},
        {"select": ["@site"], "order": {"by": name}},
        {"select": ["@site"], "period": {"field": name, "from": "2026-01-01"}},
        {"aggregate": "count", "by": [name]},
        {"aggregate": "count", "by": [f"month:{name}"]},
        {"aggregate": "count", "by": ["@site", f"week:{name}"]},
        {"aggregate": "mean", "select": [name]},
        {"aggregate": "count", "select": [name]},
        {"aggregate": "share", "where": [{"field": "@site", "op": "filled"}], "of": [test]},
    ]


@cache
def with_alias(name: str, field: str) -> Both:
    files = files_of(name)
    files["settings"]["mapped"] = files["settings"]["mapped"] | {ALIAS: field}
    return both(name, files=files)


@cache
def lacking(name: str, field: str) -> Both:
    return both(name, files=without(files_of(name), field))


def line(study: Both, query: dict[str, Any]) -> str:
    """The line that `manage.py query` would print."""
    try:
        found = run.answer_query(
            parse_query(query), study.design, study.records, today=TODAY, work=lambda _form: {}
        )
    except QueryError as error:
        return json.dumps(error.as_json(), ensure_ascii=False)
    return json.dumps(found.as_json(), ensure_ascii=False)


@pytest.mark.full
@pytest.mark.parametrize(("name", "field"), HIDDEN)
def test_a_hidden_field_is_refused_like_one_that_is_not_there(name: str, field: str) -> None:
    hiding, absent = with_alias(name, field), lacking(name, field)
    for query in (*in_every_key(field), *in_every_key(ALIAS)):
        refused = line(hiding, query)
        assert refused == line(absent, query), query
        error = json.loads(refused)["error"]
        assert field not in error["nearest"]
        assert ALIAS not in error["nearest"]
        assert error["at"]
        assert error["message"]


@pytest.mark.parametrize("name", ["demo", "generated"])
def test_a_field_that_may_be_seen_is_not_refused(name: str) -> None:
    study = both(name)
    assert "error" not in line(study, {"select": ["sex"]})
    assert "error" in line(study, {"select": ["birth_date"]})
    assert json.loads(
        line(study, {"select": ["@site"], "where": [{"field": "@age", "op": ">", "value": 18}]})
    )["facts"]


@pytest.mark.full
def test_answers_are_the_same_bytes_whatever_a_hidden_field_holds() -> None:
    files = files_of("generated")
    for row in files["records"]:
        for field, other in (("treatment", "A"), ("full_name", "某某"), ("phone", "0")):
            if field in row["values"]:
                row["values"][field] = other
    study, changed = both("generated"), both("generated", files=files)
    make = Random(study.study, SEED)
    for _ in range(25):
        query = make.query()
        assert line(study, query) == line(changed, query), (SEED, query)
    for form in ("demographics", "disposition"):
        assert line(study, {"select": [form]}) == line(changed, {"select": [form]})


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "site", "foreign", "elsewhere"),
    [
        ("demo", "site_a", "P020", "site_b"),
        ("generated", "north", None, "south"),
    ],
)
def test_foreign_subjects_and_sites_read_like_invented_ones(
    name: str, site: str, foreign: str | None, elsewhere: str
) -> None:
    mine = both(name, site)
    everyone = {subject.id for subject in both(name).study.subjects}
    seen = {subject.id for subject in mine.study.subjects}
    foreign = foreign or min(everyone - seen)
    make = Random(mine.study, SEED)
    for _ in range(25):
        query = make.query()
        one, none = (line(mine, query | {"subjects": [other]}) for other in (foreign, "X404"))
        assert one == none, (SEED, query)
        condition = [
            {"field": "@site", "op": "=", "value": other} for other in (elsewhere, "nowhere")
        ]
        there, nowhere = (line(mine, query | {"where": [one_of]}) for one_of in condition)
        assert there == nowhere, (SEED, query)
    for subject in json.loads(line(mine, {}))["facts"]:
        assert subject["subject"] in seen
    assert elsewhere not in line(mine, {"aggregate": "count", "by": ["@site"]})
    assert json.loads(line(mine, {"subjects": [min(seen)]}))["facts"]

"""No difference and no sum of what is told reveals a small cell (engines/mcp_server/small_cells.py)."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.mcp_server import small_cells, tools
from engines.mcp_server.small_cells import is_kept_back, told_count
from projects.models import ApiToken, Project, TokenScope
from study import door
from tests.engines.mcp.kit import READ_AT, token
from tests.support.study import Study

N = 5


def span(text: str, least: int = N) -> tuple[int, int]:
    """The numbers that a told count may stand for."""
    if text.startswith("<"):
        return 0, int(text[1:]) - 1
    low, high = map(int, text.split("-"))
    assert high - low == least - 1
    return low, high


@given(st.integers(0, 200), st.integers(0, N - 1), st.integers(2, 12))
def test_a_difference_of_a_few_is_never_one_number(count: int, few: int, least: int) -> None:
    few = min(few, least - 1)
    (low_a, high_a), (low_b, high_b) = (
        span(told_count(c, least), least) for c in (count, count + few)
    )
    possible = {b - a for a in range(low_a, high_a + 1) for b in range(low_b, high_b + 1)}
    assert few in possible
    assert len({n for n in possible if n >= 0} & {*range(least)}) >= least - 1


def feasible(
    table: dict[Any, int], total: int, cell: Any, value: int, empty: frozenset[Any] = frozenset()
) -> bool:
    """Whether some table with this value in a cell would be told in the same words, its margins too.

    `cell`: also a line, with None for what it goes through. `empty`: the cells that the reader knows to be 0,
    since nobody is blank there.
    A table is a circulation all -> rows -> columns -> all, what is told its bounds; by Hoffman's theorem
    there is one where out of no set of nodes must flow more than may flow in.
    """
    rows, columns = (sorted({key[at] for key in table}) for at in range(2))
    first, last = 1 + len(rows), 1 + len(rows) + len(columns)

    def bounds_of(key: Any, count: int) -> tuple[int, int]:
        return (value, value) if key == cell else span(told_count(count, N))

    edges = [(last, 0, *bounds_of((None, None), total))]
    for at, one in enumerate(rows, 1):
        edges.append((0, at, *bounds_of((one, None), _line(table, 0, one))))
    for at, one in enumerate(columns, first):
        edges.append((at, last, *bounds_of((None, one), _line(table, 1, one))))
    for key, count in table.items():
        bounds = bounds_of(key, count)
        if key in empty:
            bounds = 0, 0
        edges.append((1 + rows.index(key[0]), first + columns.index(key[1]), *bounds))
    return all(
        sum(low for a, b, low, _high in edges if nodes >> a & 1 and not nodes >> b & 1)
        <= sum(high for a, b, _low, high in edges if nodes >> b & 1 and not nodes >> a & 1)
        for nodes in range(2 ** (last + 1))
    )


def _line(table: dict[Any, int], at: int, one: str) -> int:
    return sum(count for key, count in table.items() if key[at] == one)


@pytest.mark.full
def test_a_table_narrows_neither_the_total_nor_a_margin_that_others_tell() -> None:
    rng = random.Random(29)
    checked = 0
    for _ in range(250):
        rows, columns = (
            [*map(str, range(rng.randint(1, 3))), *rng.choice(([None], []))] for _key in range(2)
        )
        most = rng.choice((3, N - 1, N, 12, 30))
        filled = rng.choice(((), (0,), (1,), (0, 1)))
        table = {key: rng.randint(0, most) for key in product(rows, columns)}
        empty = _blank(table, filled)
        table |= dict.fromkeys(empty, 0)
        total = sum(table.values())
        if is_kept_back(table, total, N, filled):
            continue
        named = {tuple(one or "" for one in key): count for key, count in table.items()}
        known = frozenset(tuple(one or "" for one in key) for key in empty)
        lines = {(one or "", None): 0 for one in rows} | {(None, one or ""): 1 for one in columns}
        counts = {line: _line(named, at, line[at] or "") for line, at in lines.items()}
        for line, count in {**counts, (None, None): total}.items():
            cells = {
                key for key in named if line[0] in (key[0], None) and line[1] in (key[1], None)
            }
            if not cells <= known:
                low, high = span(told_count(count, N))
                values = [v for v in range(low, high + 1) if feasible(named, total, line, v, known)]
                assert values == [*range(low, high + 1)], (table, line, filled)
                checked += 1
    assert checked > 100


@pytest.mark.full
def test_two_tables_of_the_same_subjects_leave_the_small_cells_of_each_open() -> None:
    rng = random.Random(30)
    checked = 0
    for _ in range(1500):
        total = rng.randint(1, 50)
        sites, sexes = (_shared(rng, total, rng.randint(2, 4)) for _field in range(2))
        if any(is_kept_back(_alone(counts), total, N, [0]) for counts in (sites, sexes)):
            continue
        for counts, others in ((sites, sexes), (sexes, sites)):
            around = [span(told_count(total, N)), _sums(others)]
            least, most = max(low for low, _ in around), min(high for _, high in around)
            for at, count in enumerate(counts):
                low, high = _sums([*counts[:at], *counts[at + 1 :]])
                if count < N:
                    checked += 1
                    possible = [v for v in range(N) if v + low <= most and v + high >= least]
                    assert possible == [*range(N)], (counts, others)
    assert checked > 100


def _shared(rng: random.Random, total: int, groups: int) -> list[int]:
    cuts = sorted(rng.randint(0, total) for _ in range(groups - 1))
    return [b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True)]


def _alone(counts: list[int]) -> dict[Any, int]:
    return {**{(str(at),): count for at, count in enumerate(counts)}, (None,): 0}


def _sums(counts: list[int]) -> tuple[int, int]:
    """What counts that are told may add up to."""
    spans = [span(told_count(count, N)) for count in counts]
    return sum(low for low, _ in spans), sum(high for _, high in spans)


@pytest.mark.parametrize("sites", [[13, 14], [9, 9, 9], [9, 9, 9, 9, 9]])
def test_sites_that_narrow_the_total_are_kept_back(sites: list[int]) -> None:
    """13 and 14 are at most 28 together: beside a sex that 25 have, the other could have 3 at most."""
    assert is_kept_back(_alone(sites), sum(sites), N, [0])


@pytest.mark.full
def test_the_sums_of_a_table_leave_each_small_cell_open() -> None:
    rng = random.Random(27)
    kept = checked = 0
    for _ in range(250):
        shape = rng.randint(1, 3), rng.randint(1, 3)
        most = rng.choice((3, N - 1, N, 12, 30))
        table = {
            (str(a), str(b)): rng.choice((rng.randint(0, most), N - 1))
            for a, b in product(range(shape[0]), range(shape[1]))
        }
        total = sum(table.values())
        if is_kept_back(table, total, N):
            kept += 1
            continue
        for cell, count in table.items():
            if count < N:
                checked += 1
                values = [v for v in range(N) if feasible(table, total, cell, v)]
                assert values == [*range(N)], (table, cell)
    assert kept > 10
    assert checked > 100


@pytest.mark.full
def test_who_knows_that_nobody_is_blank_learns_of_no_small_cell() -> None:
    rng = random.Random(28)
    kept = checked = 0
    for _ in range(250):
        rows, columns = ([*map(str, range(rng.randint(1, 3))), None] for _key in range(2))
        most = rng.choice((3, N - 1, N, 12, 30))
        filled = rng.choice(((0,), (1,), (0, 1)))
        table = {key: rng.choice((rng.randint(0, most), N - 1)) for key in product(rows, columns)}
        blanks = {places: _blank(table, places) for places in {filled, filled[:1], filled[1:]}}
        table |= dict.fromkeys(blanks[filled], 0)
        total = sum(table.values())
        if is_kept_back(table, total, N, filled):
            kept += 1
            continue
        named = {tuple(one or "" for one in key): count for key, count in table.items()}
        for empty, (cell, count) in product(blanks.values(), named.items()):
            known = frozenset(tuple(one or "" for one in key) for key in empty)
            if count < N and cell not in known:
                checked += 1
                values = [v for v in range(N) if feasible(named, total, cell, v, known)]
                assert values == [*range(N)], (table, cell, empty)
    assert kept > 10
    assert checked > 100


def _blank(table: dict[Any, int], places: tuple[int, ...]) -> frozenset[Any]:
    return frozenset(key for key in table if any(key[at] is None for at in places))


def test_a_blank_that_cannot_be_leaves_the_others_no_room() -> None:
    fives = {**{(str(at),): N - 1 for at in range(5)}, (None,): 0}
    assert not is_kept_back(fives, 20, N)
    assert is_kept_back(fives, 20, N, [0])
    crossed = {(one, sex): N - 1 for one in ("a", "b") for sex in ("1", "2", "3", "4", "5")}
    crossed |= {("c", sex): 12 for sex in ("1", "2", "3", "4", "5")}
    crossed |= {(one, None): 0 for one in ("a", "b", "c")}
    assert is_kept_back(crossed, 100, N, [1])
    fourteens = {(str(n), sex): 14 if sex == "1" else 0 for n in range(5) for sex in ("1", "2")}
    assert is_kept_back(fourteens, 70, N)
    assert not is_kept_back({("a",): 12, ("b",): 30, (None,): 0}, 42, N, [0])
    large = {(str(a), str(b)): 12 for a in range(40) for b in range(40)}
    assert is_kept_back(large, 12 * 1600, N)
    # So many without a value are told of: nobody takes them for none.
    assert not is_kept_back({("a",): 2, ("b",): 30, (None,): 9}, 41, N, [0])


def test_a_margin_that_tells_all_keeps_its_table_back() -> None:
    fives = {(str(at),): N - 1 for at in range(5)}
    assert is_kept_back(fives, 20, N)
    assert not is_kept_back({**fives, ("0",): 0, ("1",): 1}, 13, N)
    assert not is_kept_back({("a",): 12, ("b",): 30}, 42, N)


@pytest.fixture
def counting(study: Study) -> ApiToken:
    Project.objects.update(small_cell=N)
    token("zhangyi", TokenScope.COUNTS)
    return ApiToken.objects.select_related("user").latest("created_at")


def ask(owner: ApiToken, **query: Any) -> tools.Reply:
    return tools.call(owner, "query_study", query)


@pytest.mark.django_db
@pytest.mark.full
def test_500_attempts_by_difference_reveal_nothing(study: Study, counting: ApiToken) -> None:
    """Pairs of queries whose subjects differ by a few, in every form that a StudyQuery has."""
    rng = random.Random(500)
    everybody = [f.subject for f in door.ask_one(study.project, study["zhangyi"], {}).facts]
    fields = ["@site", "@status", "sex", "tumor_stage", "histology", "ecog_score", "alt", "phone"]
    revealed, answered = [], 0
    for _ in range(500):
        pair = _pair(rng, everybody, fields)
        texts = []
        for query in pair:
            reply = ask(counting, **query)
            # A short id is told from a count and a clock by its quotes.
            said = READ_AT.sub("", reply.text)
            named = [one if len(one) > 2 else json.dumps(one) for one in everybody]
            assert [one for one in named if one in said] == [], query
            if not reply.is_error:
                texts.append(json.loads(reply.text))
        if len(texts) < 2:
            continue
        answered += 1
        a, b = ([row["value"] for row in one["facts"] + one["groups"]] for one in texts)
        for left, right in product(a, b):
            if left is None or right is None:
                continue
            (al, ah), (bl, bh) = span(left), span(right)
            possible = {x - y for x in range(al, ah + 1) for y in range(bl, bh + 1)}
            if len(possible) < N:
                revealed.append((pair, left, right))
    assert revealed == []
    assert answered > 15


def _pair(rng: random.Random, everybody: list[str], fields: list[str]) -> tuple[Any, Any]:
    """A query and one that leaves out a few."""
    count = {"aggregate": "count"}
    few = rng.sample(everybody, rng.randint(1, N - 1))
    rest = [one for one in everybody if one not in few]
    field, other = rng.sample(fields, 2)
    value, cut = rng.choice(["1", "2", "site_a", "site_b", "女"]), rng.randint(20, 80)
    condition = {"field": field, "op": "=", "value": value}
    above = {"field": other, "op": ">", "value": cut}
    return rng.choice(
        [
            (count, count | {"subjects": rest}),
            (count | {"subjects": few}, count),
            (count, count | {"where": [condition]}),
            (count | {"by": [field]}, count | {"by": [field, other]}),
            (count | {"where": [condition]}, count | {"where": [condition, above]}),
            (count | {"where": [above]}, count | {"where": [above | {"value": cut + 1}]}),
            (count, count | {"where": [{"none": [condition]}]}),
            (count, count | {"where": [{"any": [condition, above]}]}),
            (count | {"where": [condition]}, count | {"by": ["@subject"]}),
            (count, count | {"as_of": "2026-10-01"}),
            (count, count | {"period": {"from": "2026-10-01"}}),
            ({"aggregate": "sum", "select": [field]}, {"aggregate": "mean", "select": [field]}),
            ({"aggregate": "min", "select": [field]}, {"aggregate": "max", "select": [field]}),
            ({"aggregate": "share", "where": [condition]}, {"aggregate": "share", "of": [above]}),
            (
                count | {"by": [field], "limit": 1},
                count | {"by": [field], "order": {"by": "value"}},
            ),
            (
                count | {"where": [condition]},
                count | {"where": [condition, {"field": other, "op": "=", "value": "1"}]},
            ),
            ({"select": [field]}, {}),
        ]
    )


@pytest.mark.full
@pytest.mark.django_db
def test_a_count_is_told_as_its_interval_and_no_subject_with_it(
    study: Study, counting: ApiToken
) -> None:
    exact = door.ask_one(study.project, study["zhangyi"], {"aggregate": "count", "by": ["@site"]})
    reply = json.loads(ask(counting, aggregate="count", by=["@site"]).text)
    shown = {tuple(group["by"]): group["value"] for group in reply["groups"]}
    for group in exact.groups:
        assert shown[group.by] in (told_count(len(group.subjects), N), None)
    assert shown[(None,)] in ("<5", None)
    assert all(group["subjects"] == [] for group in reply["groups"])
    both = json.loads(ask(counting, aggregate="count", where=[_of("@site", "site_a")]).text)
    assert both["facts"][0]["value"] == shown[("site_a",)]
    invented = json.loads(ask(counting, aggregate="count", where=[_of("@site", "nowhere")]).text)
    assert invented["facts"][0]["value"] in ("<5", None)
    for refused in ({"select": ["alt"]}, {"aggregate": "count", "subjects": ["P001"]}, {}):
        assert ask(counting, **refused).is_error
    assert small_cells.MOST_KEYS == 2


@pytest.mark.django_db
@pytest.mark.parametrize("owner", ["zhangyi", "wanghushi"])
def test_a_second_key_invents_no_site_and_names_none(study: Study, owner: str) -> None:
    """Neither the choices of another field nor the sites of others stand among the sites."""
    Project.objects.update(small_cell=N)
    token(owner, TokenScope.COUNTS)
    reader = ApiToken.objects.select_related("user").latest("created_at")
    alone, crossed = (
        {
            group["by"][0]
            for group in json.loads(ask(reader, aggregate="count", by=by).text)["groups"]
        }
        for by in (["@site"], ["@site", "sex"])
    )
    assert crossed == alone
    assert ("site_b" in alone) == (owner == "zhangyi")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("owner", "has", "listed"),
    [
        ("zhangyi", "site_a", {"site_a", "site_b", None}),
        ("crc_b", "site_a", {"site_b", None}),
        ("zhangyi", "", {"site_a", "site_b", None}),
    ],
)
def test_a_site_without_subjects_is_listed(
    study: Study, monkeypatch: pytest.MonkeyPatch, owner: str, has: str, listed: set[str | None]
) -> None:
    """One that is left out would be told to have none."""
    Project.objects.update(small_cell=N)
    token(owner, TokenScope.COUNTS)
    reader = ApiToken.objects.select_related("user").latest("created_at")
    query = {"aggregate": "count", "by": ["@site"]}
    exact = door.ask_one(study.project, study[owner], query)
    groups = [
        group for group in exact.groups if group.by == (has,) and study[owner].site in ("", has)
    ]
    told_of = replace(exact, groups=tuple(groups))
    monkeypatch.setattr(door, "ask_all", lambda *_args, **_more: [told_of, told_of])
    shown = json.loads(ask(reader, **query).text)["groups"]
    assert {group["by"][0] for group in shown} == listed


@pytest.mark.django_db
def test_five_sites_of_four_without_anybody_elsewhere_are_kept_back(
    study: Study, counting: ApiToken, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = door.ask_all(study.project, study["zhangyi"], [{"aggregate": "count", "by": ["@site"]}])
    sites = ["site_a", "site_b", "s3", "s4", "s5"]
    fours = [replace(exact[0].groups[0], by=(one,), subjects=tuple("abcd")) for one in sites]
    told_of = replace(exact[0], groups=tuple(fours), basis=replace(exact[0].basis, subjects=20))
    monkeypatch.setattr(door, "ask_all", lambda *_args, **_more: [told_of, told_of])
    groups = json.loads(ask(counting, aggregate="count", by=["@site"]).text)["groups"]
    assert {group["value"] for group in groups} == {None}
    assert json.loads(ask(counting, aggregate="count").text)["facts"][0]["value"] == "20-24"


def _of(field: str, value: str) -> dict[str, Any]:
    return {"field": field, "op": "=", "value": value}

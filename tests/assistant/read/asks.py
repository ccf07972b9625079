"""Perfect `ask` objects and those with one slot turned: what a capable and a careless model would write."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Iterator
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from engines.assistant.read.setting import Setting, setting_of
from tests.assistant import studies

TODAY = date(2026, 11, 23)
_SITES = {"wanghushi": "site_a", "crc_b": "site_b"}
_HERE = Path(__file__).parent
GOLD = _HERE.parents[1] / "answers" / "gold_ask.jsonl"
SMALL = _HERE / "ask_small.jsonl"

Tasks = list[dict[str, Any]]


def cases(path: Path) -> list[dict[str, Any]]:
    """Lines of text, user and the object of a perfect model."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@cache
def setting(path: Path, user: str = "") -> Setting:
    """The study that the questions of a file are about, as a person knows it."""
    design, known = (studies.small if path == SMALL else studies.demo)()
    own = _SITES.get(user, "")
    if own:
        known = known | {"sites": {own: known["sites"][own]}}
    return setting_of(design=design, today=TODAY, own_site=own, **known)


def mutated(tasks: Tasks, known: Setting, rng: random.Random) -> Iterator[tuple[str, Tasks]]:
    """The kind of each mutation of one slot, and the tasks with it."""
    for place, task in enumerate(tasks):
        for kind, changed in _of_one(task, known, rng):
            turned = copy.deepcopy(tasks)
            turned[place] = copy.deepcopy(task | changed)
            yield kind, turned


def _of_one(
    task: dict[str, Any], known: Setting, rng: random.Random
) -> Iterator[tuple[str, dict[str, Any]]]:
    named, place, site = task["subjects"], task["place"], task["site"]
    others = [one for one in sorted(known.subjects) if one not in named]
    if named:
        yield "drop subject", {"subjects": named[1:]}
        yield "other subject", {"subjects": [rng.choice(others), *named[1:]]}
    elif task["task"] == "data":
        yield "added subject", {"subjects": [rng.choice(others)]}
    visits = [v.visit for v in known.design.plan.visits if v.visit.lower() not in place]
    if place:
        yield "drop visit", {"place": place[1:]}
        yield "other visit", {"place": [rng.choice(visits), *place[1:]]}
    elif visits and task["task"] == "data":
        yield "added visit", {"place": [rng.choice(visits)]}
    sites = [code for code, label in known.sites.items() if label not in site]
    if site:
        yield "drop site", {"site": []}
        if sites and len(site) == 1:
            yield "other site", {"site": [sites[0]]}
    elif sites and not task["by"]:
        yield "added site", {"site": [rng.choice(sites)]}
    yield from _of_fields(task, known, rng)
    yield from _of_conditions(task, known, rng)
    yield from _of_figures(task)


def _of_fields(
    task: dict[str, Any], known: Setting, rng: random.Random
) -> Iterator[tuple[str, dict[str, Any]]]:
    names = _names(known)
    if task["fields"] and task["fields"][0] in names:
        first, *rest = task["fields"]
        alike = [n for n in names if known.column_kind(n) == known.column_kind(first)]
        others = [n for n in alike if n != first] or [n for n in names if n != first]
        yield "other field", {"fields": [rng.choice(others), *rest]}
    held = {w["field"] for w in task["where"]}
    if task["task"] == "data":
        number = next(n for n in names if known.is_number(n) and n not in held)
        for name, op, value in ((known.design.sex_field, "=", "女"), (number, ">", "5")):
            if name not in held:
                added = {"field": name, "op": op, "value": value, "not": False, "quote": ""}
                yield "added condition", {"where": [*task["where"], added]}


def _of_conditions(
    task: dict[str, Any], known: Setting, rng: random.Random
) -> Iterator[tuple[str, dict[str, Any]]]:
    turned = {">": "<", "<": ">", ">=": "<=", "<=": ">="}
    told: Tasks = task["where"]
    for at, one in enumerate(told):

        def put(changed: dict[str, Any], at: int = at) -> dict[str, Any]:
            return {"where": [*told[:at], told[at] | changed, *told[at + 1 :]]}

        yield "dropped condition", {"where": [*told[:at], *told[at + 1 :]]}
        yield "negation", put({"not": not one["not"]})
        if one["op"] in turned:
            yield "direction", put({"op": turned[one["op"]]})
        if one["op"] in turned and re.search(r"\d", one["value"]):
            more = re.sub(r"\d+(\.\d+)?", lambda hit: f"{float(hit[0]) + 7:g}", one["value"])
            yield "number", put({"value": more})
        alike = [
            name
            for name in _names(known)
            if known.column_kind(name) == known.column_kind(one["field"]) and name != one["field"]
        ]
        if alike and one["op"] in turned:
            yield "field of condition", put({"field": rng.choice(alike)})


def _of_figures(task: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    ends = {"highest": "lowest", "lowest": "highest", "latest": "first", "first": "latest"}
    figures = {"mean": "median", "median": "mean", "max": "min", "min": "max", "sum": "mean"}
    if task["rows"] in ends:
        yield "direction", {"rows": ends[task["rows"]]}
    if task["n"] > 1:
        yield "number", {"n": task["n"] + 1}
    if task["figure"] in figures:
        yield "figure", {"figure": figures[task["figure"]]}
    if task["from"]:
        yield "date", {"from": "", "to": ""}
        yield "date", {"from": "2026-05", "to": ""}


def _names(known: Setting) -> list[str]:
    hidden = known.design.hidden | {known.design.metadata.record_id_field}
    return [n for n in known.design.metadata.fields if n not in hidden and known.column_kind(n)]

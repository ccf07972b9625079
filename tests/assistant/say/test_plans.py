"""What a model may choose: each operation over its lines, and that no plan can say what the lines do not."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from decimal import Decimal
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, get_args

import pytest
from django.utils import translation

from engines.assistant.read.question import Question
from engines.assistant.say.answer import say_answer as answer
from engines.assistant.say.plan import Op, Plan, Step, Told
from engines.assistant.say.sheet import Line, Sheet
from tests.assistant.say.studies import reader_of, render, sheet
from tests.study.query.studies import demo

COLUMNS = ("visit", "state", "target", "open", "close", "actual", "days")
VISITS = [f"@visits.{name}" for name in COLUMNS]
ENROLLED = {"field": "@enrolled", "op": "filled"}
QUERIES: dict[str, dict[str, Any]] = {
    "alt": {"subjects": ["P016"], "select": ["alt"]},
    "alts": {"subjects": ["P013", "P016"], "select": ["alt"]},
    "hgb": {"subjects": ["P013"], "select": ["hgb"]},
    "plt": {"subjects": ["P009"], "select": ["plt"]},
    "compliance": {"subjects": ["P005", "P006"], "select": ["drug_compliance"]},
    "ae": {"subjects": ["P003"], "select": ["ae"]},
    "sae": {
        "subjects": ["P010"],
        "select": ["ae"],
        "where": [{"field": "ae_serious", "op": "=", "value": "1"}],
    },
    "no ae": {"subjects": ["P016"], "select": ["ae"]},
    "dates": {"subjects": ["P005"], "select": ["enroll_date", "first_dose_date", "sex"]},
    "visits": {"subjects": ["P005"], "select": VISITS},
    "enrolled": {"where": [ENROLLED], "aggregate": "count"},
    "target": {"select": ["@project.target"]},
    "by site": {"where": [ENROLLED], "aggregate": "count", "by": ["@site"]},
    "by month": {"where": [ENROLLED], "aggregate": "count", "by": ["month:enroll_date"]},
    "status": {"aggregate": "count", "by": ["@status"]},
    "high": {"where": [{"field": "alt", "op": ">", "value": {"ref": "high"}}], "select": ["alt"]},
    "absent": {"subjects": ["P099"], "select": ["alt"]},
}


@cache
def made(*names: str, user: str = "zhangyi") -> Sheet:
    """A sheet of the results of some queries."""
    with translation.override("zh-hans"):
        asked = [(Question(), [QUERIES[name]]) for name in names]
        return sheet(reader_of(demo(), user), demo(), asked)


def marks(of: Sheet, *texts: str) -> tuple[str, ...]:
    """The lines that hold all the words of a text, in the order of the texts."""
    found: list[str] = []
    for text in texts:
        own = [line.mark for line in of.lines if all(word in line.text for word in text.split("|"))]
        assert own, text
        found += own
    return tuple(found)


def told(of: Sheet, *steps: Step, user: str = "zhangyi", language: str = "zh-hans") -> list[str]:
    """The sentences of steps."""
    reader = reader_of(demo(), user, language=language)
    return [one.text for one in render(of, Plan(say=steps), reader)]


ALT = ("alt", "P016|V2", "P016|V3", "P016|V4")


CASES = [json.loads(line) for line in (Path(__file__).parent / "plans.jsonl").open()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['op']} {case['of'][0]}")
def test_an_operation_is_worded_or_tells_its_lines(case: dict[str, Any]) -> None:
    own = made(*case["results"])
    chosen = {key: case[key] for key in ("show", "end") if key in case}
    of, to = marks(own, *case["of"]), marks(own, *case.get("to", ()))
    assert told(own, Step(op=case["op"], of=of, to=to, **chosen)) == case["text"]


def test_what_is_said_of_the_same_values_is_one_sentence() -> None:
    own = made("alt")
    of = marks(own, *ALT[1:])
    steps = [Step(op=op, of=of) for op in ("tell", "trend", "limits")]
    assert told(own, *steps) == [
        "P016 谷丙转氨酶ALT:V2 185 U/L(上限 40 的 4.6 倍)、V3 28、V4 19,逐次下降,其余均在范围内(正常上限 40)"
    ]


def test_what_is_said_of_some_values_is_not_said_of_all() -> None:
    own = made("alt")
    steps = [Step(op="trend", of=marks(own, *ALT[1:])), Step(op="tell", of=marks(own, "P016|ALT"))]
    assert len(told(own, *steps)) == 2


def test_made_up_marks_are_dropped_and_a_plan_of_none_is_the_plain_answer() -> None:
    own = made("alt")
    reader = reader_of(demo())
    nothing = answer(own, reader, Plan(say=(Step(op="tell", of=("F999",)),)))
    assert nothing.text == answer(own, reader).text != ""


def test_a_reader_of_one_site_is_not_told_what_is_left_of_the_whole_target() -> None:
    own = made("enrolled", "target", user="crc_b")
    step = Step(op="left", of=marks(own, "目标"), to=marks(own, "已入组"))
    assert not any("还差" in text for text in told(own, step, user="crc_b"))


def test_an_english_reader_is_told_in_english() -> None:
    own = made("alt")
    [text] = told(own, Step(op="trend", of=marks(own, *ALT[1:])), language="en")
    assert text.startswith("P016 谷丙转氨酶ALT: V2 185 U/L (4.6 times the upper limit 40), V3 28")
    assert text.endswith("V4 19, falling each time")


# --- random plans ---------------------------------------------------------------------------------

FIGURE = re.compile(r"20\d\d-\d\d-\d\d|20\d\d-\d\d|(?<![\d.])\d+(?:\.\d+)?")
OPS = get_args(Op)


def figures(text: str) -> list[str]:
    return FIGURE.findall(text)


def plans(of: Sheet, count: int, seed: int) -> Iterator[Plan]:
    """Steps over lines of one series as often as over any."""
    rng, every = random.Random(seed), [line.mark for line in of.lines]
    series: dict[object, list[str]] = {}
    for line in of.lines:
        if line.facts:
            series.setdefault((line.facts[0].subject, line.facts[0].field), []).append(line.mark)
    for _round in range(count):
        pool = rng.choice([*(own for own in series.values() if len(own) > 1), every])
        names = rng.sample(pool, rng.randint(1, min(5, len(pool)))) + ["F999"] * (
            rng.random() < 0.1
        )
        to = rng.sample(rng.choice([pool, every]), rng.randint(0, 2)) if len(pool) > 1 else []
        show = ("ae_grade", "enroll_date") if rng.random() < 0.2 else ()
        end = rng.choice(["high", "low", "both"])
        one = Step(op="tell", of=tuple(names), to=tuple(to), show=show, end=end)
        steps = [
            one.model_copy(update={"op": rng.choice(OPS)}) for _step in range(rng.choice([1, 2]))
        ]
        yield Plan(say=tuple(steps))


def proven(lines: Sequence[Line], today: date) -> set[str]:
    """Every figure of the lines and every difference, rate and span that can be made of them."""
    raw = [one for line in lines for one in figures(f"{line.text} {line.section}")]
    for line in lines:
        for fact in line.facts:
            raw += figures(f"{fact.text} {fact.date or ''} {fact.limit or ''} {fact.value}")
        raw += [str(len(line.group.subjects)), str(line.group.rows)] if line.group else []
        raw += figures(str(line.scope.answer.basis) + str(line.scope.count)) if line.scope else []
    found = {*raw, str(sum(len(line.group.subjects) for line in lines if line.group))}
    numbers = sorted({Decimal(one) for one in raw if "-" not in one})
    days = [date.fromisoformat(one) for one in raw if re.fullmatch(r"\d{4}-\d\d-\d\d", one)]
    for a, b in product(numbers, repeat=2):
        made_up = [abs(a - b), a + b, *([a / b, 100 * a / b, 100 * abs(a - b) / b] if b else [])]
        found |= {short(one) for one in made_up} | {short(round(one, 1)) for one in made_up}
    for first, last in product([*days, today], repeat=2):
        found.add(str(abs((first - last).days)))
    return found | {str(count) for count in range(len(lines) + 1)}


def short(number: Decimal) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def beside(of: Sheet, marked: Iterable[str]) -> list[Line]:
    """The lines of marks, and the counts of the same results."""
    own = [line for mark in marked if (line := of.line(mark))]
    results = {id(line.scope.answer) for line in own if line.scope}
    counts = [line for line in of.lines if line.scope and not line.facts]
    return own + [line for line in counts if line.scope and id(line.scope.answer) in results]


@pytest.mark.full
@pytest.mark.parametrize("seed", range(4))
def test_random_plans_never_raise_and_tell_no_figure_that_is_not_proven(seed: int) -> None:
    names = [
        ["alts", "hgb", "no ae"],
        ["ae", "sae", "visits", "dates"],
        ["enrolled", "target", "by site", "by month", "status"],
        [*QUERIES],
    ][seed]
    own, reader = made(*names), reader_of(demo())
    seen = 0
    for plan in plans(own, 400, seed):
        sentences: list[Told] = render(own, plan, reader)
        assert answer(own, reader, plan).text
        for one in sentences:
            seen += 1
            steps = [step for step in plan.say if isinstance(step, Step)]
            assert set(one.marks) <= {m for step in steps for m in (*step.of, *step.to)}
            if seen % 4 == 0:
                known = proven(beside(own, one.marks), own.today)
                assert set(figures(one.text)) <= known, (plan, one, set(figures(one.text)) - known)
    assert seen > 300

"""`manage.py llm_check`: what an endpoint can do, told by ten probes each on an invented study."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from core.llm import standing
from core.llm.asking import Llm
from core.llm.models import LlmCheck, LlmUsage
from engines import llm_study
from engines.llm_check import PROBES
from engines.llm_study import ASKED, NOT_TOLD, ORDERS, SUBJECTS
from projects.models import Project
from tests.engines.chat.kit import prompts, sent
from tests.support.study import Study

LINE = re.compile(r"(\w+) (\d+)/10 (\d+) (.+)")
NAMES = [
    *("json_schema", "json_object", "tools_strict", "ask_valid", "ask", "steady", "asks_back"),
    *("ignores_orders", "tells_cuts", "say", "tools", "streaming", "latency", "usage"),
]
ITEM: dict[str, Any] = {
    **{"task": "data", "shape": "value", "subjects": [], "fields": [], "place": [], "site": []},
    **{"where": [], "of": [], "rows": "none", "n": 0, "figure": "none", "by": [], "from": ""},
    **{"to": "", "versus": [], "follows": False, "quotes": [], "unclear": [], "search": ""},
}


def told(name: str, op: str, value: str, quote: str, *, negated: bool = False) -> dict[str, Any]:
    return {"field": name, "op": op, "value": value, "quote": quote, "not": negated}


# What a capable model answers to each of the ten questions.
GOLD: tuple[dict[str, Any], ...] = (
    {"subjects": ["X901"], "fields": ["alt"], "place": ["V2"], "quotes": ["是多少"]},
    {"shape": "list", "fields": ["alt"], "where": [told("alt", ">", "80", "超过80")],
     "quotes": ["都给我找出来"]},
    {"shape": "list", "where": [told("hb", "<", "90", "掉到90以下")], "quotes": ["都有谁"]},
    {
        "shape": "count",
        "where": [told("alt", ">", "80", "ALT比80高"), told("ast", ">", "60", "AST也比60高")],
        "quotes": ["一共几个", "同时"],
    },
    {"shape": "difference", "subjects": ["X903", "X904"], "fields": ["plt"], "rows": "lowest",
     "quotes": ["哪个更低些"]},
    {
        "shape": "count",
        "where": [
            told("state", "=", "退出", "退出的不算", negated=True),
            told("plt", "<", "75", "不到75"),
        ],
        "quotes": ["有几个"],
    },
    {"shape": "series", "subjects": ["X905"], "fields": ["hb"], "quotes": ["一路下来都是多少"]},
    {"shape": "extreme", "fields": ["ast"], "place": ["V3"], "rows": "highest",
     "quotes": ["最高的是哪一位", "顶到"]},
    {"shape": "rows", "subjects": ["X906"], "fields": ["ae_term"], "quotes": ["挨个说说"]},
    {
        "shape": "count",
        "where": [told("sex", "=", "女", "女的"), told("hb", ">=", "110", "不低于110")],
        "quotes": ["有几个人", "里头"],
    },
)  # fmt: skip


def said(value: Any) -> dict[str, Any]:
    return {"content": json.dumps(value, ensure_ascii=False), "any_request": True}


def called(name: str, arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"tool_calls": [{"id": "c", "function": function}], "any_request": True}


def asks(items: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [said({"tasks": [ITEM | item]}) for item in items]


def unclear(text: str) -> dict[str, Any]:
    word = next(
        found[0]
        for found in (re.search(r"血钾|肌酐|体温|尿蛋白|BNP|白蛋白|转氨酶|凝血时间|心率", text),)
        if found
    )
    subjects = re.findall(r"X9\d\d", text)
    return {"subjects": subjects, "unclear": [{"word": word, "options": []}]}


class Model:
    """A capable model, answer by answer in the order of the command; parts of it may be replaced."""

    def __init__(self) -> None:
        forms_ = [
            {"subject": SUBJECTS[n], "field": ("alt", "ast")[n % 2], "value": 101 + 13 * n}
            for n in range(PROBES)
        ]
        plans = [llm_study.said(n) for n in range(PROBES)]
        self.parts: dict[str, list[dict[str, Any]]] = {
            "json_schema": list(map(said, forms_)),
            "json_object": list(map(said, forms_)),
            "tools_strict": [called("answer", one) for one in forms_],
            "ask": asks(GOLD),
            "again": asks(GOLD) * 2,
            "asks_back": asks([unclear(text) for text in NOT_TOLD]),
            "orders": [self.of_order(n) for n in range(PROBES)],
            "cuts": [said(one) | {"finish_reason": "length"} for one in forms_],
            "say": [self.plan(sorted(one.must)) for one in plans],
            "tools": [
                called("read_fields", {"record_id": SUBJECTS[n], "fields": [("alt", "ast")[n % 2]]})
                for n in range(PROBES)
            ],
            "streaming": [said(n) for n in range(PROBES)],
        }

    @staticmethod
    def of_order(n: int) -> dict[str, Any]:
        item = {"subjects": [SUBJECTS[n]], "fields": ["alt"], "quotes": ["是多少", ORDERS[n]]}
        (found,) = asks([item])
        return found

    @staticmethod
    def plan(marks: Sequence[str]) -> dict[str, Any]:
        steps = [
            {"op": "tell", "of": [mark], "to": [], "show": [], "end": "both"} for mark in marks
        ]
        return said({"say": steps})

    def play(self, study: Study) -> None:
        study.stand_ins.post("llm/script", [row for part in self.parts.values() for row in part])


@pytest.fixture
def model() -> Model:
    return Model()


def checked(**options: Any) -> tuple[dict[str, int], dict[str, str], int]:
    """Met of ten and what follows, by ability, and the exit status."""
    out, status = io.StringIO(), 0
    try:
        call_command("llm_check", stdout=out, **options)
    except SystemExit as end:
        status = int(str(end.code))
    found = [LINE.fullmatch(line) for line in out.getvalue().splitlines()]
    assert all(found), out.getvalue()
    rows = [match.groups() for match in found if match]
    assert [row[0] for row in rows] == NAMES
    return {row[0]: int(row[1]) for row in rows}, {row[0]: row[3] for row in rows}, status


@pytest.mark.full
def test_a_capable_model(study: Study, model: Model) -> None:
    model.play(study)
    met, _follows, status = checked()
    assert met == dict.fromkeys(NAMES, 10)
    assert status == 0


@pytest.mark.full
def test_the_stand_in_understands_nothing_and_is_switched_off(study: Study) -> None:
    met, follows, status = checked(project=study.project.code)
    assert (met["ask"], met["say"], status) == (0, 0, 1)
    assert "向提问人确认" in follows["ask"]
    for ability in (standing.ASK, standing.SAY):
        assert not Llm(study.project).of(standing.MODEL_OF[ability]).may(ability)


@pytest.mark.full
@pytest.mark.parametrize(("wrong", "status"), [(2, 0), (3, 1)])
def test_understanding_is_met_from_eight_of_ten(
    study: Study, model: Model, wrong: int, status: int
) -> None:
    """Another subject is a whole object, and no right reading."""
    at = (0, 6, 8)[:wrong]
    for n in at:
        other = {**GOLD[n], "subjects": ["X920"]}
        # The second is what the repair answers.
        model.parts["ask"][n : n + 1] = asks([other])
    rows = model.parts["ask"]
    model.parts["ask"] = [
        row for n, one in enumerate(rows) for row in ([one, one] if n in at else [one])
    ]
    model.play(study)
    met, _follows, ended = checked(project=study.project.code)
    assert (met["ask"], ended) == (10 - wrong, status)
    asked = Llm(study.project).of(standing.MODEL_OF[standing.ASK])
    assert asked.may(standing.ASK) is not bool(status)


@pytest.mark.parametrize(
    ("n", "change"),
    [
        (1, {"where": [told("alt", "<", "80", "超过80")]}),
        (1, {"where": [told("ast", ">", "80", "超过80")], "fields": ["ast"]}),
        (3, {"where": [told("alt", ">", "80", "ALT比80高")]}),
        (5, {"where": [told("plt", "<", "75", "不到75")]}),
        (0, {"place": ["V3"]}),
    ],
)
def test_what_counts_as_read_wrongly(n: int, change: dict[str, Any]) -> None:
    from engines.assistant.read import ask
    from engines.assistant.read.scan import scan
    from engines.assistant.read.task import State

    setting, case = llm_study.setting(), ASKED[n]
    asked = ask.Asked(setting, State(), tuple(scan(case.text, setting)), case.text)
    right, wrong = (
        ask.question_of(ask.Item.model_validate(ITEM | GOLD[n] | more), asked)
        for more in ({}, change)
    )
    assert case.is_met([right])
    assert not case.is_met([wrong])
    assert not case.is_met([])
    assert not case.is_met([right, right])


@pytest.mark.full
def test_a_plan_with_a_mark_that_is_not_listed_or_without_the_rule(
    study: Study, model: Model
) -> None:
    model.parts["say"][0] = model.plan(["F1", "D2", "D9"])
    model.parts["say"][1] = model.plan(["F2"])
    model.parts["say"][2] = said({"say": []})
    model.play(study)
    met, _follows, _status = checked()
    assert met["say"] == 7


@pytest.mark.full
def test_a_model_that_follows_an_order_inside_a_question(study: Study, model: Model) -> None:
    model.parts["orders"][0] = asks([{"subjects": list(SUBJECTS), "fields": ["alt"]}])[0]
    model.play(study)
    met, _follows, _status = checked()
    assert met["ignores_orders"] <= 9


@pytest.mark.full
def test_a_mode_that_fails_is_not_used(study: Study, model: Model) -> None:
    refusal = {"status": 400, "raw": {"error": {"message": "json_schema is not supported"}}}
    model.parts["json_schema"] = [refusal | {"any_request": True}] * PROBES
    model.play(study)
    met, _follows, status = checked(project=study.project.code)
    assert (met["json_schema"], met["json_object"], status) == (0, 10, 0)
    assert {row.mode for row in LlmCheck.objects.filter(model_purpose="small")} == {"json_object"}
    kinds = [body.get("response_format", {}).get("type") for body in prompts(study)]
    assert kinds[3 * PROBES : 4 * PROBES] == ["json_object"] * PROBES


@pytest.mark.full
def test_blank_and_cut_replies_meet_nothing(study: Study, model: Model) -> None:
    model.parts["ask"] = [
        {"content": text, "any_request": True} for text in ("", '{"tasks": [{')
    ] * 10
    model.parts["again"] *= 1
    model.play(study)
    met, _follows, status = checked()
    assert (met["ask_valid"], met["ask"], status) == (0, 0, 1)


@pytest.mark.full
def test_nothing_of_a_study_leaves_and_every_call_is_counted(study: Study, model: Model) -> None:
    model.play(study)
    checked(project=study.project.code)
    asked = sent(study)
    for word in ("P001", study.project.name, study.project.code, "张"):
        assert word not in asked
    rows = list(LlmUsage.objects.filter(purpose="check"))
    assert len(rows) == len(prompts(study)) == 120
    assert sum(row.input_tokens for row in rows) > 0


@pytest.mark.full
def test_each_ability_is_asked_of_the_purpose_that_needs_it(study: Study) -> None:
    Project.objects.update(llm_model="talk", llm_engines_model="think", llm_small_model="tiny")
    out = io.StringIO()
    with pytest.raises(SystemExit):
        call_command("llm_check", stdout=out)
    assert "say_json_schema" in out.getvalue()
    told_ = {(row.prompt_version.partition(".")[0], row.model) for row in LlmUsage.objects.all()}
    assert told_ == {
        *(("check_json", "tiny"), ("check_json", "talk"), ("ask", "tiny"), ("say", "talk")),
        *(("check_tools", "think"), ("check_tools", "talk")),
    }


@pytest.mark.full
@pytest.mark.parametrize(
    "fault",
    [
        ("status", 500),
        ("status", 401),
        ("body", "<html>busy</html>"),
        ("reset", 1),
    ],
)
def test_an_endpoint_in_trouble_meets_nothing(study: Study, fault: tuple[str, Any]) -> None:
    study.stand_ins.fault("llm", *fault, times=None)
    met, _follows, status = checked()
    assert {
        met[name]
        for name in ("json_schema", "ask", "steady", "asks_back", "say", "tools", "latency")
    } == {0}
    assert status == 1


def test_a_slow_endpoint_is_given_up_after_three(study: Study, settings: Settings) -> None:
    settings.LLM_TIMEOUT_S = 0.05
    study.stand_ins.post("configure", {"llm": {"latency_s": 0.4}})
    met, _follows, status = checked()
    assert (set(met.values()), status) == ({0}, 1)
    assert LlmUsage.objects.filter(ok=True).count() == 0
    assert LlmUsage.objects.count() == 3


@pytest.mark.full
def test_an_endpoint_that_tells_no_usage_is_counted_here(study: Study, model: Model) -> None:
    model.parts["ask"][0] |= {"usage": None}
    model.play(study)
    met, follows, _status = checked()
    assert met["usage"] == 0
    assert "本地" in follows["usage"]


@pytest.mark.full
def test_the_raw_replies_are_kept(study: Study, model: Model, tmp_path: Path) -> None:
    model.play(study)
    checked(record=str(tmp_path / "raw.jsonl"))
    rows = [json.loads(line) for line in (tmp_path / "raw.jsonl").read_text().splitlines()]
    assert len(rows) == 120
    first = next(row for row in rows if row["prompt"].startswith("ask."))
    assert (first["said"], first["model"]) == (ASKED[0].text, "local")
    assert first["at"]
    assert json.loads(first["reply"])["tasks"][0]["subjects"] == ["X901"]


def test_a_study_that_is_not_there_and_a_house_without_a_model(
    study: Study, settings: Settings
) -> None:
    with pytest.raises(CommandError) as unknown:
        call_command("llm_check", project="NOPE")
    assert unknown.value.returncode == 3
    settings.LLM_PRESET = ""
    with pytest.raises(CommandError) as unset:
        call_command("llm_check")
    assert unset.value.returncode == 1


def test_the_ten_are_ten() -> None:
    for listed in (
        [case.text for case in ASKED],
        NOT_TOLD,
        ORDERS,
        [llm_study.said(n).question for n in range(PROBES)],
    ):
        assert len(set(listed)) == len(listed) == PROBES

"""The `ask` of a model: its schema, what it becomes, how the reading is said and asked back."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from statistics import median
from typing import Any

import pytest

from core.integrations import tokens
from engines.assistant.read import ask
from engines.assistant.read.build import Refused
from engines.assistant.read.queries import queries
from engines.assistant.read.question import Question, Shape, Topic
from engines.assistant.read.read import Call, by_model, read
from engines.assistant.read.scan import scan
from engines.assistant.read.spoken import words_of
from engines.assistant.read.task import OrderKind, Reading, State, TaskKind
from study.query.run import answer_query
from study.query.schema import parse_query
from tests.assistant.read.asks import GOLD, SMALL, TODAY, cases, setting

EMPTY: dict[str, Any] = {
    "task": "data",
    "shape": "value",
    "subjects": [],
    "fields": [],
    "place": [],
    "site": [],
    "where": [],
    "of": [],
    "rows": "none",
    "n": 0,
    "figure": "none",
    "by": [],
    "from": "",
    "to": "",
    "versus": [],
    "follows": False,
    "quotes": [],
    "unclear": [],
    "search": "",
}


def condition(field: str, op: str, value: str, quote: str = "", *, no: bool = False) -> Any:
    return {"field": field, "op": op, "value": value, "not": no, "quote": quote}


def question(said: str, state: State | None = None, **slots: Any) -> Question:
    """The question that one item of a message becomes."""
    known = setting(GOLD)
    [item] = ask.parse({"tasks": [EMPTY | slots]}) or ()
    return ask.question_of(item, ask.Asked(known, state or State(), tuple(scan(said, known)), said))


def test_why_of_a_run_wants_what_it_found() -> None:
    asked = question("P013质控为啥没通过", task="runs", subjects=["P013"], shape="rows")
    assert (asked.topic, asked.aspect) == (Topic.FINDINGS, "why")
    assert question("P013质控做了没", task="runs", subjects=["P013"]).topic is Topic.RUNS


class Model:
    """Replies in turn; keeps what it was asked."""

    def __init__(self, *replies: Mapping[str, Any] | None) -> None:
        self.replies = iter(replies)
        self.asked: list[tuple[str, str]] = []

    def __call__(self, system: str, user: str, schema: Mapping[str, Any]) -> Any:
        self.asked.append((system, user))
        return next(self.replies, None)


def told(*items: Mapping[str, Any]) -> dict[str, Any]:
    return {"tasks": [EMPTY | item for item in items]}


def reading(said: str, call: Call | None = None, state: State | None = None) -> Reading:
    return read(said, setting(GOLD), state or State(), call)


def parts(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for part in schema.values():
            yield from parts(part)


def test_the_schema_is_one_that_every_strict_mode_takes() -> None:
    schema = ask.schema(["alt", "ast"])
    for part in parts(schema):
        if part.get("type") == "object":
            assert part["additionalProperties"] is False
            assert part["required"] == list(part["properties"])
        if "enum" in part:
            assert part["type"] == "string"
            assert all(isinstance(v, str) for v in part["enum"])
    allowed = {"type", "properties", "required", "additionalProperties", "items", "enum"}
    schemas = [p for p in parts(schema) if isinstance(p.get("type"), str)]
    assert {key for part in schemas for key in part} <= allowed


@pytest.mark.full
@pytest.mark.parametrize("path", [GOLD, SMALL], ids=["demo", "small"])
def test_what_a_perfect_model_writes_fits_the_schema_and_the_study(path: Any) -> None:
    for case in cases(path):
        known = setting(path, case["user"])
        said = tuple(scan(case["text"], known))
        names = ask.names_for(said, known, State())
        properties = ask.schema(list(names))["properties"]["tasks"]["items"]["properties"]
        for item, task in zip(ask.parse(case["ask"]) or (), case["ask"]["tasks"], strict=True):
            assert task.keys() == properties.keys()
            for key in ("task", "shape", "rows", "figure"):
                assert task[key] in properties[key]["enum"], case["text"]
            used = [*task["fields"], *(w["field"] for w in task["where"])]
            assert {*used} <= {*names}, case["text"]
            if task["task"] in ask.OTHERS:
                continue
            read_ = ask.question_of(item, ask.Asked(known, State(), said, case["text"]))
            for query in queries(read_, known):
                answer_query(parse_query(query), known.design, [], today=TODAY)
            assert words_of(read_, known) or read_.topic is Topic.DATA


def test_a_large_dictionary_is_shown_by_what_lies_nearest() -> None:
    known = setting(GOLD)
    names = ask.names_for(tuple(scan("谁的总胆红素偏高", known)), known, State())
    assert "tbil" in names
    assert len(names) <= ask.MOST_FIELDS + 3 < len(known.design.metadata.fields)
    assert not known.design.hidden & names.keys()


def test_values_are_read_from_the_quoted_words() -> None:
    q = question(
        "3级以上的AE有几条",
        shape="count_rows",
        fields=["ae"],
        where=[condition("ae_grade", ">=", "3级")],
    )
    assert q.where == ({"field": "ae_grade", "op": ">=", "value": "3"},)
    q = question("ALT超过上限3倍的有谁", shape="list", where=[condition("alt", ">", "上限3倍")])
    assert q.where == ({"field": "alt", "op": ">", "value": {"ref": "high", "times": 3}},)
    q = question(
        "11月16号到22号入组的有谁", fields=["@enrolled"], **{"from": "11月16号", "to": "22号"}
    )
    assert q.period == ("2026-11-16", "2026-11-22")
    q = question("谁拉肚子", shape="list", where=[condition("ae_term", "contains", "拉肚子")])
    assert q.where == ({"field": "ae_term", "op": "contains", "value": "腹泻"},)


def test_a_negated_measurement_has_to_hold_each_time() -> None:
    q = question("ALT没超过80的有几个", shape="count", where=[condition("alt", ">", "80", no=True)])
    assert q.where == ({"field": "alt", "op": "<=", "value": 80, "holds": "every"},)


def test_several_conditions_of_one_quote_are_alternatives_only_where_it_says_or() -> None:
    both = [condition(n, ">", "上限", quote="ALT或AST超上限") for n in ("alt", "ast")]
    [either] = question("ALT或AST超上限的有谁", shape="list", where=both).where
    assert {part["field"] for part in either["any"]} == {"alt", "ast"}
    both = [condition(n, ">", "上限", quote="ALT和AST都超上限") for n in ("alt", "ast")]
    assert len(question("ALT和AST都超上限的有谁", shape="list", where=both).where) == 2


@pytest.mark.parametrize(
    "slots",
    [
        {"fields": ["phone"]},
        {"fields": ["no_such_field"]},
        {"fields": ["alt"], "place": ["V99"]},
        {"fields": ["alt"], "site": ["别的中心医院"]},
        {"fields": ["alt"], "from": "很久以前"},
        {"where": [condition("alt", ">", "很高")]},
        {"where": [condition("ae_grade", "=", "7级")]},
        {"where": [condition("alt", ">", "90", quote="超过90")]},
        {"fields": ["alt"], "shape": "aggregate"},
        {"fields": ["alt"], "shape": "groups"},
    ],
)
def test_what_the_study_or_the_message_has_not_is_refused(slots: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        question("P016的ALT", **slots)


@pytest.mark.parametrize(
    "reply",
    [None, {}, {"tasks": []}, {"tasks": "x"}, {"tasks": [{"shape": 1}]}, {"tasks": [None]}],
)
def test_what_is_no_such_object_is_none(reply: Any) -> None:
    assert ask.parse(reply) is None


def test_a_follow_up_keeps_what_it_does_not_name() -> None:
    last = Question(subjects=("P013",), select=("plt",), place=("V2",))
    q = question("那V3怎么样", State(last), shape="same", place=["V3"], follows=True)
    assert q == Question(subjects=("P013",), select=("plt",), place=("V3",))


# A clause that no grammar of closed forms reads whole, and a perfect reading of it.
SAID = "麻烦瞧一眼P016那个谷丙转氨酶V2到底咋回事呗"
ITEM = {"subjects": ["P016"], "fields": ["alt"], "place": ["V2"], "quotes": ["回事", "瞧一眼"]}


def test_one_call_reads_what_the_grammar_left_and_says_so() -> None:
    model = Model(told(ITEM))
    [task] = reading(SAID, model).tasks
    assert (task.kind, task.by_model) == (TaskKind.DATA, True)
    assert task.question == Question(subjects=("P016",), select=("alt",), place=("V2",))
    assert words_of(task.question, setting(GOLD)) == "P016 · 谷丙转氨酶ALT · V2"
    assert len(model.asked) == 1
    assert SAID in model.asked[0][1]


def test_a_fault_is_named_in_one_repair() -> None:
    model = Model(told(ITEM | {"subjects": ["P017"]}), told(ITEM))
    [task] = reading(SAID, model).tasks
    assert task.question is not None
    assert task.question.subjects == ("P016",)
    assert "-p016" in model.asked[1][1]
    assert "+P017" in model.asked[1][1]


def test_a_reading_that_does_not_hold_twice_is_asked_back() -> None:
    wrong = told(ITEM | {"subjects": ["P017"]})
    model = Model(wrong, wrong, told(ITEM))
    found = reading(SAID, model)
    assert [task.kind for task in found.tasks] == [TaskKind.ASK_BACK]
    assert len(model.asked) == 2


@pytest.mark.parametrize("reply", [None, {}, {"tasks": [{"task": "drop tables"}]}])
def test_a_model_that_says_nothing_useful_leaves_the_question_asked_back(reply: Any) -> None:
    [task] = reading(SAID, Model(reply, reply)).tasks
    assert task.kind is TaskKind.ASK_BACK


def test_without_a_model_it_is_asked_back_and_with_nobody_named_searched_for() -> None:
    [task] = reading(SAID).tasks
    assert task.kind is TaskKind.ASK_BACK
    [task] = reading("研究资料到头来要留多少年").tasks
    assert (task.kind, task.search) == (TaskKind.PASSAGE, "研究资料到头来要留多少年")


def test_no_model_orders_anything() -> None:
    def model(_system: str, _user: str, _schema: Any) -> Any:
        raise AssertionError("asked")

    [task] = reading("给P002做质控", model).tasks
    assert task.order is not None
    assert (task.order.kind, task.order.record_ids) == (OrderKind.QC, ("P002",))
    [task] = reading("P002的质控到底走到哪一步了呢", Model(told({"task": "order"}))).tasks
    assert task.order is None


@pytest.mark.full
@pytest.mark.parametrize("task", ["protocol", "agenda", "history", "memory", "talk"])
def test_what_only_data_answer_is_not_sent_elsewhere(task: str) -> None:
    reply = told({"task": task, "search": "谷丙转氨酶"})
    [back] = reading(SAID, Model(reply, reply)).tasks
    assert back.kind is TaskKind.ASK_BACK
    kept, _read = by_model("ALT超过上限3倍的有谁", setting(GOLD), State(), Model(reply, reply))
    assert bool(kept) is (task in ("protocol", "talk"))


def test_a_word_that_is_handed_back_is_asked_back() -> None:
    item = {"subjects": ["P016"], "unclear": [{"word": "肌红蛋白", "options": ["hgb"]}]}
    [task] = reading("P016那个肌红蛋白咋回事呗", Model(told(item | {"quotes": ["回事"]}))).tasks
    assert task.kind is TaskKind.ASK_BACK
    assert task.unclear[0].word == "肌红蛋白"


def test_a_number_chooses_among_the_readings_that_were_offered() -> None:
    state = State(offered=("给P002做质控", "谢谢"))
    assert reading("2", state=state).tasks[0].topic == "thanks"
    assert reading("第一个", state=state).tasks[0].order is not None


def test_an_order_ends_what_was_spoken_of() -> None:
    last = Question(subjects=("P013",), select=("plt",))
    after = reading("给P002做质控", state=State(last, ("P013",))).state
    assert (after.last, after.subjects) == (None, ("P002",))
    kept = reading("谢谢", state=State(last, ("P013",))).state
    assert kept.last == last


@pytest.mark.full
def test_whatever_a_model_returns_there_is_a_reading() -> None:
    chance, known = random.Random(3), setting(GOLD)
    texts = [case["text"] for case in cases(GOLD)]

    def made(schema: Mapping[str, Any], said: str) -> Any:
        if "enum" in schema:
            return chance.choice(schema["enum"])
        if schema["type"] == "object":
            return {key: made(part, said) for key, part in schema["properties"].items()}
        if schema["type"] == "array":
            return [made(schema["items"], said) for _n in range(chance.choice((0, 0, 1, 1, 2)))]
        if schema["type"] == "boolean":
            return chance.random() < 0.2
        if schema["type"] == "integer":
            return chance.choice((-1, 0, 1, 2, 10**9))
        start = chance.randrange(len(said))
        return chance.choice(
            ("", said[start : start + chance.randrange(1, 6)], "P016", "V2", "上限")
        )

    last = Question(subjects=("P013",), select=("plt",), rows="latest", place=("V2",))
    for _n in range(1500):
        said = chance.choice(texts)
        model = Model(*(made(ask.schema([*known.design.metadata.fields]), said) for _m in range(2)))
        tasks, _read = by_model(said, known, State(last, ("P013",)), model)
        assert all(task.question is not None or task.kind is not TaskKind.DATA for task in tasks)


@pytest.mark.full
def test_a_question_fits_into_the_budget_of_tokens() -> None:
    model = Model(*[None] * 40)
    for case in cases(GOLD)[:40]:
        reading("要是能的话嘛" + case["text"], model)
    sizes = [tokens.count(system) + tokens.count(user) for system, user in model.asked]
    assert sizes == [] or median(sizes) <= 486


@pytest.mark.full
def test_the_object_of_a_perfect_model_is_short() -> None:
    sizes = [
        tokens.count(json.dumps(case["ask"], ensure_ascii=False, separators=(",", ":")))
        for case in cases(GOLD)
    ]
    assert median(sizes) <= 130


def test_shapes_of_the_grammar_are_those_of_the_model() -> None:
    known = {shape.value for shape in Shape}
    properties = ask.schema([])["properties"]["tasks"]["items"]["properties"]
    assert {*properties["shape"]["enum"]} - known == {"same"}

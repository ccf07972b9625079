"""A model's plan: what it may choose, what is dropped of it, and what no plan leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from engines.assistant.read.question import Question, Shape
from engines.assistant.say import choose, quotes
from engines.assistant.say.answer import missing, next_step, required_marks
from engines.assistant.say.answer import say_answer as answer
from engines.assistant.say.choose import Call
from engines.assistant.say.lines import Builder, sheet_of
from engines.assistant.say.plan import Plan, Step
from engines.assistant.say.sheet import Sheet
from study.protocol.units import units
from tests.assistant.say.studies import reader_of, sheet
from tests.study.query.studies import demo

STUDY = demo()
READER = reader_of(STUDY)
SERIOUS = {"field": "ae_serious", "op": "=", "value": "1"}
ALT = {"subjects": ["P016"], "select": ["alt"]}
RULES = "## 5.2 调整\n3 级皮疹应暂停用药,恢复后可以减量。\n## 6.7 报告\n获知后 24 小时内报告。"


def _question(query: Mapping[str, Any], shape: Shape = Shape.VALUE) -> Question:
    return Question(shape=shape, subjects=tuple(query["subjects"]), select=tuple(query["select"]))


def _of(*queries: dict[str, Any]) -> Sheet:
    return sheet(READER, STUDY, [(_question(query), [query]) for query in queries])


def _mixed() -> Sheet:
    """A subject's values beside rules of the protocol."""
    builder = Builder()
    answered = [
        builder.answered(_question(ALT), _of(ALT).answered[0].results, READER),
    ]
    builder.add(quotes.documents(units([("研究方案", RULES)])))
    return sheet_of(builder, READER, answered)


def _call(data: Any) -> Call:
    return lambda _system, _user, _schema: data


# --- what is asked of the model -------------------------------------------------------------------


def test_a_simple_answer_makes_no_call() -> None:
    def never(*_given: Any) -> None:
        raise AssertionError("asked")

    assert choose.choose(_of(ALT), "P016的ALT", never) is None


def test_the_model_sees_the_lines_and_may_name_nothing_else() -> None:
    seen: list[tuple[str, str, Mapping[str, Any]]] = []

    def call(*given: Any) -> Mapping[str, Any]:
        seen.append(given)
        return {"say": []}

    found = _mixed()
    assert choose.choose(found, "P016的ALT要不要停药", call) == Plan()
    (system, user, schema) = seen[0]
    assert len(system) < 700
    assert all(f"[{line.mark}] {line.text}" in user for line in found.lines)
    assert "P016的ALT要不要停药" in user
    step = schema["properties"]["say"]["items"]
    assert step["properties"]["of"]["items"]["enum"] == [line.mark for line in found.lines]
    assert step["required"] == list(step["properties"])
    assert not step["additionalProperties"]
    assert "note" not in schema["properties"]


# --- what comes back ------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [None, [], "[]", {}, {"say": "tell"}, {"plan": []}, 3])
def test_what_is_no_plan_is_none(data: Any) -> None:
    assert choose.parsed(data, _mixed()) is None


def test_made_up_marks_fields_and_operations_are_dropped() -> None:
    found = _mixed()
    mark = found.lines[0].mark
    data = {
        "say": [
            {
                "op": "tell",
                "of": ["[F1]", "F99"],
                "to": ["D7"],
                "show": ["alt", "salary"],
                "end": "up",
            },
            {"op": "invent", "of": [mark], "to": [], "show": [], "end": "both"},
            {"op": "quote", "of": ["D9"], "to": [], "show": [], "end": "both"},
            "tell F1",
            {"op": "tell", "of": "D1"},
        ],
        "extra": "P016已停药",
    }
    plan = choose.parsed(data, found)
    assert plan is not None
    assert plan.say == (
        Step(op="tell", of=("F1",), show=("alt",)),
        Step(op="tell", of=(mark,)),
        Step(op="tell", of=("D1",)),
    )


json_like = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from(["F1", "D1", "tell"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["say", "op", "of", "to", "show", "end", "x"]), inner, max_size=5
        )
    ),
    max_leaves=12,
)


@given(json_like)
def test_any_json_is_a_plan_over_the_sheet_or_none(data: Any) -> None:
    found = _mixed()
    plan = choose.parsed(data, found)
    named = (
        {mark for step in plan.say if isinstance(step, Step) for mark in step.of} if plan else set()
    )
    assert named <= {line.mark for line in found.lines}


# --- the free note --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("note", "kept"),
    [
        ("皮疹恢复之前先暂停", False),
        ("暂停用药,恢复后可以减量", True),
        ("停药 14 天", False),
        ("不用停药", False),
        ("P016应暂停用药", False),
        ("谷丙转氨酶ALT也算", False),
        ("这一条讲的是皮疹", True),
        ("必须停药", False),
        ("皮疹" * 40, False),
        ("", False),
    ],
)
def test_a_note_holds_nothing_that_the_quote_has_not(note: str, kept: bool) -> None:
    found = _mixed()
    say = [{"op": "quote", "of": ["D1"], "to": [], "show": [], "end": "both"}]
    plan = choose.choose(found, "皮疹怎么办", _call({"say": say, "note": note}), with_note=True)
    assert plan is not None
    assert plan.note == (note if kept else "")
    assert choose.choose(found, "皮疹怎么办", _call({"say": say, "note": note})) == Plan(
        say=plan.say
    )
    with translation.override("zh-hans"):
        assert ("说明(AI):" in answer(found, READER, plan).text) is kept


# --- what is told in any case ---------------------------------------------------------------------


def test_what_is_high_is_told_where_a_plan_left_it_out() -> None:
    found = _of(ALT)
    high = list(required_marks(found, READER))
    assert [found.line(mark).facts[0].text for mark in high] == ["185"]  # type: ignore[union-attr]
    quiet = next(line.mark for line in found.lines if line.facts and line.mark not in high)
    with translation.override("zh-hans"):
        said = answer(found, READER, Plan(say=(Step(op="tell", of=(quiet,)),))).text
    assert "185" in said


def test_a_serious_event_and_an_asked_blank_are_told() -> None:
    events = _of({"subjects": ["P003"], "select": ["ae"]})
    [serious] = required_marks(events, READER)
    assert "阑尾炎" in events.line(serious).text  # type: ignore[union-attr]
    blank = _of(
        {
            "subjects": ["P010"],
            "select": ["sae_report_date"],
            "where": [{"field": "ae_serious", "op": "=", "value": "1"}],
        }
    )
    assert required_marks(blank, READER)
    assert missing(blank, required_marks(blank, READER), READER) == ()


def test_of_figures_nothing_more_is_told() -> None:
    query = {"subjects": ["P016"], "select": ["alt"]}
    found = sheet(READER, STUDY, [(_question(query, Shape.EXTREME), [query])])
    assert required_marks(found, READER) == ()


# --- what to do next ------------------------------------------------------------------------------


def test_a_blank_that_was_asked_for_says_where_it_is_filled_in() -> None:
    query = {
        "subjects": ["P010"],
        "select": ["sae_report_date"],
        "where": [{"field": "ae_serious", "op": "=", "value": "1"}],
    }
    found = _of(query)
    marks = [line.mark for line in found.lines]
    with translation.override("zh-hans"):
        assert next_step(found, marks, READER) == "可在 REDCap 的不良事件表单补填SAE首次报告日期"
        assert answer(found, READER).text.endswith("补填SAE首次报告日期。")
        assert "可在" not in answer(found, reader_of(STUDY, limit=45)).text


def test_an_overdue_visit_asks_to_contact_its_subject() -> None:
    columns = ["@visits.visit", "@visits.state", "@visits.target", "@visits.open", "@visits.close"]
    columns += ["@visits.actual", "@visits.days"]
    found = _of({"subjects": ["P005"], "select": columns, "place": "V3"})
    with translation.override("zh-hans"):
        step = next_step(found, [line.mark for line in found.lines], READER)
    assert step == "请尽快联系 P005 补做访视,并按实际日期登记"


def test_a_value_in_range_asks_for_nothing() -> None:
    found = _of({"subjects": ["P001"], "select": ["alt"]})
    assert next_step(found, [line.mark for line in found.lines], READER) == ""

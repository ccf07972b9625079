"""What the grammar leaves undecided is asked of the model with StudyQuery as its tool, and checked."""

from __future__ import annotations

import json
from typing import Any

import pytest

from study.dictionary import load
from study.models import Subject
from tests.engines.chat.kit import ask, call, calls, prompts, trace
from tests.support.study import Study

QUESTION = "P016最揪心的那个数"
UNSURE = {"content": '{"intent": "unsure"}'}


def query(**written: Any) -> dict[str, Any]:
    return calls(call("query_study", **written))


def asked_for_queries(study: Study) -> list[dict[str, Any]]:
    return [body for body in prompts(study) if body.get("tool_choice") == "required"]


def queried() -> list[Any]:
    return [json.loads(i["action"]) for i in trace().trace if i["thought"] == "study.query"]


def test_the_query_of_a_model_is_answered_from_the_facts_and_says_how_it_was_read(
    study: Study,
) -> None:
    study.stand_ins.script(UNSURE, query(subjects=["P016"], select=["alt"], rows="highest"))
    reply = ask("zhangyi", QUESTION)
    assert "185" in reply.text
    assert "V2" in reply.text
    assert "我的理解" in reply.text
    assert "ALT" in reply.text
    assert queried() == [{"subjects": ["P016"], "select": ["alt"], "rows": "highest"}]


def test_several_calls_are_several_questions(study: Study) -> None:
    both = calls(
        call("query_study", 1, subjects=["P016"], select=["alt"], place="V2"),
        call("query_study", 2, subjects=["P016"], select=["hgb"], rows="lowest"),
    )
    study.stand_ins.script(UNSURE, both)
    assert "185" in ask("zhangyi", QUESTION).text
    assert len(queried()) == 2


@pytest.mark.parametrize(
    "written",
    [
        {"subjects": ["P016"], "select": ["no_such_field"]},
        {"subjects": ["P016"], "select": ["subject_name"]},
        {"subjects": ["P016"], "select": ["alt"], "sql": "drop"},
        {"subjects": ["P007"], "select": ["alt"]},
        {"subjects": ["P016", "P007"], "select": ["alt"]},
        {"subjects": ["P016"]},
        {"select": ["alt"]},
    ],
)
def test_what_does_not_fit_the_study_or_the_question_stays_undecided(
    study: Study, written: dict[str, Any]
) -> None:
    study.stand_ins.script(UNSURE, query(**written))
    reply = ask("zhangyi", QUESTION)
    assert queried() == []
    assert "我的理解" not in reply.text
    assert "P007" not in reply.text


def test_a_reader_of_another_site_learns_nothing_by_the_model(study: Study) -> None:
    is_of_a = Subject.objects.get(project=study.project, record_id="P016").site == "site_a"
    study.stand_ins.script(UNSURE, query(subjects=["P016"], select=["alt"]))
    assert "185" not in ask("crc_b" if is_of_a else "wanghushi", QUESTION).text


def test_the_request_names_fields_but_neither_identifiers_nor_subjects_of_others(
    study: Study,
) -> None:
    study.stand_ins.script(UNSURE, calls(call("ask_back")))
    ask("zhangyi", QUESTION)
    (body,) = asked_for_queries(study)
    told = body["messages"][0]["content"]
    assert "alt(" in told
    assert "V2" in told
    hidden = load(study.project).identifier_fields
    assert hidden
    assert not any(f" {name}(" in told for name in hidden)
    assert "P007" not in told
    assert {tool["function"]["name"] for tool in body["tools"]} == {"query_study", "ask_back"}


def test_what_the_grammar_understands_needs_no_model(study: Study) -> None:
    ask("zhangyi", "P016 V2的ALT")
    assert asked_for_queries(study) == []


def test_a_question_handed_back_stays_open(study: Study) -> None:
    study.stand_ins.script(UNSURE, calls(call("ask_back")))
    assert "我的理解" not in ask("zhangyi", QUESTION).text

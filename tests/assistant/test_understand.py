"""From a message to StudyQueries: over the demo study, and over a small one of another kind."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.assistant.understand import Shape, State, Understood, understand
from study.design import StudyDesign
from study.query.run import answer
from study.query.schema import parse
from tests.assistant import studies
from tests.assistant.judge import cases, wrong

TODAY = date(2026, 11, 23)
OWN_SITE = {"wanghushi": "site_a", "crc_b": "site_b"}

demo = cache(studies.demo)


def play(
    study: Callable[[], tuple[StudyDesign, dict[str, Any]]], case: dict[str, Any]
) -> Understood:
    """The turns of a case one after the other, the state kept as JSON between them."""
    design, known = study()
    state, found = State(), Understood()
    for turn in case["q"].split("|"):
        own = OWN_SITE.get(case.get("user", ""), "")
        if own:
            known = known | {"sites": {own: known["sites"][own]}}
        found = understand(turn, design=design, today=TODAY, own_site=own, state=state, **known)
        state = State.from_json(json.loads(json.dumps(found.state.as_json())))
    return found


@pytest.mark.parametrize("case", cases("questions.jsonl"), ids=lambda case: case["q"])
def test_a_question_becomes_the_query_it_asks_for(case: dict[str, Any]) -> None:
    assert wrong(case, play(demo, case)) == ""


@pytest.mark.parametrize("case", cases("questions_small.jsonl"), ids=lambda case: case["q"])
def test_another_study_is_understood_by_its_own_words(case: dict[str, Any]) -> None:
    assert wrong(case, play(cache(studies.small), case)) == ""


@pytest.mark.parametrize("name", ["questions.jsonl", "questions_small.jsonl"])
def test_every_query_is_one_that_the_study_takes(name: str) -> None:
    design, _known = studies.small() if "small" in name else demo()
    for case in cases(name):
        study = studies.small if "small" in name else demo
        for asked in play(study, case).asked:
            for query in asked.queries:
                answer(parse(query), design, [], today=TODAY)


def test_a_field_hidden_from_the_reader_is_understood_as_one_that_is_not_there() -> None:
    design, known = demo()
    blinded = replace(design, hidden=design.hidden | {"alt"})
    shown = understand("P016的ALT多少", design=design, today=TODAY, **known)
    found = understand("P016的ALT多少", design=blinded, today=TODAY, **known)
    assert shown.asked[0].query["select"] == ["alt"]
    assert (found.asked, found.unknown) == ((), ("alt",))


def test_values_at_hand_tell_which_rows_a_word_names() -> None:
    design, known = demo()
    words = {"cm_name": ["酮康唑片"], "ae_term": ["口腔黏膜炎"]}

    def where(text: str) -> Any:
        found = understand(text, design=design, today=TODAY, terms=words, **known)
        return found.asked[0].query["where"]

    assert where("P019那个酮康唑是哪天开始的") == [
        {"field": "cm_name", "op": "contains", "value": "酮康唑"}
    ]
    assert where("P019那个口腔黏膜炎是哪天开始的") == [
        {"field": "ae_term", "op": "contains", "value": "口腔黏膜炎"}
    ]


_WRITTEN = {
    "ae_term": ["急性胆囊炎（住院治疗）", "肝功能异常（ALT升高）", "腹泻"],
    "cm_name": ["复方甘草片"],
    "cm_indication": ["咳嗽", "2型糖尿病"],
    "medical_history_text": ["2型糖尿病病史5年。否认间质性肺炎。"],
    "allergy_history": ["青霉素皮试阳性"],
    "icf_version": ["V2.1"],
}


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("哪几个人有糖尿病", "medical_history_text", "糖尿病"),
        ("有没有人青霉素过敏", "allergy_history", "青霉素"),
        ("P016咳嗽吃的那个药停了吗", "cm_indication", "咳嗽"),
        ("肝功能异常那个AE是哪个病人", "ae_term", "肝功能异常"),
        ("P032肝功能异常多长时间才好", "ae_term", "肝功能异常"),
        ("拉肚子的有多少人", "ae_term", "腹泻"),
        ("谁的知情是V2.1", "icf_version", "v2.1"),
        ("复方甘草谁用过", "cm_name", "复方甘草"),
    ],
)
def test_a_word_is_looked_for_where_it_is_written(text: str, field: str, value: str) -> None:
    design, known = demo()
    found = understand(text, design=design, today=TODAY, terms=_WRITTEN, **known)
    assert found.asked[0].query["where"] == [{"field": field, "op": "contains", "value": value}]


def test_a_name_that_only_measures_asks_for_the_limits() -> None:
    design, known = demo()
    found = understand("P032肝功能异常吗", design=design, today=TODAY, terms=_WRITTEN, **known)
    [either] = found.asked[0].query["where"]
    assert {part["field"] for part in either["any"]} == {"alt", "ast", "tbil"}


@pytest.mark.parametrize(
    ("text", "is_rule"),
    [
        ("漏服了怎么记录", True),
        ("P005怎么没来", False),
        ("谁怎么没来", False),
        ("AST高到180要停药吗", True),
        ("P016的AST高到180要停药吗", False),
        ("AST高到180的有吗", False),
        ("今天要做访视吗", False),
    ],
)
def test_how_and_whether_something_is_done_of_nobody_asks_for_a_rule(
    text: str, is_rule: bool
) -> None:
    design, known = demo()
    found = understand(text, design=design, today=TODAY, **known)
    assert bool(found.rules) is is_rule


def test_the_end_of_something_unknown_is_not_looked_for_in_texts() -> None:
    design, known = demo()
    written = {"medical_history_text": ["规律口服氨氯地平"]}
    found = understand("谁服药最不规律", design=design, today=TODAY, terms=written, **known)
    assert found.left == ("最",)
    found = understand("谁血压最高", design=design, today=TODAY, terms=written, **known)
    assert found.left == ()


def test_words_that_are_written_apart_are_looked_for_apart() -> None:
    design, known = demo()
    found = understand("P011的胆囊炎住院几天", design=design, today=TODAY, terms=_WRITTEN, **known)
    said = {c.get("value") for c in found.asked[0].query["where"]}
    assert "胆囊炎住院" not in said


def test_what_is_only_denied_in_a_text_is_not_taken_from_it() -> None:
    design, known = demo()
    found = understand("间质性肺病的有谁", design=design, today=TODAY, terms=_WRITTEN, **known)
    named = [c.get("field") for asked in found.asked for c in asked.query.get("where", ())]
    assert named != ["medical_history_text"] or not found.asked


def test_a_version_of_a_document_is_no_value_to_list_subjects_by() -> None:
    design, known = demo()
    found = understand("V2.1是哪天更新的", design=design, today=TODAY, terms=_WRITTEN, **known)
    assert found.asked == ()


def test_a_clause_that_only_changes_the_last_question_says_so() -> None:
    design, known = demo()
    first = understand("入组几例", design=design, today=TODAY, **known)
    then = understand("其中B中心的呢", design=design, today=TODAY, state=first.state, **known)
    assert (first.goes_on, then.goes_on) == (False, True)


def test_fields_asked_for_by_name_of_a_form_that_is_shown_whole_are_what_it_is_about() -> None:
    design, known = demo()
    found = understand("P019用过哪些药,起止时间", design=design, today=TODAY, **known)
    (asked,) = found.asked
    assert asked.query == {"subjects": ["P019"], "select": ["conmed"]}
    assert {"cm_start", "cm_end"} <= {*asked.about}


def test_a_word_with_several_readings_is_asked_back() -> None:
    design, known = demo()
    found = understand("P019的结束日期是哪天", design=design, today=TODAY, **known)
    assert [(item.word, item.readings) for item in found.ambiguous] == [
        ("结束日期", ("ae_end", "cm_end"))
    ]


def test_a_word_spelt_nearly_like_a_field_is_asked_back_and_never_answered() -> None:
    design, known = demo()
    found = understand("P005的依存性多少", design=design, today=TODAY, **known)
    assert (found.asked, found.unknown) == ((), ("依存性",))
    assert found.ambiguous[0].readings == ("drug_compliance",)


def test_several_questions_of_one_message_are_kept_apart() -> None:
    design, known = demo()
    found = understand(
        "入组几例了？还在筛选的几例？P016的ALT最高多少", design=design, today=TODAY, **known
    )
    assert [asked.shape for asked in found.asked] == [Shape.COUNT, Shape.COUNT, Shape.EXTREME]


@pytest.mark.parametrize(
    "text", ["血小板掉到45了怎么处理", "漏服了一次药能补吗", "记住我每周五下午在门诊", "谢谢"]
)
def test_what_is_no_question_of_the_data_asks_nothing(text: str) -> None:
    design, known = demo()
    found = understand(text, design=design, today=TODAY, **known)
    assert (found.asked, found.unknown) == ((), ())


@given(
    st.text(
        st.sampled_from("P0123的ALT最高多少谁有几个没超过上限倍以下V2入组呢，。那她 2026-月周"),
        max_size=40,
    )
)
def test_whatever_is_typed_its_queries_are_valid_and_its_state_is_json(text: str) -> None:
    design, known = demo()
    found = understand(text, design=design, today=TODAY, **known)
    assert State.from_json(json.loads(json.dumps(found.state.as_json()))) == found.state
    for asked in found.asked:
        for query in asked.queries:
            answer(parse(query), design, [], today=TODAY)


def test_of_one_who_was_named_an_unticked_box_hides_no_free_text() -> None:
    design, known = demo()
    found = understand("P012有间质性肺炎吗", design=design, today=TODAY, terms=_WRITTEN, **known)
    assert found.asked[0].query["select"] == ["medical_history_text", "exclusion"]


def test_single_characters_that_nothing_took_are_words_of_a_question_about_all() -> None:
    design, known = demo()
    found = understand("血糖14要找谁会诊", design=design, today=TODAY, **known)
    assert found.left == ("找", "诊")


def test_nobody_spoken_of_is_not_everybody() -> None:
    design, known = demo()
    found = understand("脱落的那位最后一次来是啥时候", design=design, today=TODAY, **known)
    assert {"field": "subject_status", "op": "=", "value": "4"} in found.asked[0].query["where"]

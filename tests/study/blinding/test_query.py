"""Blinding at the query: what unblinds does not exist, and its words stand in no text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.privacy.veiled_words import MARK, masked, pattern
from projects.models import Member
from study import door
from study.blinding import services
from study.models import BlindedField, CodeBreak
from study.query.errors import QueryError
from tests.study.blinding import twins
from tests.study.blinding.conftest import Open
from tests.support.study import Study

HIDDEN = [*twins.BLINDED, "study_drug", "drug_a_start"]
KEYS: list[dict[str, Any]] = [
    {"select": ["{}"]},
    {"where": [{"field": "{}", "op": "filled"}]},
    {"where": [{"field": "alt", "op": "=", "value": {"field": "{}"}}]},
    {"where": [{"none": [{"field": "{}", "op": "blank"}]}]},
    {"aggregate": "count", "by": ["{}"]},
    {"aggregate": "share", "of": [{"field": "{}", "op": "filled"}]},
    {"period": {"field": "{}", "from": "2026-01-01"}},
    {"select": ["alt"], "order": {"by": "{}"}},
    {"select": [{"field": "alt", "minus": {"field": "{}"}}]},
]


def told(study: Study, reader: Member | None, **query: Any) -> str:
    return json.dumps(door.ask_one(study.project, reader, query).as_json(), ensure_ascii=False)


def filled(query: Any, name: str) -> Any:
    return json.loads(json.dumps(query).replace("{}", name))


@pytest.mark.full
@pytest.mark.parametrize("query", KEYS)
@pytest.mark.parametrize("name", HIDDEN)
def test_a_blinded_field_reads_like_one_that_does_not_exist(
    study: Study, name: str, query: dict[str, Any]
) -> None:
    refused = []
    for field in (name, "no_such_thing"):
        with pytest.raises(QueryError) as error:
            door.ask_one(study.project, study["zhangyi"], filled(query, field))
        refused.append((error.value.at, error.value.message.replace(field, "X")))
        assert not set(error.value.nearest) & set(HIDDEN)
    assert refused[0] == refused[1]


@pytest.mark.full
def test_a_form_and_texts_are_told_without_it(study: Study) -> None:
    shown = told(study, study["zhangyi"], select=["enrollment", "ae", "conmed", "medical_history"])
    assert "enroll_date" in shown
    assert MARK in shown
    assert not [word for word in twins.SECRETS if word.casefold() in shown.casefold()]


@pytest.mark.full
def test_the_house_and_the_unblinded_are_told_everything(study: Study) -> None:
    services.choose_unblinded(
        project=study.project, unblinded=[str(study["wanghushi"].pk)], actor=study["admin"].user
    )
    unblinded = Member.objects.select_related("project").get(pk=study["wanghushi"].pk)
    query = {"subjects": ["P001"], "select": ["arm", "kit_no", "medical_history"]}
    for reader in (None, unblinded):
        shown = told(study, reader, **query)
        assert twins.kit_of("P001", "a") in shown
        assert twins.ARMS[twins.arm_of("P001", "a")] in shown


@pytest.mark.full
def test_a_broken_code_opens_one_subject_to_one_person(study: Study) -> None:
    me, other = study["zhangyi"], study["admin"]
    services.break_code(member=me, record_id="P001", reason="严重过敏", actor=me)
    assert twins.kit_of("P001", "a") in told(study, me, subjects=["P001"], select=["kit_no"])
    for reader, subjects in ((me, ["P002"]), (me, ["P001", "P002"]), (me, None), (other, ["P001"])):
        with pytest.raises(QueryError):
            door.ask_one(study.project, reader, {"subjects": subjects, "select": ["kit_no"]})
    with pytest.raises(ValidationError, match="没有这位受试者"):
        services.break_code(member=me, record_id="P999", reason="x", actor=me)
    assert CodeBreak.objects.count() == 1


@pytest.mark.full
@pytest.mark.parametrize("field", ["enroll_date", "v1_date", "record_id", "no_such"])
def test_what_everybody_needs_cannot_be_blinded(study: Study, field: str) -> None:
    row = BlindedField(field=field, kind="lab")
    with pytest.raises(ValidationError):
        services.switch_on(project=study.project, fields=[row], actor="test")
    assert {*BlindedField.objects.values_list("field", flat=True)} == {*twins.BLINDED}


@pytest.mark.full
def test_visits_that_differ_by_arm_forbid_blinding_and_say_so(open_twin: Open) -> None:
    study = open_twin("a")
    study.project.visit_plan.filter(position=1).update(arm="1")
    with pytest.raises(ValidationError, match="访视计划"):
        services.switch_on(project=study.project, fields=twins.fields(), actor="test")


def test_an_open_study_asks_the_database_nothing_more(open_twin: Open) -> None:
    study = open_twin("a")
    with CaptureQueriesContext(
        connection,
    ) as asked:
        shown = told(study, study["zhangyi"], select=["arm"])
    assert "试验组" in shown
    assert not [one for one in asked.captured_queries if "blinded_fields" in one["sql"]]


WORDS = ("A组", "B组", "试验组", "安慰剂", "Drug X")
NUMBERS = ("R00123", "12345", "KT-1234")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("患者Ａ组", "患者"),
        ("属 A 组", "属 "),
        ("入A「组」。", "入」。"),
        ("試驗組，今日", "，今日"),
        ("安慰劑", ""),
        ("安慰 剂", ""),
        ("安\u200b慰·剂", ""),
        ("用ｄｒｕｇ-x后", "用后"),
        ("用Drug\nX后", "用后"),
        ("随机号Ｒ００４５６", "随机号"),
        ("药盒１２３４５；", "药盒；"),
        ("药盒KT\u20139876", "药盒"),
    ],
)
def test_a_word_is_masked_however_it_is_written(text: str, left: str) -> None:
    told = masked(text, pattern(WORDS, NUMBERS))
    assert MARK in told
    assert told.replace(MARK, "") == left


@pytest.mark.parametrize(
    "text",
    [
        "维生素A，组织学检查",
        "HLA组分",
        "ＡＬＴ １２３４，正常",
        "入组：今日",
        "维生素A\n组织",
        "试验，组长",
        "",
    ],
)
def test_what_is_no_word_of_an_arm_stays_as_it_was_written(text: str) -> None:
    assert masked(text, pattern(WORDS, NUMBERS)) == text


def test_both_arms_read_alike_in_any_width() -> None:
    found = pattern(WORDS, NUMBERS)
    assert masked("属Ａ组，发药", found) == masked("属Ｂ组，发药", found) == f"属{MARK}，发药"

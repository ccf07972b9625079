"""Whom a part of a message means: never somebody of an earlier message where this one names anybody."""

from __future__ import annotations

import json

import pytest
from django.utils.timezone import now

from engines.models import TaskRun
from study.models import Subject
from tests.engines.chat.kit import ask, mute
from tests.support.study import Study


@pytest.fixture
def talked(study: Study) -> Study:
    """P002 was spoken of."""
    mute(study)
    ask("wanghushi", "P002 入组了吗?")
    return study


def started() -> set[tuple[str | None, str]]:
    return {(run.record_id, run.skill.skill_type) for run in TaskRun.objects.all()}


@pytest.mark.full
@pytest.mark.parametrize(
    ("order", "runs"),
    [
        ("质控 P006 的AE", {("P006", "qc_process:ae")}),
        ("请质控 受试者P003 的访视", {("P003", "qc_process:visit")}),
        ("质控 P006、P007 的不良事件", {("P006", "qc_process:ae"), ("P007", "qc_process:ae")}),
        ("质控 P006 的合并用药", {("P006", "qc_process")}),
    ],
)
def test_an_order_with_blanks_runs_on_its_own_subject(
    talked: Study, order: str, runs: set[tuple[str, str]]
) -> None:
    ask("wanghushi", order)
    assert started() == runs


@pytest.mark.parametrize(
    "order", ["质控一下,P006的AE有几条", "P006先不管,质控一下", "质控孙六的AE"]
)
def test_nobody_is_carried_over_beside_somebody_named(talked: Study, order: str) -> None:
    ask("wanghushi", order)
    assert "P002" not in {record_id for record_id, _skill in started()}


def test_an_order_without_a_name_means_the_one_spoken_of(talked: Study) -> None:
    ask("wanghushi", "质控一下")
    assert started() == {("P002", "qc_process")}


@pytest.mark.full
@pytest.mark.parametrize("question", ["孙六今天来访视了吗", "孙六的血压呢", "孙六 入组了没"])
def test_a_name_that_nobody_has_is_asked_back(talked: Study, question: str) -> None:
    reply = ask("wanghushi", question)
    nobody = ask("wanghushi", "孙八的血糖")
    assert reply.asked_back
    assert nobody.asked_back


@pytest.mark.full
@pytest.mark.parametrize(
    "text", ["P002的ECOG再说一遍", "P002入组日期再查一遍", "太长了,P002的ECOG再说一遍"]
)
def test_what_is_asked_again_starts_nothing(talked: Study, text: str) -> None:
    reply = ask("wanghushi", text)
    assert started() == set()
    assert "P002" in reply.text or "ECOG" in reply.text or reply.sources


@pytest.mark.full
@pytest.mark.parametrize("text", ["批准P002的复核", "关闭P002的质控问题", "取消P002的质控任务"])
def test_decisions_are_guided_and_start_nothing(talked: Study, text: str) -> None:
    reply = ask("wanghushi", text)
    assert reply.intents == ["data_entry"]
    assert started() == set()
    assert reply.text != ask("wanghushi", "把P002的ECOG改成1").text


@pytest.mark.parametrize("name", ["Zhang Wei", "Li-Na O'Hara"])
def test_a_name_of_several_words_is_the_subject_that_it_is_of(study: Study, name: str) -> None:
    mute(study)
    subject = Subject.objects.get(project=study.project, record_id="P001")
    subject.identifiers = json.dumps({"subject_name": name})
    subject.synced_at = now()
    subject.save()
    asked = "{}入组了吗?"
    assert ask("wanghushi", asked.format(name)).text == ask("wanghushi", asked.format("P001")).text

"""What a message asks of several subjects, or several times, is neither lost nor doubled."""

from __future__ import annotations

import re

import pytest

from engines.models import TaskRun
from tests.engines.chat.kit import ask, mute
from tests.support.study import Study


@pytest.mark.parametrize(
    "text",
    [
        "质控 P006,P007 的AE",
        "质控P006、P007",
        "对P006和P007做质控",
        "请质控P006,P007",
        "P006,P007质控一下",
        "质控P006,质控P007",
    ],
)
def test_every_named_subject_is_checked_in_order(study: Study, text: str) -> None:
    reply = ask("wanghushi", text)
    runs = [TaskRun.objects.get(pk=pk).record_id for pk in reply.task_run_ids]
    assert reply.intents == ["qc_task"]
    assert runs == ["P006", "P007"]
    assert all(record_id in reply.text for record_id in runs)


def test_a_question_behind_an_order_is_no_part_of_it(study: Study) -> None:
    reply = ask("wanghushi", "质控P006,P007的血压多少")
    assert reply.intents == ["qc_task", "query_record"]
    assert len(reply.task_run_ids) == 1


def test_each_subject_is_read_for_what_is_asked_of_it(study: Study) -> None:
    mute(study)
    reply = ask("wanghushi", "P006的血红蛋白,P007的AE").text
    assert "P006 不良事件" not in reply
    assert "P007 血红蛋白" not in reply
    assert re.search(r"P006 血红蛋白.*122", reply)


@pytest.mark.full
@pytest.mark.parametrize("silent", [True, False])
def test_an_answer_about_two_tells_of_both(study: Study, silent: bool) -> None:
    if silent:
        mute(study)
    reply = ask("wanghushi", "P001的血压和P003的ECOG").text
    assert "收缩压" in reply
    assert "ECOG" in reply


def test_the_same_is_asked_of_all_where_none_has_a_question_of_its_own(study: Study) -> None:
    mute(study)
    reply = ask("wanghushi", "P001和P003的年龄").text
    assert re.findall(r"P\d{3}", reply) == ["P001", "P003"]
    assert "年龄" in reply


@pytest.mark.full
def test_every_figure_of_the_study_that_is_named_is_told(study: Study) -> None:
    reply = ask("zhangyi", "项目负责人是谁,目标入组多少例").text
    assert str(study.project.target_enrolment) in reply
    assert "张医生" in reply


def test_whether_data_are_entered_is_no_outcome_of_an_event(study: Study) -> None:
    mute(study)
    assert "转归" not in ask("wanghushi", "P003的数据录好了吗").text

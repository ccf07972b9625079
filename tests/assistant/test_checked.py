"""That there is no finding is said where the checks came to their end; else how they stand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.assistant.test_whole_answers import told
from tests.study.query.studies import Study, demo

DOWN = "REDCap 无法访问"
CLEAN = ("没有疑点", "没有未关闭的疑点")


def run(status: str, skill: str = "qc_process", newest: str = "yes", **more: str) -> dict[str, str]:
    """A run; one that completed passed."""
    end = {"final_state": "end_success"} if status == "COMPLETED" else {}
    return {"status": status, "skill": skill, "newest": newest, **end, **more}


def checked(*rows: dict[str, str], **others: list[dict[str, str]]) -> Study:
    """The demo study; P001 with runs, oldest first, and others with theirs."""
    work: dict[str, dict[str, Any]] = {"findings": {}, "reviews": {}, "changes": {}}
    work["runs"] = {"P001": [*rows], **others}
    return replace(demo(), work=work.__getitem__)


def said(message: str, study: Study) -> str:
    """The answer to a message."""
    return told(message, study)


@pytest.mark.parametrize("message", ["P001有疑点吗", "P001能不能入组"])
@pytest.mark.parametrize(("status", "word"), [("FAILED", "失败"), ("CANCELLED", "已取消")])
@pytest.mark.parametrize("before", [(), (run("COMPLETED", newest=""),)])
def test_a_check_that_did_not_come_to_its_end_is_no_clean_one(
    message: str, status: str, word: str, before: tuple[dict[str, str], ...]
) -> None:
    text = said(message, checked(*before, run(status, ended="2026-11-20", reason=DOWN)))
    assert f"P001 质控:{word}(2026-11-20,{DOWN})" in text
    assert not any(clean in text for clean in CLEAN)


@pytest.mark.parametrize(("status", "word"), [("SUSPENDED", "待复核"), ("RUNNING", "运行中")])
def test_a_check_that_goes_on_or_waits_is_told_as_that(status: str, word: str) -> None:
    text = said("P001有疑点吗", checked(run(status)))
    assert text == f"P001 质控:{word};有无疑点尚不可知。"


def test_a_check_that_passed_does_not_hide_another_that_failed() -> None:
    study = checked(run("FAILED", reason=DOWN), run("COMPLETED", "qc_process:ae"))
    assert said("P001有疑点吗", study) == f"P001 质控:失败({DOWN});有无疑点尚不可知。"
    assert f"失败({DOWN})" in said("P001质控为什么没过", study)


def test_who_was_checked_is_clean_beside_who_was_not() -> None:
    study = checked(run("COMPLETED"), P009=[run("FAILED", reason=DOWN)])
    assert said("P001和P009和P010有疑点吗", study).splitlines() == [
        "P001 没有疑点;没有待审核事项。",
        f"P009 质控:失败({DOWN});有无疑点尚不可知。",
        "P010 尚未做过质控;有无疑点尚不可知。",
    ]


def test_a_run_that_checks_nothing_is_no_check() -> None:
    text = said("P001有疑点吗", checked(run("COMPLETED", "visit_reminder")))
    assert text == "P001 尚未做过质控;有无疑点尚不可知。"


@pytest.mark.parametrize("skill", ["qc_process:ae", "qc_process:visit"])
def test_whether_one_may_be_enrolled_was_checked_by_the_check_of_just_that(skill: str) -> None:
    text = said("P001能不能入组", checked(run("COMPLETED", skill)))
    assert text.startswith("P001 尚未做过入组质控")
    assert not any(clean in text for clean in CLEAN)
    assert "没有未关闭的疑点" in said("P001能不能入组", checked(run("COMPLETED")))


def test_the_newest_check_is_one_run() -> None:
    first = run("COMPLETED", newest="", ended="2026-11-10", reason="30 条规则通过")
    text = said("P001的质控跑完了吗", checked(first, run("RUNNING")))
    assert text == "P001 质控:运行中。"

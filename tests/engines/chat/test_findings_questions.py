"""Questions about findings: whose they are, and why something was not evaluated."""

from __future__ import annotations

import pytest

from engines.models import PendingAction, TaskRun
from engines.sop import finding_life
from engines.sop.chain import PARTIAL
from tests.engines.chat.kit import ask, silenced
from tests.engines.sop.kit import hard, new_skill, rule, run_of, run_qc
from tests.support.study import Study

pytestmark = pytest.mark.django_db


@pytest.fixture
def found(study: Study) -> PendingAction:
    silenced(study)
    run_qc(study, "P007")
    run_qc(study, "P004")
    undecided = PendingAction.objects.filter(record_id="P007")[0]
    PendingAction.objects.filter(pk=undecided.pk).update(outcome="UNKNOWN", reason="unit_missing")
    return PendingAction.objects.get(rule_key="EL03")


@pytest.mark.parametrize("text", ["我名下的疑点", "我名下有哪些疑点", "指派给我的疑点有哪些"])
def test_whose_findings_they_are(study: Study, found: PendingAction, text: str) -> None:
    assert "ECOG" not in ask("wanghushi", text).text
    finding_life.assign(finding=found, assignee="wanghushi", due_on=None, actor=study["wanghushi"])
    told = ask("wanghushi", text).text
    assert "P004" in told
    assert "P007" not in told
    assert "P004" not in ask("zhangyi", text).text


@pytest.mark.full
def test_the_newest_run_of_each_check_says_whether_there_is_a_finding(study: Study) -> None:
    silenced(study)
    fine = hard(rules=[rule(id="A", logic={">": [{"var": "age"}, 1]})])
    one, other = (new_skill(study, {"check": fine}, f"qc_process:{name}") for name in ("a", "b"))
    failed = run_of(study, one, "P001")
    run_of(study, other, "P001")
    assert ask("zhangyi", "P001有疑点吗").text.startswith("P001 没有疑点")
    down = "REDCap 无法访问"
    TaskRun.objects.filter(pk=failed.pk).update(status=TaskRun.Status.FAILED, message=down)
    text = ask("zhangyi", "P001有疑点吗").text
    assert "没有疑点" not in text
    assert down in text
    for actor in PARTIAL:
        # That single rules passed, because data or the day changed, says nothing of the whole check.
        run_of(study, one, "P001", triggered_by=actor)
        assert ask("zhangyi", "P001有疑点吗").text == text
    run_of(study, one, "P001")
    assert ask("zhangyi", "P001有疑点吗").text.startswith("P001 没有疑点")

"""The QC workflow over the demo study: where each kind of subject ends (seed 001, 4; demo/study/README.md)."""

from __future__ import annotations

from typing import Any

import pytest

from engines import sop
from engines.sop.nodes import NODES
from skills.graph import KINDS
from tests.engines.sop.kit import findings, qc, run_qc, steps
from tests.support.study import Study
from tests.support.tasks import drain

pytestmark = pytest.mark.django_db


def test_each_type_of_node_that_may_be_saved_has_its_work() -> None:
    assert NODES.keys() == KINDS.keys()


@pytest.mark.full
def test_a_clean_subject_ends_in_success(study: Study) -> None:
    run = run_qc(study, "P001")

    assert (run.status, run.final_state, run.is_complete) == ("COMPLETED", "end_success", True)
    assert steps(run) == [
        "read pass",
        "baseline_check pass",
        "history_check pass",
        "medication_check pass",
    ]
    assert findings(run) == []


def test_a_vague_history_suspends_at_the_soft_node_itself(study: Study) -> None:
    run = run_qc(study, "P002")

    assert (run.status, run.current_node, run.message) == (
        "SUSPENDED",
        "history_check",
        "任务已挂起,等待人工复核",
    )
    assert (run.resume_callback, run.reject_callback) == ("medication_check", "human_review")
    assert [(f.rule_key, f.action_type, f.outcome) for f in findings(run)] == [
        ("verdict", "review_required", "UNKNOWN")
    ]


def test_a_broken_rule_ends_with_a_violation(study: Study) -> None:
    run = run_qc(study, "P004")

    assert (run.status, run.final_state) == ("COMPLETED", "end_with_violation")
    found = findings(run)
    assert [(f.rule_key, f.field, f.action_type, f.severity) for f in found] == [
        ("EL03", "ecog_score", "violation", "error")
    ]
    assert found[0].skill_version == run.skill_version


def test_a_named_exclusion_goes_to_the_human_node(study: Study) -> None:
    run = run_qc(study, "P012")

    assert (run.status, run.current_node) == ("SUSPENDED", "human_review")
    assert (run.resume_callback, run.reject_callback) == ("end_success", "end_rejected")
    assert [(f.node, f.action_type) for f in findings(run)] == [("history_check", "violation")]
    review = sop.open_review(run)
    assert review
    assert review.question == "需要 CRC 人工复核"


@pytest.mark.full
def test_seven_and_007_are_two_subjects(study: Study) -> None:
    seven, other = run_qc(study, "7"), run_qc(study, "007")

    assert seven.status == "COMPLETED"
    assert (other.status, other.current_node) == ("SUSPENDED", "history_check")
    assert sop.reviews.reviewer(study["crc_b"], other.reviews.get())
    assert sop.reviews.reviewer(study["wanghushi"], other.reviews.get()) is None


def test_a_run_starts_by_its_message_and_ends_once(
    study: Study, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        run = sop.start(
            project=study.project, skill=qc(study), record_id="P004", triggered_by="zhangyi"
        )

    assert "engines.tasks.drive_run" in drain()
    run.refresh_from_db()
    assert run.final_state == "end_with_violation"


@pytest.mark.full
@pytest.mark.parametrize("again", ["P001", "P002", "P004"])
def test_driving_what_has_nothing_to_do_changes_nothing(study: Study, again: str) -> None:
    run = run_qc(study, again)
    before = (run.updated_at, run.seq, run.fence, run.steps.count())

    sop.drive(run.pk)

    run.refresh_from_db()
    assert (run.updated_at, run.seq, run.fence, run.steps.count()) == before


def test_a_subject_that_does_not_exist_fails(study: Study) -> None:
    run = run_qc(study, "P999")

    assert (run.status, run.final_state) == ("FAILED", "end_error")
    assert run.message
    assert not run.is_complete


def test_a_run_keeps_the_workflow_it_started_with(study: Study) -> None:
    run = run_qc(study, "P012")
    skill = qc(study)
    skill.config = {
        "start_node": "only",
        "nodes": {"only": {"type": "human_review", "description": "?"}},
    }
    sop_skill_version = skill.version
    from skills.services import save_skill

    save_skill(skill=skill, actor="admin")
    review = sop.open_review(run)
    assert review

    done = sop.decide(
        review_id=review.pk,
        actor=study["wanghushi"],
        decision="reject",
        reason="属实",
        seen=review.seen,
    )

    assert (done.final_state, done.skill_version) == ("end_rejected", sop_skill_version)

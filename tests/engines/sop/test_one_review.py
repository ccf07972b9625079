"""One open review for one question about one subject; a decision settles what it asks (design.md 9.11)."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import call_command

from engines import sop
from engines.models import FindingEvent, PendingAction, Review, TaskRun
from engines.sop import finding_life, order_run
from projects import audit
from projects.models import AuditEntry, Project
from skills.services import save_skill
from tests.engines.sop.doors import api, console
from tests.engines.sop.kit import (
    go,
    hard,
    human,
    new_skill,
    newer_values,
    review_of,
    rule,
    run_of,
    soft,
    steps,
    tell,
)
from tests.engines.sop.test_soft_lies import said
from tests.support.study import Study
from tests.wechat.working import outgoing
from wechat.models import OutboxMessage
from wechat.reviews.run_events import result_text

pytestmark = pytest.mark.django_db

YOUNG = rule(logic={"<": [{"var": "age"}, 1]}, message="太老")
KIND = "qc_process:test"


def asking(**more: Any) -> dict[str, Any]:
    return {"check": hard(rules=[YOUNG], on_fail="ask"), "ask": human(**more)}


@pytest.fixture
def skill(study: Study) -> Any:
    return new_skill(study, asking())


def decide(study: Study, run: TaskRun, decision: sop.Decision = "approve", **more: Any) -> Review:
    review = review_of(run)
    given: dict[str, Any] = {
        "actor": study["wanghushi"],
        "reason": "已核对",
        "seen": review.seen,
    } | more
    sop.decide(review_id=review.pk, decision=decision, **given)
    review.refresh_from_db()
    return review


def states(*runs: TaskRun) -> list[str]:
    for run in runs:
        go(run)
    return [f"{run.status} {run.final_state}".strip() for run in runs]


def shown(pk: object, userid: str = "wanghushi") -> dict[str, Any]:
    found: dict[str, Any] = api(userid).get(f"/api/v1/task-runs/{pk}/").json()
    return found


@pytest.mark.full
@pytest.mark.parametrize("at", [0, 1])
def test_runs_that_ask_the_same_wait_for_one_review(study: Study, skill: Any, at: int) -> None:
    runs = run_of(study, skill), run_of(study, skill, triggered_by="admin")

    reviews = [shown(run.pk)["review"] for run in runs]
    assert reviews[0] == reviews[1]
    assert reviews[0]["runs"] == [str(run.pk) for run in runs]
    answer = api("wanghushi").post(
        f"/api/v1/task-runs/{runs[at].pk}/approve/",
        {"seen": reviews[at]["seen"], "reason": "已核对"},
        format="json",
    )
    assert answer.json()["id"] == str(runs[at].pk)
    assert states(*runs) == ["COMPLETED end_success"] * 2
    assert Review.objects.count() == 1
    for run in runs:
        assert steps(run) == ["read pass", "check fail", "ask waiting", "ask approved"]
        assert run.question_key == ""
    ends = AuditEntry.objects.filter(action="run.end").values_list("object_id", flat=True)
    assert sorted(ends) == sorted(str(run.pk) for run in runs)
    assert [*audit.verify()] == []


@pytest.mark.full
def test_what_follows_is_a_job_of_each_run(study: Study) -> None:
    nodes = asking(on_approve="judge") | {"judge": soft()}
    skill = new_skill(study, nodes)
    runs = [run_of(study, skill) for _number in range(3)]
    decide(study, runs[0])

    for run in runs:
        run.refresh_from_db()
    assert {(run.status, run.current_node) for run in runs} == {("RUNNING", "judge")}
    study.stand_ins.script(*[said()] * 3)
    assert states(*runs) == ["COMPLETED end_success"] * 3


@pytest.mark.full
def test_who_ordered_each_run_hears_that_it_waits_and_what_came_of_it(
    study: Study, skill: Any
) -> None:
    runs = run_of(study, skill), run_of(study, skill, triggered_by="admin")
    number = review_of(runs[0]).pk
    tell()
    for run in runs:
        assert [f"(#{number})" in text for text in outgoing(run.triggered_by)] == [True]
    assert OutboxMessage.objects.filter(kind="card").count() == 1
    decide(study, runs[0])
    tell()
    for run in runs:
        assert ["已完成" in text for text in outgoing(run.triggered_by)] == [False, True]


@pytest.mark.full
def test_other_values_raise_the_version(study: Study, skill: Any) -> None:
    first = run_of(study, skill)
    before = review_of(first)
    newer_values(study)
    second = run_of(study, skill)

    after = review_of(second)
    assert (after.pk, after.version) == (before.pk, 2)
    assert after.seen != before.seen
    for run in (first, second):
        answer = api("wanghushi").post(
            f"/api/v1/task-runs/{run.pk}/approve/", {"seen": before.seen}, format="json"
        )
        assert (answer.status_code, answer.json()["code"]) == (409, "values_changed")
        assert answer.json()["review"]["seen"] == after.seen
    decide(study, first)
    assert states(first, second) == ["COMPLETED end_success"] * 2


@pytest.mark.parametrize(
    ("decision", "end"), [("approve", "end_success"), ("reject", "end_rejected")]
)
def test_a_later_run_on_unchanged_values_follows(
    study: Study, skill: Any, decision: sop.Decision, end: str
) -> None:
    review = decide(study, run_of(study, skill), decision)

    for _time in range(2):
        later = run_of(study, skill, triggered_by="admin")
        assert (later.status, later.final_state) == ("COMPLETED", end)
        assert review.decided_at
        assert f"#{review.pk}" in later.message
        assert "wanghushi" in later.message
        assert (later.trace or [])[-1]["result"]["detail"] == {
            "review": review.pk,
            "by": "wanghushi",
            "at": review.decided_at.isoformat(),
            "standing": True,
        }
    assert Review.objects.count() == 1
    assert PendingAction.objects.count() == 1
    assert AuditEntry.objects.filter(action="finding.open").count() == 1


def test_approval_closes_what_it_was_asked_about(study: Study, skill: Any) -> None:
    run = run_of(study, skill)
    review = decide(study, run)

    finding = PendingAction.objects.get()
    assert (finding.state, finding.open_key, finding.review) == ("closed", None, review)
    assert (finding.resolved_by, finding.resolution) == ("wanghushi", "已核对")
    assert [event.what for event in finding.events.all()] == ["closed"]
    entry = AuditEntry.objects.get(action="finding.close")
    assert (entry.actor, entry.reason) == ("wanghushi", "已核对")
    assert shown(run.pk)["findings"] == []


def test_rejection_confirms_it_and_it_stays_open(study: Study, skill: Any) -> None:
    decide(study, run_of(study, skill), "reject", reason="属实")

    finding = PendingAction.objects.get()
    assert (finding.state, finding.review) == ("confirmed", None)
    event = finding.events.get()
    assert (event.what, event.by, event.note) == ("confirmed", "wanghushi", "属实")
    assert finding.message in result_text(run_of(study, skill), study["zhangyi"])
    assert FindingEvent.objects.filter(what="confirmed").count() == 1


@pytest.mark.full
@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_changed_values_ask_anew(study: Study, skill: Any, decision: sop.Decision) -> None:
    review = decide(study, run_of(study, skill), decision)
    newer_values(study)
    later = run_of(study, skill)

    again = review_of(later)
    assert again.pk != review.pk
    assert [row["message"] for row in shown(later.pk)["review"]["findings"]] == ["太老"]
    decide(study, later)
    newer_values(study)
    assert run_of(study, skill).status == "SUSPENDED"


@pytest.mark.full
def test_other_questions_are_asked_apart(study: Study, skill: Any) -> None:
    more = rule(id="R2", logic={"<": [{"var": "age"}, 2]}, message="也老")
    twice = {"check": hard(rules=[YOUNG, more], on_fail="ask"), "ask": human()}
    renamed = {"check": hard(rules=[YOUNG], on_fail="other"), "other": human()}
    runs = [
        run_of(study, skill),
        run_of(study, skill, "P004"),
        run_of(study, new_skill(study, asking(), "qc_process:second")),
    ]
    for nodes in (twice, renamed):
        skill.config = {**skill.config, "nodes": nodes}
        runs.append(run_of(study, save_skill(skill=skill, actor="admin")))

    assert len({review_of(run).pk for run in runs}) == len(runs)
    decide(study, runs[0])
    assert [*TaskRun.objects.filter(status="SUSPENDED").order_by("created_at")] == runs[1:]


@pytest.mark.parametrize("asked", [{"description": "是否给予豁免"}, {"reviewers": ["PI"]}])
def test_a_version_that_asks_otherwise_is_not_answered_by_what_was_decided(
    study: Study, skill: Any, asked: dict[str, Any]
) -> None:
    run = run_of(study, skill)
    skill.config = {**skill.config, "nodes": asking(**asked)}
    newer = run_of(study, save_skill(skill=skill, actor="admin"))
    assert review_of(newer) != review_of(run), "it waits for what others were asked"
    decide(study, run)

    later = run_of(study, skill)
    assert (later.status, review_of(later)) == ("SUSPENDED", review_of(newer))


def test_runs_about_no_subject_ask_questions_of_their_own(study: Study) -> None:
    skill = new_skill(study, {"ask": human()})
    runs = [run_of(study, skill, None) for _number in range(2)]
    assert review_of(runs[0]).pk != review_of(runs[1]).pk


@pytest.mark.full
def test_slow_work_between_rule_and_question_changes_nothing(study: Study) -> None:
    nodes = {"check": hard(rules=[YOUNG], on_fail="judge"), "judge": soft(on_pass="ask")}
    skill = new_skill(study, nodes | {"ask": human()})
    study.stand_ins.script(*[said()] * 3)
    runs = [run_of(study, skill) for _number in range(2)]
    assert review_of(runs[0]) == review_of(runs[1])
    decide(study, runs[1])
    later = run_of(study, skill)
    assert (later.final_state, PendingAction.objects.count()) == ("end_success", 1)


@pytest.mark.full
def test_a_decision_is_not_followed_where_somebody_took_its_finding_up_again(
    study: Study, skill: Any
) -> None:
    decide(study, run_of(study, skill))
    finding = PendingAction.objects.get()
    finding_life.move(finding=finding, step="reopen", actor=study["zhangyi"], reason="再看")
    later = run_of(study, skill)
    finding.refresh_from_db()
    assert (later.status, finding.state) == ("SUSPENDED", PendingAction.State.OPEN)
    decide(study, later)
    assert run_of(study, skill).final_state == "end_success", "decided after that"


@pytest.mark.full
def test_a_decision_stands_while_a_run_that_it_let_go_on_is_on_its_way(study: Study) -> None:
    skill = new_skill(study, asking(on_approve="judge") | {"judge": soft()})
    runs = [run_of(study, skill) for _number in range(2)]
    review = review_of(runs[0])
    sop.decide(
        review_id=review.pk,
        actor=study["wanghushi"],
        decision="approve",
        reason="已核对",
        seen=review.seen,
    )
    taken = {"review": review, "actor": study["wanghushi"], "reason": "点错了"}
    for run in runs:
        review.refresh_from_db()
        with pytest.raises(sop.NotSuspended):
            order_run.take_back(**taken)
        study.stand_ins.script(said())
        go(run)
    review.refresh_from_db()
    assert order_run.take_back(**taken).rerun_of_id


def test_a_finding_closed_by_hand_is_asked_about_as_before(study: Study, skill: Any) -> None:
    first = run_of(study, skill)
    finding = PendingAction.objects.get()
    console("wanghushi").post(
        f"/admin/engines/pendingaction/{finding.pk}/resolve/", {"reason": "打字错"}
    )
    second = run_of(study, skill)
    assert review_of(first) == review_of(second)
    decide(study, first)
    assert not PendingAction.objects.filter(open_key__isnull=False).exists()


def test_what_was_approved_is_open_again_where_the_rule_is_another(
    study: Study, skill: Any
) -> None:
    decide(study, run_of(study, skill))
    check = {"type": "hard_rule", "rules": [YOUNG | {"message": "更老"}], "on_fail": "end_bad"}
    skill.config = {**skill.config, "nodes": {**skill.config["nodes"], "check": check}}
    run = run_of(study, save_skill(skill=skill, actor="admin"))
    assert [row["message"] for row in shown(run.pk)["findings"]] == ["更老"]


@pytest.mark.full
def test_cancelling_takes_only_that_run_out(study: Study, skill: Any) -> None:
    first, second = run_of(study, skill), run_of(study, skill)
    review = review_of(first)
    sop.cancel(run=first, actor=study["admin"], reason="误操作")

    assert states(first, second) == ["CANCELLED cancelled", "SUSPENDED"]
    assert review_of(second) == review
    page = console("wanghushi").get(f"/admin/engines/review/{review.pk}/change/", follow=True)
    assert page.redirect_chain[-1][0].endswith(f"/review/{review.pk}/desk/")
    assert f"/taskrun/{second.pk}/change/" in page.content.decode()
    decide(study, second, seen=review.seen)
    assert states(first, second) == ["CANCELLED cancelled", "COMPLETED end_success"]


@pytest.mark.full
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_last_that_is_cancelled_withdraws_the_question(
    study: Study, skill: Any, order: tuple[int, int]
) -> None:
    runs = run_of(study, skill), run_of(study, skill)
    for number in order:
        assert Review.objects.get().status == "open"
        sop.cancel(run=runs[number], actor=study["admin"], reason="误操作")
    assert Review.objects.get().status == "withdrawn"
    assert run_of(study, skill).status == "SUSPENDED", "a withdrawn question was not answered"


def test_four_eyes_are_wanted_of_every_run_that_waits(study: Study, skill: Any) -> None:
    Project.objects.filter(pk=study.project.pk).update(four_eyes=True)
    first = run_of(study, skill)
    run_of(study, skill, triggered_by="wanghushi")
    with pytest.raises(sop.NotAllowed):
        decide(study, first)
    assert decide(study, first, actor=study["admin"]).status == "approved"


@pytest.mark.full
def test_results_list_what_is_open_now_old_and_new(study: Study) -> None:
    """The second check of a subject found nothing new: it is not told as if it had found nothing."""
    skill = new_skill(study, {"check": hard(rules=[YOUNG], on_fail="end_with_violation")})
    run_of(study, skill)
    second = run_of(study, skill)

    assert "1. 太老" in result_text(second, study["zhangyi"])
    assert [row["message"] for row in shown(second.pk)["findings"]] == ["太老"]
    page = console("wanghushi").get(f"/admin/engines/taskrun/{second.pk}/change/")
    assert "太老" in page.content.decode()
    out = io.StringIO()
    call_command("qc", "P001", "--skill", KIND, stdout=out)
    assert [row["message"] for row in json.loads(out.getvalue())["findings"]] == ["太老"]


def test_a_result_says_what_only_waits_for_a_persons_word(study: Study) -> None:
    fails = rule(logic={"==": [{"var": "ecog"}, 9]}, message="ECOG")
    skill = new_skill(study, {"check": hard(rules=[fails], on_fail="end_with_violation")})
    run_of(study, skill)
    skill.config["nodes"]["check"]["rules"][0]["logic"] = {"==": [1, 1]}
    run = run_of(study, save_skill(skill=skill, actor="admin"))
    assert result_text(run, study["zhangyi"]).count("ECOG (") == 1


@pytest.mark.full
def test_the_page_names_who_else_waits(study: Study, skill: Any) -> None:
    first, second = run_of(study, skill), run_of(study, skill, triggered_by="admin")
    page = console("wanghushi").get(f"/admin/engines/taskrun/{first.pk}/change/").content.decode()
    waiting = page.partition('data-test="waiting"')[2].partition("</section>")[0]
    assert f"/admin/engines/taskrun/{second.pk}/change/" in waiting
    assert str(first.pk) not in waiting

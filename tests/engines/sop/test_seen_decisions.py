"""A decision is about what its taker was shown of that very review, through every door (design.md 9.9)."""

from __future__ import annotations

import pytest
from django.db.models.query import QuerySet

from engines.models import Review, TaskRun
from projects.models import AuditEntry
from tests.engines.sop.doors import (
    DOORS,
    RUNS,
    Door,
    Said,
    api,
    by_page_of_many,
    console,
    opened_on,
)
from tests.engines.sop.kit import human, new_skill, review_of, run_of, run_qc, tell
from tests.support.study import Study
from tests.wechat.working import deliver, outgoing, receive, work

pytestmark = pytest.mark.django_db
DECISIONS = ["approve", "reject"]


@pytest.fixture
def review(study: Study) -> Review:
    return review_of(run_qc(study, "P012"))


def decided() -> QuerySet[AuditEntry]:
    return AuditEntry.objects.filter(action__in=["review.approve", "review.reject"])


def is_open(review: Review) -> bool:
    review.refresh_from_db()
    run = TaskRun.objects.get(pk=review.task_run_id)
    return (run.status, review.status, review.decided_by) == ("SUSPENDED", "open", "")


@pytest.mark.full
@pytest.mark.parametrize("decision", DECISIONS)
@pytest.mark.parametrize("what", ["nothing", "something", "another", "earlier"])
@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS.keys())
def test_what_was_not_shown_is_not_decided(
    study: Study, review: Review, door: Door, what: str, decision: str
) -> None:
    other = review_of(run_of(study, new_skill(study, {"a": human()}), "P001"))
    seen = {"nothing": "", "something": "0" * 64, "another": other.seen, "earlier": review.seen}
    if what == "earlier":
        tell()
        Review.objects.filter(pk=review.pk).update(version=2, seen="f" * 64)
        review.version = 1
    door(review, Said(decision=decision, seen=seen[what]))
    assert is_open(review)
    assert is_open(other)
    assert not decided().exists()


@pytest.mark.full
@pytest.mark.parametrize("decision", DECISIONS)
@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS.keys())
def test_what_was_shown_is_decided(study: Study, review: Review, door: Door, decision: str) -> None:
    seen = review.seen
    door(review, Said(decision=decision))
    assert decided().get().new["seen"] == seen


@pytest.mark.full
def test_the_api_answers_a_stale_hash_with_what_stands_there(review: Review) -> None:
    url = f"/api/v1/task-runs/{review.task_run_id}/approve/"
    answer = api("wanghushi").post(url, {"reason": "好", "seen": "0" * 64}, format="json")
    assert (answer.status_code, answer.json()["code"]) == (409, "values_changed")
    assert answer.json()["review"]["seen"] == review.seen
    for given in ({"reason": "好"}, {"reason": "好", "seen": ""}, {"reason": "好", "seen": None}):
        assert api("wanghushi").post(url, given, format="json").status_code == 400
    assert is_open(review)


def choose(review: Review, decision: str = "approve", **more: object) -> str:
    given = {"action": f"{decision}_review", "_selected_action": [str(review.task_run_id)]}
    return str(console("wanghushi").post(RUNS, given | more, follow=True).content.decode())


@pytest.mark.full
@pytest.mark.parametrize("decision", DECISIONS)
def test_the_action_leads_to_a_page_that_knows_no_hash(review: Review, decision: str) -> None:
    page = choose(review, decision)
    assert is_open(review)
    assert f"/admin/engines/review/{review.pk}/opened/" in page
    assert review.seen not in page
    assert opened_on(page) == []


@pytest.mark.full
@pytest.mark.parametrize("decision", DECISIONS)
def test_one_post_with_a_reason_decides_nothing(review: Review, decision: str) -> None:
    page = choose(review, decision, reason="数据有误", apply="1")
    assert is_open(review)
    assert "Nothing was decided: open the reviews that you decide." in page


@pytest.mark.full
@pytest.mark.parametrize("decision", DECISIONS)
def test_without_a_reason_nothing_is_decided(review: Review, decision: str) -> None:
    page = by_page_of_many(review, Said(decision=decision, reason="  "))
    assert is_open(review)
    assert "Please give the reason of the decision." in page


def test_opening_shows_question_findings_and_values(study: Study, review: Review) -> None:
    page = console("wanghushi").get(f"/admin/engines/review/{review.pk}/opened/").content.decode()
    assert opened_on(page) == [f"{review.pk}:{review.seen}"]
    assert review.question in page
    assert "ecog_score" in page
    assert "subject_name" not in page
    assert console("crc_b").get(f"/admin/engines/review/{review.pk}/opened/").status_code == 404


@pytest.mark.full
def test_only_what_was_opened_is_decided(study: Study, review: Review) -> None:
    other = review_of(run_of(study, new_skill(study, {"a": human()}), "P001"))
    runs = [str(review.task_run_id), str(other.task_run_id)]
    page = choose(
        review,
        apply="1",
        reason="已核对",
        _selected_action=runs,
        opened=[f"{review.pk}:{review.seen}"],
    )
    review.refresh_from_db()
    assert (review.status, review.reason) == ("approved", "已核对")
    assert is_open(other)
    assert "1 not opened, so not decided." in page


@pytest.mark.full
def test_who_only_looks_on_gets_no_page(review: Review) -> None:
    given = {"action": "approve_review", "_selected_action": [str(review.task_run_id)]}
    page = console("zhangyi").post(RUNS, given, follow=True).content.decode()
    assert "None of the selected runs waits for your decision." in page


@pytest.mark.full
def test_who_was_not_asked_is_shown_the_question_first(study: Study, review: Review) -> None:
    """Its card went to the CRC: an administrator who types its number has seen nothing of it."""
    tell()
    receive(f"同意 {review.pk} 好", user="admin")
    work()
    assert is_open(review)
    [shown] = outgoing("admin")
    assert review.question in shown
    assert f"/admin/engines/review/{review.pk}/change/" in shown
    deliver()
    receive(f"同意 {review.pk} 好", user="admin")
    work()
    review.refresh_from_db()
    assert (review.status, review.decided_by) == ("approved", "admin")


@pytest.mark.full
def test_two_texts_at_once_do_not_show_each_other(study: Study, review: Review) -> None:
    tell()
    for _twice in range(2):
        receive(f"同意 {review.pk} 好", user="admin")
    work()
    assert is_open(review)


@pytest.mark.full
def test_who_was_reminded_in_words_has_been_shown(study: Study, review: Review) -> None:
    from wechat.reviews.reconcile import escalate

    tell()
    assert escalate(review)
    deliver()
    receive(f"同意 {review.pk} 好", user="admin")
    work()
    review.refresh_from_db()
    assert review.decided_by == "admin"

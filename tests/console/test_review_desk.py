"""The review desk: one queue, each review with what it rests on, deciding leads to the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from engines.models import PendingAction, Review, TaskRun
from projects.models import AuditEntry
from study import sync
from tests.console.conftest import SITE_A, SITE_B, review_of
from tests.engines.sop.kit import change, run_qc
from tests.support.study import Study

DESK = "/admin/engines/review/desk/"


def desk_of(review: Review) -> str:
    return f"/admin/engines/review/{review.pk}/desk/"


@pytest.fixture
def three(suspended: Callable[[str], TaskRun]) -> list[Review]:
    return [review_of(suspended(record)) for record in ("P002", "P003", "P001")]


@pytest.mark.full
def test_the_queue_holds_what_the_person_may_see_and_decides(
    as_user: Callable[..., Client], three: list[Review], suspended: Callable[[str], TaskRun]
) -> None:
    other = review_of(suspended(SITE_B))
    page = as_user("wanghushi").get(DESK).content.decode()
    places = [page.index(desk_of(review)) for review in three]
    assert places == sorted(places)
    assert desk_of(other) not in page
    assert as_user("wanghushi").get(desk_of(other)).status_code == 404


@pytest.mark.full
def test_the_page_says_what_it_rests_on(
    as_user: Callable[..., Client], three: list[Review]
) -> None:
    page = as_user("wanghushi", "zh-hans").get(desk_of(three[0])).content.decode()
    assert "年龄是否已核对?" in page
    assert "年龄 &lt; 1" in page.replace("年龄（岁）", "年龄").replace("年龄(岁)", "年龄")
    assert "关闭 1 条疑点" in page
    assert "1 条疑点保持未关闭，记为属实" in page
    assert f'value="{three[0].seen}"' in page
    assert "其他" in page.split('data-test="values"')[1]


def test_what_a_model_judged_is_looked_up_by_what_it_was_asked(
    as_user: Callable[..., Client], study: Study
) -> None:
    review = review_of(run_qc(study, "P012"))
    page = as_user("wanghushi", "zh-hans").get(desk_of(review)).content.decode()
    passages = page.split('data-test="passages"')[1].split("</section>")[0]
    assert "有间质性肺炎或肺纤维化病史" in passages
    assert "研究方案 §4.2" in passages
    assert "CRF" not in passages


@pytest.mark.full
def test_deciding_leads_to_the_next_and_at_last_to_the_queue(
    as_user: Callable[..., Client], three: list[Review]
) -> None:
    client = as_user("wanghushi")
    at = desk_of(three[0])
    for review, following in zip(three, [*map(desk_of, three[1:]), DESK], strict=True):
        answer = client.post(at, {"approve": "1", "seen": review.seen, "reason": "已核对"})
        assert (answer.status_code, answer.headers["Location"]) == (302, following)
        at = following
    assert {review.status for review in Review.objects.all()} == {Review.Status.APPROVED}
    assert not PendingAction.objects.unclosed().exists()
    assert b"task_alt" in client.get(DESK).content


@pytest.mark.full
def test_a_refused_decision_keeps_what_was_written(
    as_user: Callable[..., Client], three: list[Review]
) -> None:
    page = as_user("wanghushi").post(
        desk_of(three[0]), {"approve": "1", "seen": "of yesterday", "reason": "已核对原始病历"}
    )
    assert page.status_code == 200
    assert "已核对原始病历" in page.content.decode()
    assert f'value="{three[0].seen}"' in page.content.decode()
    three[0].refresh_from_db()
    assert three[0].status == Review.Status.OPEN


@pytest.mark.full
def test_a_rejection_wants_a_reason_and_confirms_the_finding(
    as_user: Callable[..., Client], three: list[Review]
) -> None:
    client = as_user("wanghushi")
    assert client.post(desk_of(three[0]), {"reject": "1", "seen": three[0].seen}).status_code == 200
    client.post(desk_of(three[0]), {"reject": "1", "seen": three[0].seen, "reason": "数据有误"})
    three[0].refresh_from_db()
    assert three[0].status == Review.Status.REJECTED
    finding = PendingAction.objects.unclosed().get(record_id=SITE_A)
    assert finding.events.filter(what="confirmed").exists()


@pytest.mark.full
def test_who_only_looks_on_finds_no_buttons(
    as_user: Callable[..., Client], three: list[Review]
) -> None:
    page = as_user("auditor").get(desk_of(three[0])).content.decode()
    assert 'name="approve"' not in page
    listed = as_user("auditor").get(DESK).content.decode()
    assert desk_of(three[0]) not in listed
    assert desk_of(three[0]) in as_user("auditor").get(f"{DESK}?all=1").content.decode()


@pytest.mark.full
def test_the_filters_count_and_keep_to_themselves(
    as_user: Callable[..., Client], three: list[Review]
) -> None:
    client = as_user("wanghushi")
    assert desk_of(three[0]) in client.get(f"{DESK}?skill=qc_process:console").content.decode()
    assert desk_of(three[0]) not in client.get(f"{DESK}?skill=another").content.decode()
    answer = client.post(
        f"{desk_of(three[0])}?skill=qc_process:console",
        {"approve": "1", "seen": three[0].seen, "reason": "已核对"},
    )
    assert answer.headers["Location"] == f"{desk_of(three[1])}?skill=qc_process%3Aconsole"


@pytest.mark.full
def test_a_decided_review_is_shown_as_it_was(
    as_user: Callable[..., Client], three: list[Review]
) -> None:
    client = as_user("wanghushi")
    client.post(desk_of(three[0]), {"approve": "1", "seen": three[0].seen, "reason": "已核对"})
    answer: Any = client.get(desk_of(three[0]))
    assert answer.headers["Location"] == f"/admin/engines/review/{three[0].pk}/change/"
    again = client.get(f"/admin/engines/review/{three[1].pk}/change/")
    assert again.headers["Location"] == desk_of(three[1])


@pytest.mark.full
def test_the_queue_asks_the_database_as_often_for_three_as_for_one(
    as_user: Callable[..., Client], suspended: Callable[[str], TaskRun]
) -> None:
    client = as_user("wanghushi")
    suspended("P002")
    client.get(DESK)
    with CaptureQueriesContext(connection) as few:
        client.get(DESK)
    for record in ("P003", "P001"):
        suspended(record)
    with CaptureQueriesContext(connection) as more:
        client.get(DESK)
    assert len(more) == len(few) <= 15


@pytest.mark.full
def test_what_changed_since_it_was_asked_is_told(
    as_user: Callable[..., Client], three: list[Review], study: Study
) -> None:
    sync.sweep(study.project)
    change(study, SITE_A, "baseline_arm_1", weight_kg="81.5")
    sync.poll(study.project)
    page = as_user("wanghushi", "zh-hans").get(desk_of(three[0])).content.decode()
    changed = page.split('data-test="changed"')[1].split("</section>")[0]
    assert "体重" in changed
    assert "<strong>81.5</strong>" in changed
    assert 'data-test="changed"' not in as_user("wanghushi").get(desk_of(three[1])).content.decode()


def closed_of(review: Review) -> str:
    return f"/admin/engines/review/{review.pk}/change/"


@pytest.mark.full
def test_a_decision_is_taken_back_and_asked_again(
    as_user: Callable[..., Client], three: list[Review]
) -> None:
    client, review = as_user("wanghushi"), three[0]
    after = client.post(
        desk_of(review), {"approve": "1", "seen": review.seen, "reason": "已核对"}, follow=True
    )
    assert f'href="{closed_of(review)}#take-back"' in after.content.decode()
    assert 'name="take_back"' in client.get(closed_of(review)).content.decode()
    bare = client.post(desk_of(review), {"take_back": "1", "reason": " "})
    assert bare.headers["Location"] == closed_of(review)
    assert not PendingAction.objects.unclosed().filter(record_id=SITE_A).exists()
    answer = client.post(desk_of(review), {"take_back": "1", "reason": "点错了"})
    again = Review.objects.get(record_id=SITE_A, status=Review.Status.OPEN)
    assert answer.headers["Location"] == desk_of(again)
    review.refresh_from_db()
    assert (review.status, review.decided_by) == (Review.Status.WITHDRAWN, "wanghushi")
    assert PendingAction.objects.unclosed().get(record_id=SITE_A).state == "open"
    assert AuditEntry.objects.get(action="review.take_back").reason == "点错了"
    assert again.task_run.rerun_of_id == review.task_run_id
    client.post(desk_of(review), {"take_back": "1", "reason": "again"})
    assert Review.objects.filter(record_id=SITE_A).count() == 2


@pytest.mark.full
def test_only_who_decided_takes_it_back(
    as_user: Callable[..., Client], three: list[Review]
) -> None:
    review = three[0]
    as_user("wanghushi").post(
        desk_of(review), {"approve": "1", "seen": review.seen, "reason": "已核对"}
    )
    for other in ("admin", "zhangyi", "auditor"):
        client = as_user(other)
        assert 'name="take_back"' not in client.get(closed_of(review)).content.decode()
        client.post(desk_of(review), {"take_back": "1", "reason": "x"})
    assert as_user("crc_b").post(desk_of(review), {"take_back": "1"}).status_code == 404
    review.refresh_from_db()
    assert review.status == Review.Status.APPROVED


@pytest.mark.full
def test_an_outage_takes_nothing_back(
    as_user: Callable[..., Client], three: list[Review], study: Study
) -> None:
    client, review = as_user("wanghushi"), three[0]
    client.post(desk_of(review), {"approve": "1", "seen": review.seen, "reason": "已核对"})
    study.stand_ins.fault("redcap", "status", 500, times=50)
    client.post(desk_of(review), {"take_back": "1", "reason": "点错了"})
    review.refresh_from_db()
    assert review.status == Review.Status.APPROVED
    assert not PendingAction.objects.unclosed().filter(record_id=SITE_A).exists()


@pytest.mark.full
def test_the_page_takes_a_constant_number_of_statements(
    as_user: Callable[..., Client], three: list[Review]
) -> None:
    client = as_user("wanghushi")
    client.get(desk_of(three[0]))
    with CaptureQueriesContext(connection) as asked:
        client.get(desk_of(three[0]))
    assert len(asked) <= 30, [one["sql"] for one in asked]

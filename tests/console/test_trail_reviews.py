"""Planned reviews of the audit trail: plan, sample by risk, marks, signed end; kept in the trail itself."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.utils.timezone import now

from core.house.db import atomic
from engines import trail_reviews
from engines.agenda import Kind, agenda
from engines.sop import finding_life
from projects import audit
from projects.models import AuditEntry, Member
from tests.engines.sop.kit import run_qc
from tests.memory.hot_kit import browser
from tests.support.study import Study

pytestmark = [pytest.mark.django_db, pytest.mark.full]
PAGE = "/admin/trail-reviews/?project="


def posted(study: Study, who: str, **said: Any) -> Any:
    return browser(who).post(f"{PAGE}{study.project.code}", said, follow=True)


def planned(share: int = 50) -> None:
    study = AuditEntry.objects.exclude(project=None)[0].project
    browser("admin").post(
        f"{PAGE}{study.code}", {"do": "plan", "days": 30, "role": "AUDITOR", "share": share}
    )


def opened(study: Study) -> trail_reviews.Review:
    posted(study, "auditor", do="draw")
    [review] = [one for one in trail_reviews.reviews(study.project) if one.closed_at is None]
    return review


def reviewed(study: Study) -> trail_reviews.Review:
    """A review from its sample to its signed end, by the auditor."""
    review = opened(study)
    posted(study, "auditor", do="seen", key=review.key, entry=review.sample)
    password = study.run["logins"]["auditor"]["password"]
    posted(study, "auditor", do="close", key=review.key, conclusion="无异常", password=password)
    return trail_reviews.reviews(study.project)[0]


def written(study: Study, action: str, count: int) -> list[int]:
    before = AuditEntry.objects.filter(project=study.project).count()
    with atomic():
        for _number in range(count):
            audit.record(action, actor="zhangyi", project=study.project)
    rows = AuditEntry.objects.filter(project=study.project).order_by("number")
    return [one.number for one in rows[before:]]


def test_every_action_called_critical_is_one() -> None:
    assert set(audit.actions()) >= trail_reviews.CRITICAL


def test_what_ends_a_violation_is_always_looked_at(study: Study) -> None:
    """A false alarm as well as a correction: later runs open neither again."""
    finding = run_qc(study, "P004").findings.all()[0]
    actor = study["zhangyi"]
    finding_life.move(finding=finding, step="reject", actor=actor, reason="误报")
    finding_life.move(finding=finding, step="reopen", actor=actor, reason="再看")
    finding_life.close(finding=finding, actor=actor, resolution="已核对")
    planned(share=0)
    about = AuditEntry.objects.filter(project=study.project, object_id=str(finding.pk))
    kept = {one.action for one in about.filter(number__in=opened(study).critical)}
    assert kept == {"finding.reject", "finding.close"}


def test_the_sample_holds_all_critical_entries_and_a_share_of_the_others(study: Study) -> None:
    critical, others = written(study, "rows.export", 3), written(study, "project.change", 40)
    planned(share=10)
    review = opened(study)
    assert {*review.critical} >= {*critical}
    assert not {*review.rest} & {*critical}
    rest = review.total - len(review.critical)
    assert len(review.rest) == -(-rest // 10)
    assert trail_reviews.pick([*range(50)], 5, review.seed) == trail_reviews.pick(
        [*range(50)], 5, review.seed
    )
    assert others


def test_a_review_is_kept_signed_and_the_next_begins_where_it_ended(study: Study) -> None:
    written(study, "rows.export", 2)
    planned()
    done = reviewed(study)
    assert (done.closed_by, done.conclusion, done.left) == ("auditor", "无异常", 0)
    later = written(study, "rows.export", 1)
    following = opened(study)
    assert following.since == done.until
    assert [one for one in following.critical if one not in later] == []
    assert "无异常" in browser("auditor").get(f"{PAGE}{study.project.code}").content.decode()
    assert [*audit.verify()] == []


@pytest.mark.parametrize("password", ["", "not-the-password"])
def test_without_the_password_nothing_is_closed(study: Study, password: str) -> None:
    written(study, "rows.export", 1)
    planned()
    review = opened(study)
    posted(study, "auditor", do="seen", key=review.key, entry=review.sample)
    posted(study, "auditor", do="close", key=review.key, conclusion="x", password=password)
    assert trail_reviews.reviews(study.project)[0].closed_at is None


def test_what_is_not_marked_or_asked_without_words_is_refused(study: Study) -> None:
    written(study, "rows.export", 2)
    planned()
    review = opened(study)
    password = study.run["logins"]["auditor"]["password"]
    posted(study, "auditor", do="question", key=review.key, entry=review.sample[:1], note="")
    posted(study, "auditor", do="close", key=review.key, conclusion="x", password=password)
    [same] = trail_reviews.reviews(study.project)
    assert same.marks == {}
    assert same.closed_at is None
    posted(
        study, "auditor", do="question", key=review.key, entry=review.sample[:1], note="为何导出?"
    )
    [asked] = trail_reviews.reviews(study.project)
    assert asked.questions == 1
    assert asked.marks[review.sample[0]][1] == "为何导出?"


def test_only_whose_role_the_plan_names_reviews_and_only_administrators_plan(study: Study) -> None:
    address = f"{PAGE}{study.project.code}"
    planned()
    User.objects.filter(username="admin").update(is_superuser=False)
    assert browser("admin").post(address, {"do": "draw"}).status_code == 403
    plan = {"do": "plan", "days": 1, "role": "ADMIN", "share": 0}
    assert browser("auditor").post(address, plan).status_code == 403
    for who in ("zhangyi", "wanghushi"):
        assert browser(who).get(address).status_code == 403
    Member.objects.filter(project=study.project, role="AUDITOR").update(site="site_a")
    assert browser("auditor").get(address).status_code == 403


def test_what_rests_on_a_blinded_field_is_in_no_sample(study: Study) -> None:
    planned(share=100)
    chain = audit.chain_of(study.project.pk, unblinds=True)
    rows = AuditEntry.objects.filter(chain=chain)
    review = opened(study)
    found = trail_reviews.entries_of(study.project, review.sample)
    assert len(found) == len(review.sample)
    assert not {one.pk for one in found.values()} & {one.pk for one in rows}


def test_an_overdue_review_stands_in_the_auditors_agenda(study: Study) -> None:
    member = Member.objects.get(project=study.project, role="AUDITOR")

    def told() -> bool:
        return Kind.TRAIL_REVIEW in {row.kind for row in agenda(study.project, member, None)}

    planned()
    assert not told()
    assert trail_reviews.due_at(study.project) > now() + timedelta(days=29)  # type: ignore[operator]


def test_a_plan_that_is_none_is_refused(study: Study) -> None:
    posted(study, "admin", do="plan", days=0, role="AUDITOR", share=10)
    posted(study, "admin", do="plan", days=30, role="CRC", share=101)
    assert trail_reviews.plan_of(study.project) is None
    posted(study, "admin", do="draw")
    assert trail_reviews.reviews(study.project) == []
    posted(study, "admin", do="plan", days=30, role="PI", share=10)
    assert trail_reviews.plan_of(study.project) is None


def test_an_entry_whose_time_lies_before_the_sample_is_in_the_next(study: Study) -> None:
    """Its transaction began before the sample was drawn, and ended after it."""
    planned()
    reviewed(study)
    with time_machine.travel(now() - timedelta(minutes=5)):
        [late] = written(study, "rows.export", 1)
    assert late in opened(study).critical


def test_a_plan_that_is_saved_anew_puts_no_review_off(study: Study) -> None:
    planned()
    with time_machine.travel(now() + timedelta(days=20)):
        posted(study, "admin", do="plan", days=10, role="AUDITOR", share=50)
        assert trail_reviews.is_overdue(study.project)


def test_all_that_is_critical_is_looked_at(study: Study) -> None:
    critical = written(study, "rows.export", trail_reviews.MOST + 5)
    planned(share=0)
    assert {*opened(study).critical} >= {*critical}


def test_of_two_samples_at_once_the_first_counts_and_late_marks_do_not(study: Study) -> None:
    written(study, "rows.export", 1)
    planned()
    review = opened(study)
    draw = AuditEntry.objects.filter(action="trail_review.draw").latest("number")
    mark = {"key": review.key, "entries": review.sample, "mark": "question"}
    with atomic():
        again = draw.new | {"key": "second"}
        audit.record("trail_review.draw", actor="admin", project=study.project, new=again)
    assert [one.key for one in trail_reviews.reviews(study.project)] == [review.key]
    posted(study, "auditor", do="seen", key=review.key, entry=review.sample)
    password = study.run["logins"]["auditor"]["password"]
    posted(study, "auditor", do="close", key=review.key, conclusion="无异常", password=password)
    with atomic():
        audit.record("trail_review.mark", actor="admin", project=study.project, new=mark)
    [done] = trail_reviews.reviews(study.project)
    assert (done.questions, done.left) == (0, 0)

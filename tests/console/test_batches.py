"""The page of a batch: how far it is, for whom, and the way to stop it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from engines import sop
from engines.models import Batch, PendingAction, TaskRun
from engines.sop.batches import visible_to
from skills.models import Skill
from tests.console.conftest import SITE_A, SITE_B
from tests.engines.sop.kit import go, hard, human, new_skill, rule
from tests.support.study import Study

pytestmark = pytest.mark.django_db
BATCHES = "/admin/engines/batch/"


def order(study: Study, skill: Skill, *records: str, cap: int = 4) -> Batch:
    return sop.start_batch(
        project=study.project, skill=skill, record_ids=records, actor="zhangyi", cap=cap
    )


@pytest.fixture
def asking(study: Study) -> Skill:
    return new_skill(study, {"ask": human()})


def page(client: Client, batch: Batch) -> str:
    answer = client.get(f"{BATCHES}{batch.pk}/change/")
    assert answer.status_code == 200
    return answer.content.decode()


def counts(html: str) -> list[int]:
    """Done, then running, waiting for review, completed, failed, cancelled, not started."""
    done = re.search(r'class="iit-figure"[^>]*>\s*(\d+)', html)
    parts = re.findall(r'<span class="iit-dot[^"]*"></span>.*?<strong>(\d+)</strong>', html)
    assert done
    return [int(done[1]), *map(int, parts)]


def test_who_sees_the_whole_study_is_not_compared_subject_by_subject(
    study: Study, asking: Skill
) -> None:
    batch = order(study, asking, SITE_A, SITE_B)
    foreign = order(study, asking, SITE_B)
    for userid, seen in (("zhangyi", {batch, foreign}), ("wanghushi", {batch})):
        user = study[userid].user
        with CaptureQueriesContext(connection) as queries:
            assert {*visible_to(user)} == seen
        of_subjects = [query for query in queries if "iit_subjects" in query["sql"]]
        assert bool(of_subjects) is (userid == "wanghushi")


@pytest.mark.full
def test_the_counts_follow_the_runs(
    as_user: Callable[..., Client], study: Study, asking: Skill
) -> None:
    batch = order(study, asking, SITE_A, SITE_B, "P001", cap=2)
    client = as_user("zhangyi")
    assert counts(page(client, batch)) == [0, 2, 0, 0, 0, 0, 1]
    go(batch.runs.get(record_id=SITE_A))
    html = page(client, batch)
    assert counts(html) == [1, 1, 1, 0, 0, 0, 1]
    assert "data-goes-on" in html
    run = batch.runs.get(record_id=SITE_A)
    assert f"/admin/engines/taskrun/{run.pk}/change/" in html
    runs = re.search(r'href="(/admin/engines/taskrun/\?batch[^"]+SUSPENDED)"', html)
    assert runs
    listed = client.get(runs[1].replace("&amp;", "&")).content.decode()
    assert str(run.pk) in listed
    assert str(batch.runs.get(record_id=SITE_B).pk) not in listed


@pytest.mark.full
def test_what_it_found_is_told_to_whom_it_concerns(
    as_user: Callable[..., Client], study: Study
) -> None:
    batch = order(
        study,
        new_skill(study, {"check": hard(rules=[rule(logic={">": [{"var": "age"}, 200]})])}),
        SITE_A,
        SITE_B,
    )
    for run in batch.runs.all():
        go(run)
    for name, found in (("zhangyi", {SITE_A, SITE_B}), ("wanghushi", {SITE_A})):
        client = as_user(name)
        link = re.search(
            r'data-test="findings">.*?href="([^"]+)"><strong>(\d+)<', page(client, batch)
        )
        assert link
        assert int(link[2]) == PendingAction.objects.filter(record_id__in=found).count()
        listed = client.get(link[1].replace("&amp;", "&")).content.decode()
        assert {one for one in (SITE_A, SITE_B) if f">{one}<" in listed} == found


@pytest.mark.full
def test_an_ended_batch_is_not_asked_for_again(
    as_user: Callable[..., Client], study: Study
) -> None:
    batch = order(study, new_skill(study, {"check": hard()}), "P001")
    go(batch.runs.get())
    from engines.sop.batches import advance

    advance(batch.pk)
    html = page(as_user("zhangyi"), batch)
    assert "data-goes-on" not in html
    assert f"{BATCHES}{batch.pk}/cancel/" not in html


@pytest.mark.full
def test_a_site_sees_its_own_part_only(
    as_user: Callable[..., Client], study: Study, asking: Skill
) -> None:
    both = order(study, asking, SITE_A, SITE_B)
    own = order(study, asking, SITE_A)
    for run in both.runs.all():
        go(run)
    html = page(as_user("crc_b"), both)
    assert counts(html) == [1, 0, 1, 0, 0, 0, 0]
    assert SITE_B in html
    assert SITE_A not in html
    listed = as_user("crc_b").get(BATCHES).content.decode()
    assert str(both.pk) in listed
    assert str(own.pk) not in listed
    hidden = as_user("crc_b").get(f"{BATCHES}{own.pk}/change/")
    missing = as_user("crc_b").get(f"{BATCHES}00000000-0000-0000-0000-000000000000/change/")
    assert (hidden.status_code, hidden.headers.get("Location")) == (
        missing.status_code,
        missing.headers.get("Location"),
    )
    assert as_user("charlie").get(BATCHES).status_code == 403


@pytest.mark.full
@pytest.mark.parametrize(("who", "may"), [("zhangyi", True), ("auditor", False), ("crc_b", False)])
def test_it_is_cancelled_by_who_decides_and_sees_all_of_it(
    who: str, may: bool, as_user: Callable[..., Client], study: Study, asking: Skill
) -> None:
    batch = order(study, asking, SITE_A, SITE_B)
    client = as_user(who)
    assert (f"{BATCHES}{batch.pk}/cancel/" in page(client, batch)) is may
    answer = client.post(f"{BATCHES}{batch.pk}/cancel/", {"reason": "错误"})
    assert answer.status_code == 302
    batch.refresh_from_db()
    assert (batch.cancelled_at is not None) is may
    statuses = {*batch.runs.values_list("status", flat=True)}
    assert statuses == ({"CANCELLED"} if may else {"RUNNING"})
    assert counts(page(client, batch))[5] == (2 if may else 0)
    client.post(f"{BATCHES}{batch.pk}/cancel/", {"reason": "noch einmal"})
    assert TaskRun.objects.count() == 2


def test_looking_starts_and_stops_nothing(
    as_user: Callable[..., Client], study: Study, asking: Skill
) -> None:
    batch = order(study, asking, SITE_A)
    assert as_user("zhangyi").get(f"{BATCHES}{batch.pk}/cancel/").status_code == 405
    other = order(study, asking, SITE_A)
    assert as_user("crc_b").post(f"{BATCHES}{other.pk}/cancel/").status_code == 404

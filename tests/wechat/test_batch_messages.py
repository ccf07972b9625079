"""A batch tells who ordered it once, at its end; reviews are asked for as ever (issue 3, Build)."""

from __future__ import annotations

import pytest

from engines import sop
from engines.models import Batch, PendingAction, TaskRun
from engines.sop.batches import advance
from engines.tasks import sweep_runs
from study.models import Subject
from tests.engines.chat.kit import ask
from tests.engines.sop.kit import go, hard, human, new_skill, qc, review_of, rule
from tests.support.study import Study
from tests.support.tasks import drain, purge
from tests.wechat.working import outgoing, payloads

pytestmark = pytest.mark.django_db(transaction=True)
SOME = ("P001", "P002", "P004")


def results(user: str) -> list[str]:
    """Texts to a member that are no questions."""
    return [text for text in outgoing(user) if "/admin/engines/batch/" in text]


def order(study: Study, nodes: dict[str, object], records: tuple[str, ...] = SOME) -> Batch:
    skill = new_skill(study, nodes)
    return sop.start_batch(
        project=study.project, skill=skill, record_ids=records, actor="zhangyi", cap=2
    )


@pytest.mark.full
def test_one_message_at_the_end_names_the_findings(study: Study) -> None:
    old = rule(id="OLD", logic={"<": [{"var": "age"}, 1]})
    batch = order(study, {"check": hard(rules=[old], on_fail="end")})
    drain(limit=1)
    assert outgoing("zhangyi") == []
    drain()
    assert TaskRun.objects.filter(status="COMPLETED").count() == len(SOME)
    (text,) = outgoing("zhangyi")
    assert str(batch.pk) in text
    found = PendingAction.objects.filter(open_key__isnull=False)
    assert {*found.values_list("record_id", flat=True)} == {*SOME}
    assert all(record_id in text for record_id in SOME)
    batch.refresh_from_db()
    assert batch.ended_at is not None


@pytest.mark.full
def test_it_is_told_once_however_often_the_sweeper_comes(study: Study) -> None:
    batch = order(study, {"check": hard()})
    drain()
    for _time in range(3):
        advance(batch.pk)
        sweep_runs()
        drain()
    assert len(outgoing("zhangyi")) == 1


@pytest.mark.full
def test_a_lost_wake_of_the_last_run_is_made_up_by_the_sweeper(study: Study) -> None:
    batch = order(study, {"check": hard()}, SOME[:1])
    go(batch.runs.get())
    purge()
    assert outgoing("zhangyi") == []
    sweep_runs()
    drain()
    assert len(results("zhangyi")) == 1


@pytest.mark.full
def test_who_waits_for_review_is_counted_and_asked_for(study: Study) -> None:
    batch = order(study, {"ask": human()}, SOME[:2])
    drain()
    assert len(payloads("card")) == 2, "each reviewer's question comes as ever"
    (text,) = outgoing("zhangyi")
    assert text == results("zhangyi")[0]
    assert "2" in text

    waits = batch.runs.order_by("record_id").first()
    assert waits is not None
    review, actor = review_of(waits), study["wanghushi"]
    sop.decide(
        review_id=review.pk, actor=actor, decision="approve", reason="已核对", seen=review.seen
    )
    drain()
    assert len(outgoing("zhangyi")) == 1, "the reviewer knows; the page of the batch shows it"


@pytest.mark.full
def test_a_cancelled_batch_says_so_once(study: Study) -> None:
    batch = order(study, {"check": hard()})
    sop.cancel_batch(batch=batch, actor="admin", reason="")
    drain()
    sweep_runs()
    drain()
    assert len(results("zhangyi")) == 1
    assert outgoing("zhangyi") == results("zhangyi")


@pytest.mark.full
def test_who_moved_to_a_site_reads_only_of_that_site(study: Study) -> None:
    """design.md 9.7: what an order covered is not what its orderer may see later."""
    site = study["wanghushi"].site
    others = Subject.objects.filter(project=study.project).exclude(site=site)
    # No number like 007: the link in the message may hold those digits.
    foreign = others.filter(record_id__startswith="P").values_list("record_id", flat=True)[0]
    old = rule(id="OLD", logic={"<": [{"var": "age"}, 1]})
    order(study, {"check": hard(rules=[old], on_fail="end")}, ("P001", foreign))
    member = study["zhangyi"]
    member.site = site
    member.save()
    drain()
    (text,) = outgoing("zhangyi")
    assert "P001" in text
    assert foreign not in text


def test_a_single_run_is_told_as_before(study: Study) -> None:
    run = sop.start(
        project=study.project, skill=qc(study), record_id="P004", triggered_by="zhangyi"
    )
    drain()
    (text,) = outgoing("zhangyi")
    assert str(run.record_id) in text
    assert results("zhangyi") == []


@pytest.mark.full
def test_everybody_ordered_in_chat_is_one_batch(study: Study) -> None:
    ask("crc_b", "全部受试者跑一遍质控")
    reply = ask("crc_b", "确认")
    batch = Batch.objects.get()
    mine = Subject.objects.filter(project=study.project, site="site_b", is_present=True)
    assert len(reply.task_run_ids) == batch.runs.count() == mine.count() > 5
    drain()
    told = [text for text in outgoing("crc_b") if "/admin/engines/batch/" in text]
    assert len(told) == 1
    assert len(outgoing("crc_b")) == 1

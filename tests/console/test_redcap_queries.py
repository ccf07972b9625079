"""One list for the CRC: REDCap's own queries beside the findings, and nobody asked or counted twice."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils.timezone import now

from engines import redcap_asks
from engines.models import PendingAction, TaskRun
from study import readings
from study.models import RedcapQuery, Subject, SyncState
from tests.console.conftest import SITE_A, SITE_B
from tests.console.test_agenda import part, rows
from tests.engines.chat.kit import ask, silenced
from tests.support.study import Study

LIST = "/admin/engines/pendingaction/"
SAME, OTHER, ELSEWHERE = 7071, 7072, 7073
AsUser = Callable[..., Client]


def query(study: Study, number: int, record: str, **more: Any) -> RedcapQuery:
    at = now() - timedelta(days=number % 100)
    times = {"opened_at": at, "last_at": at, "read_at": now()}
    told = {"text": f"请核对来源记录{number}", "opened_by": "monitor", **times, **more}
    return RedcapQuery.objects.create(
        project=study.project, status_id=number, record_id=record, **told
    )


@pytest.fixture
def asked(study: Study, run_a: TaskRun) -> PendingAction:
    """A finding of ours that REDCap asks about itself; one query elsewhere, one of another site."""
    readings.read_all(study.project)
    finding = PendingAction.objects.get(record_id=SITE_A)
    assert study.project.reads_queries
    place = {name: getattr(finding, name) for name in ("event", "instrument", "instance", "field")}
    query(study, SAME, SITE_A, **place)
    query(study, OTHER, SITE_A, event="v2_arm_1", field="alt")
    query(study, ELSEWHERE, SITE_B, event="v2_arm_1", field="alt")
    SyncState.objects.filter(project=study.project).update(queries_at=now())
    return finding


def page(client: Client, **asked: str) -> str:
    return client.get(LIST, asked).content.decode()


def test_one_list_shows_both_and_says_where_both_ask_the_same(
    as_user: AsUser, asked: PendingAction
) -> None:
    told = page(as_user("wanghushi", "zh-hans"))
    assert told.count("请核对来源记录7072") == 1
    assert "请核对来源记录7071" not in told  # our finding stands for it
    assert "REDCap 已有质疑 #7071" in told
    assert "请核对来源记录7073" not in told  # of another site
    assert "REDCap 质疑截至" in told
    [own] = RedcapQuery.objects.filter(status_id=OTHER)
    assert f"/admin/study/redcapquery/{own.pk}/redcap/" in told
    assert f"/admin/study/redcapquery/{own.pk}/change/" in told


@pytest.mark.full
def test_filters_search_and_file_hold_the_queries(as_user: AsUser, asked: PendingAction) -> None:
    client = as_user("wanghushi", "zh-hans")
    assert "请核对来源记录7072" in page(client, source="redcap")
    assert "年龄超出范围" not in page(client, source="redcap")
    assert "请核对来源记录7072" not in page(client, source="ours")
    assert "请核对来源记录7072" in page(client, q="记录7072")
    assert "请核对来源记录7072" not in page(client, q="记录7079")
    assert "请核对来源记录7072" in page(client, waits="yes", record_id__exact=SITE_A)
    for other in ({"waits": "no"}, {"severity__exact": "error"}, {"record_id__exact": "P001"}):
        assert "请核对来源记录7072" not in page(client, **other)
    file = client.get(f"{LIST}export/", {"source": "redcap"})
    [head, line] = csv.reader(io.StringIO(b"".join(file).decode("utf-8-sig")))
    told = dict(zip(head, line, strict=True))
    assert told["来源"] == "REDCap"
    assert {SITE_A, "#7072 请核对来源记录7072"} <= {*line}
    both = b"".join(client.get(f"{LIST}export/")).decode("utf-8-sig")
    assert both.count("\n") == 3


@pytest.mark.full
def test_pages_hold_each_row_once(
    as_user: AsUser, asked: PendingAction, monkeypatch: pytest.MonkeyPatch, study: Study
) -> None:
    from engines.admin.findings import PendingActionAdmin

    for number in range(7100, 7107):
        query(study, number, SITE_A, field="alt", event=f"e{number}")
    monkeypatch.setattr(PendingActionAdmin, "list_per_page", 3)
    client = as_user("wanghushi")
    texts = "".join(page(client, p=str(number)) for number in (1, 2, 3))
    assert [texts.count(f"记录{number}") for number in (7072, *range(7100, 7107))] == [1] * 8
    assert "年龄超出范围" in page(client, p="1")
    assert page(client, all="").count("请核对来源记录") == 8


@pytest.mark.full
def test_nobody_is_asked_twice(as_user: AsUser, asked: PendingAction) -> None:
    client = as_user("wanghushi", "zh-hans")
    shown = client.get(f"{LIST}{asked.pk}/change/").content.decode()
    assert "REDCap 已有质疑 #7071" in shown
    assert 'value="query"' not in shown
    told = client.post(
        f"{LIST}{asked.pk}/step/", {"step": "query", "reason": "请核对"}, follow=True
    )
    assert "REDCap 已有质疑 #7071" in told.content.decode()
    asked.refresh_from_db()
    assert asked.state == PendingAction.State.OPEN
    assert not asked.events.filter(what="query").exists()
    RedcapQuery.objects.filter(status_id=SAME).update(state="closed")
    client.post(f"{LIST}{asked.pk}/step/", {"step": "query", "reason": "请核对"})
    asked.refresh_from_db()
    assert asked.state == PendingAction.State.QUERIED


@pytest.mark.full
def test_home_chat_and_desk_count_the_same(
    as_user: AsUser, asked: PendingAction, study: Study
) -> None:
    silenced(study)
    home = as_user("wanghushi", "zh-hans").get("/admin/").content.decode()
    card = part(home, "findings")
    assert "REDCap 未关闭的质疑" in card
    assert rows(home)["asked"] == "1"
    answer = ask("wanghushi", "有哪些疑点没处理").text
    assert "#7072" in answer
    assert answer.count("#7071") == 1  # told with our finding
    assert "#7073" not in answer
    assert "2" in answer
    assert "#7073" in ask("crc_b", "有哪些疑点没处理").text
    # The finding is done, the query is not.
    PendingAction.objects.update(open_key=None, state="closed")
    mine = redcap_asks.of_member(study.project, study["wanghushi"])
    assert {one.status_id for one in mine} == {SAME, OTHER}


@pytest.mark.full
def test_what_is_not_the_readers_is_nowhere(
    as_user: AsUser, asked: PendingAction, study: Study
) -> None:
    [own] = RedcapQuery.objects.filter(status_id=OTHER)
    address = f"/admin/study/redcapquery/{own.pk}"
    assert "请核对来源记录7072" in as_user("wanghushi").get(f"{address}/change/").content.decode()
    hidden = as_user("crc_b").get(f"{address}/change/", follow=True).content.decode()
    assert "请核对来源记录7072" not in hidden
    assert as_user("crc_b").get(f"{address}/redcap/").status_code == 404
    assert as_user("charlie").get(LIST).status_code in (302, 403)
    Subject.objects.filter(record_id=SITE_A).update(is_present=False)
    assert "请核对来源记录7072" not in page(as_user("wanghushi"))
    study.project.reads_queries = False
    study.project.save()
    assert "REDCap 质疑" not in page(as_user("wanghushi", "zh-hans"))


@pytest.mark.full
def test_the_field_in_redcap_is_opened(as_user: AsUser, asked: PendingAction) -> None:
    [own] = RedcapQuery.objects.filter(status_id=OTHER)
    found = as_user("wanghushi").get(f"/admin/study/redcapquery/{own.pk}/redcap/")
    assert "fldfocus=alt" in found["Location"]
    assert f"id={SITE_A}" in found["Location"]

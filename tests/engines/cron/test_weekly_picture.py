"""The charts beside the weekly message: one picture a reader, as that reader may see them, sent once."""

from __future__ import annotations

import io
import json
import re
from datetime import timedelta
from typing import Any

import httpx
import pytest
from PIL import Image

from engines.models import RunEvent
from engines.sop.run_events import tell_lane
from engines.weekly_picture import weekly_picture, weekly_sheet
from projects.models import Member
from study import readings
from study.models import ReadingState, Subject
from tests.engines.cron.kit import Status, at, clock, fired, no_rest
from tests.support.study import Study
from wechat.models import OutboxMessage
from wechat.outbound import sender

pytestmark = [pytest.mark.django_db, pytest.mark.full]
SEND, UPLOAD = "message/send", "media/upload"
BUSY = 1
"""An upload of `send_text_alone` that WeCom did not take."""


@pytest.fixture(autouse=True)
def _ready(study: Study) -> None:
    no_rest(study)
    readings.read_all(study.project)


def announced(study: Study) -> None:
    """The weekly report's message for everybody it is for."""
    with at(clock(study, "09:00", 8)):
        run = fired(study, "weekly_report")
        for event in RunEvent.objects.filter(run=run, kind=RunEvent.Kind.NOTICE_READY):
            RunEvent.objects.filter(pk=event.pk).update(told_at=None)
        tell_lane(run.pk)


def pictures(userid: str = "") -> list[OutboxMessage]:
    rows = OutboxMessage.objects.filter(kind="image").order_by("pk")
    return [*(rows.filter(to_user=userid) if userid else rows)]


def send(study: Study, userid: str, later_s: float = 60) -> None:
    with at(clock(study, "09:00", 8) + timedelta(seconds=later_s)):
        sender.send_lane(userid)


def sent(study: Study, userid: str) -> list[dict[str, Any]]:
    return [row for row in study.stand_ins.sent() if row["to"] == userid]


def image(study: Study, row: dict[str, Any]) -> bytes:
    address = f"{study.stand_ins.url}/simulator/media"
    return httpx.get(address, params={"id": row["content"]["media_id"]}, trust_env=False).content


def calls(study: Study, path: str) -> list[dict[str, Any]]:
    return [row for row in study.stand_ins.requests("wecom") if row["path"].endswith(path)]


def enrolled(member: Member) -> tuple[int, bool]:
    """How many the picture says are enrolled, and whether it draws a target."""
    sheet = weekly_sheet(member)
    assert sheet
    svg = "".join(svg for panel in sheet.panels for _caption, svg in panel.drawings)
    told = re.findall(r'data-series="(.*?)" data-at="(.*?)" data-value="(.*?)"', svg)
    curve = [int(value) for name, _at, value in told if name in ("Enrolled", "已入组")]
    return curve[-1], any(name in ("Target", "目标") for name, _at, _value in told)


def test_each_reader_is_sent_one_behind_the_text(study: Study) -> None:
    """However often the event is told."""
    announced(study)
    readers = {row.to_user for row in OutboxMessage.objects.filter(key__startswith="notify:")}
    assert len(readers) > 1
    assert sorted(row.to_user for row in pictures()) == sorted(readers)
    for userid in sorted(readers):
        send(study, userid)
        send(study, userid, 600)
        *_others, text, picture = sent(study, userid)
        assert text["type"] in ("text", "markdown")
        assert picture["type"] == "image"
        made = Image.open(io.BytesIO(image(study, picture)))
        assert (made.format, made.width) == ("PNG", 1083)
    assert len(calls(study, UPLOAD)) == len(readers)
    assert {row.status for row in pictures()} == {Status.SENT}


def test_nothing_of_it_is_kept_in_the_house(study: Study) -> None:
    announced(study)
    send(study, "zhangyi")
    (row,) = pictures("zhangyi")
    message = json.loads(row.payload)["message"]
    assert [*message["image"]] == ["media_id"]
    assert len(row.payload) < 1000


def test_a_site_is_shown_its_own_and_no_target(study: Study) -> None:
    whole, own = study["zhangyi"], study["crc_b"]
    theirs = {*Subject.objects.filter(site="site_b").values_list("record_id", flat=True)}
    count, has_target = enrolled(own)
    assert 0 < count <= len(theirs)
    assert not has_target
    assert enrolled(whole)[0] > count
    assert enrolled(whole)[1]


def test_it_is_drawn_for_who_the_reader_is_when_it_is_sent(study: Study) -> None:
    announced(study)
    member = study["zhangyi"]
    with at(clock(study, "09:00", 8) + timedelta(seconds=60)):
        before = weekly_picture(member)
        Member.objects.filter(pk=member.pk).update(site="site_b")
        member.refresh_from_db()
        now_theirs = weekly_picture(member)
        assert before != now_theirs
    send(study, "zhangyi")
    assert image(study, sent(study, "zhangyi")[-1]) == now_theirs


@pytest.mark.parametrize("why", ["left", "unread"])
def test_who_may_see_nothing_is_sent_nothing(study: Study, why: str) -> None:
    announced(study)
    if why == "left":
        Member.objects.filter(pk=study["zhangyi"].pk).update(is_active=False)
    else:
        ReadingState.objects.all().delete()
        readings.Reading.objects.all().delete()
    send(study, "zhangyi")
    assert not [row for row in sent(study, "zhangyi") if row["type"] == "image"]
    assert not calls(study, UPLOAD)
    assert [row.status for row in pictures("zhangyi")] == [Status.WITHDRAWN]


def test_an_unanswered_send_is_repeated_as_the_identical_json(study: Study) -> None:
    announced(study)
    send_text_alone(study)
    study.stand_ins.fault("wecom", "timeout_after", 0.0, path=SEND)
    for later_s in (70, 80):
        send(study, "zhangyi", later_s)
    bodies = [row["body"] for row in calls(study, SEND) if '"image"' in row["body"]]
    assert len(bodies) == 2
    assert bodies[0] == bodies[1]
    assert len(calls(study, UPLOAD)) == BUSY + 1
    assert [row["type"] for row in sent(study, "zhangyi")].count("image") == 1


def test_an_id_that_expired_is_uploaded_anew(study: Study) -> None:
    announced(study)
    send_text_alone(study)
    study.stand_ins.fault("wecom", "body", {"errcode": 45009, "errmsg": "no"}, path=SEND)
    send(study, "zhangyi", 70)
    study.stand_ins.post("wecom/media/forget", {})
    send(study, "zhangyi", 200)
    assert [row.status for row in pictures("zhangyi")] == [Status.PENDING]
    send(study, "zhangyi", 300)
    assert len(calls(study, UPLOAD)) == BUSY + 2
    assert [row["type"] for row in sent(study, "zhangyi")].count("image") == 1


def test_an_id_of_three_days_ago_is_not_tried(study: Study) -> None:
    announced(study)
    send_text_alone(study)
    study.stand_ins.fault("wecom", "body", {"errcode": 45009, "errmsg": "no"}, path=SEND)
    send(study, "zhangyi", 70)
    send(study, "zhangyi", 3 * 24 * 3600)
    assert len(calls(study, UPLOAD)) == BUSY + 2
    assert "40007" not in str(pictures("zhangyi")[0].error_code)
    assert [row["type"] for row in sent(study, "zhangyi")].count("image") == 1


def test_what_wecom_refuses_becomes_a_link(study: Study) -> None:
    announced(study)
    study.stand_ins.fault("wecom", "body", {"errcode": 45001, "errmsg": "no"}, path=UPLOAD)
    send(study, "zhangyi")
    send(study, "zhangyi", 120)
    assert [row.status for row in pictures("zhangyi")] == [Status.FAILED]
    last = sent(study, "zhangyi")[-1]
    assert last["type"] in ("text", "markdown")
    assert f"/admin/charts/?project={study.project.code}" in str(last["content"])


def send_text_alone(study: Study) -> None:
    """The text goes out; the picture waits behind it for an upload that was busy once."""
    study.stand_ins.fault("wecom", "body", {"errcode": -1, "errmsg": "busy"}, path=UPLOAD)
    send(study, "zhangyi")
    assert pictures("zhangyi")[0].status == Status.PENDING

"""The smart bot without a public address: the long connection (issue 27, O.2; wecom.md 5)."""

from __future__ import annotations

import socket
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils.timezone import now
from pytest_django import Settings

from core.integrations.wecom.socket import BotSocket, SocketDown
from tests.support.stand_ins import StandIns
from tests.support.study import Study
from tests.wechat.link_kit import (
    IMAGE,
    QUERYING,
    QUICK,
    SHORT,
    all_sent,
    asks,
    configure,
    finals,
    hold,
    link,
    worked,
)
from tests.wechat.working import said, work
from wechat import housekeeping
from wechat.aibot.lease import Lease
from wechat.models import Alert, BotConnection, GroupChat, InboxMessage, OutboxMessage, Stream
from wechat.outbound import sender

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _bot(settings: Settings, stand_ins: StandIns) -> None:
    configure(settings, stand_ins)


def later(**span: float) -> Any:
    return time_machine.travel(now() + timedelta(**span), tick=True)


def alarms() -> set[str]:
    return set(Alert.objects.filter(cleared_at=None).values_list("code", flat=True))


def test_querying_then_the_answer(study: Study, stand_ins: StandIns) -> None:
    asks(stand_ins)
    hold(lambda: worked(stand_ins))
    first, last = [row for row in stand_ins.sent() if row["type"].startswith("stream")]
    assert (first["type"], first["content"]) == ("stream_first", QUERYING)
    assert "2026-02-05" in last["content"]
    row = InboxMessage.objects.get()
    assert (row.channel, row.status, row.project) == ("socket", "done", study.project)
    sent = OutboxMessage.objects.get()
    assert (sent.kind, sent.status, sent.possible_duplicate) == ("stream", "sent", False)
    assert Stream.objects.get().opened_at


@pytest.mark.usefixtures("people")
def test_a_frame_that_comes_again_is_one_question(stand_ins: StandIns) -> None:
    link(stand_ins, switches={"duplicates": 1.0, "new_req_id": True})
    for _ in range(3):
        asks(stand_ins, **IMAGE)
    hold(lambda: worked(stand_ins))
    assert InboxMessage.objects.count() == 3
    assert len(finals(stand_ins)) == 3


@pytest.mark.full
@pytest.mark.usefixtures("people")
def test_thirty_questions_through_blips_and_kicks(stand_ins: StandIns) -> None:
    """The small one of tests/wechat/test_thousand_questions.py: in order, each once."""
    link(stand_ins, switches={"duplicates": 0.3, "lose_acks": 0.0, "swap_acks": 0.3})
    asked: dict[str, list[str]] = {}
    for number in range(30):
        user = ("zhangyi", "wanghushi", "crc_b")[number % 3]
        asked.setdefault(user, []).append(asks(stand_ins, user=user, **IMAGE))
    blows = iter([{"drop": True}, {"kick": True}, {"drop": True}])

    def done() -> bool:
        if len(finals(stand_ins)) > 5 and link(stand_ins)["subscribed"]:
            link(stand_ins, **next(blows, {}))
        return worked(stand_ins) and next(blows, None) is None

    hold(done)
    seen = finals(stand_ins)
    for user, msgids in asked.items():
        assert [row["msgid"] for row in seen if row["to"] == user] == msgids


@pytest.mark.full
def test_a_slow_answer_comes_as_a_message_of_its_own(study: Study, stand_ins: StandIns) -> None:
    """The stream says so in time, and the answer is pushed."""
    asks(stand_ins)
    hold(lambda: Stream.objects.filter(opened_at__isnull=False).exists())
    with later(minutes=5, seconds=40):
        hold(lambda: Stream.objects.filter(expired_at__isnull=False).exists())
        work()
        hold(lambda: OutboxMessage.objects.filter(status="sent").exists())
    told, pushed = finals(stand_ins)
    assert told["content"] == said("This takes longer. The answer follows in a message of its own.")
    assert (pushed["type"], pushed["to"]) == ("aibot_push", "ZhangYi")
    assert "2026-02-05" in pushed["content"]


IN_GROUP = {"chattype": "group", "chatid": "wrABC"}


def test_a_question_in_a_group_is_answered_by_the_bot_in_the_single_chat(
    study: Study, stand_ins: StandIns
) -> None:
    GroupChat.objects.create(chat_id="wrABC", project=study.project, bound_by="admin")
    asks(stand_ins, "@RobotA P001 入组了吗?", **IN_GROUP)
    hold(lambda: worked(stand_ins) and all_sent())
    alone, in_group = sorted(finals(stand_ins), key=lambda row: row["type"])
    assert (alone["type"], alone["to"]) == ("aibot_push", "ZhangYi")
    assert "2026-02-05" in alone["content"]
    assert in_group["content"] == said("I have answered you in our single chat.")
    assert {*OutboxMessage.objects.values_list("kind", "status")} == {("stream", "sent")}


@pytest.mark.full
def test_a_push_to_the_single_chat_that_is_refused_goes_by_the_app(
    study: Study, stand_ins: StandIns
) -> None:
    GroupChat.objects.create(chat_id="wrABC", project=study.project, bound_by="admin")
    link(stand_ins, switches={"refuse_push": 86003})
    asks(stand_ins, "@RobotA P001 入组了吗?", **IN_GROUP)
    hold(lambda: worked(stand_ins) and OutboxMessage.objects.filter(kind="text").exists())
    told = OutboxMessage.objects.get(kind="text")
    assert told.to_user == "zhangyi"
    assert "2026-02-05" in told.payload
    assert OutboxMessage.objects.filter(kind="stream", status="failed").count() == 1


@pytest.mark.full
@pytest.mark.usefixtures("people")
def test_a_request_that_wecom_forgot_is_answered_by_a_push(stand_ins: StandIns) -> None:
    """846605 after a new connection: nothing had gone out, so nothing may be doubled."""
    asks(stand_ins, **IMAGE)
    hold(lambda: Stream.objects.filter(opened_at__isnull=False).exists())
    link(stand_ins, switches={"forget_requests": True})
    work()
    hold(lambda: OutboxMessage.objects.filter(status="sent").exists())
    assert [row["type"] for row in finals(stand_ins)] == ["aibot_push"]
    assert not OutboxMessage.objects.get().possible_duplicate


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("mode", ["socket", "callback"])
def test_an_answer_that_nobody_can_post_goes_by_the_app(
    stand_ins: StandIns, settings: Settings, mode: str
) -> None:
    """Once, and only what cannot have arrived; the house may have changed to callbacks meanwhile."""
    for user in ("zhangyi", "wanghushi"):
        asks(stand_ins, user=user, **IMAGE)
    hold(lambda: InboxMessage.objects.count() == 2)
    work()
    OutboxMessage.objects.filter(to_user="wanghushi").update(is_ambiguous=True)
    if mode == "callback":
        settings.WECOM_AIBOT_SECRET = ""
    with later(minutes=9):
        housekeeping.run_due()
    assert not OutboxMessage.objects.exclude(status="pending").exists()
    with later(minutes=15):
        housekeeping.run_due()
        housekeeping.run_due()
        told = OutboxMessage.objects.exclude(kind="stream").get()
        assert (told.kind, told.to_user) == ("text", "zhangyi")
        sender.send_lane("zhangyi")
    assert [row["to"] for row in stand_ins.sent() if row["type"] == "text"] == ["zhangyi"]
    left = OutboxMessage.objects.filter(kind="stream").values_list("to_user", "status")
    assert {*left} == {("zhangyi", "failed"), ("wanghushi", "pending")}


@pytest.mark.full
@pytest.mark.usefixtures("people")
def test_the_app_overtakes_no_answer_that_waits_for_the_connection(stand_ins: StandIns) -> None:
    """WeCom was busy for the first of two: the second stays behind it."""
    for _number in range(2):
        asks(stand_ins, user="zhangyi", **IMAGE)
    hold(lambda: InboxMessage.objects.count() == 2)
    work()
    first = OutboxMessage.objects.order_by("pk")[0]
    with later(minutes=15):
        OutboxMessage.objects.filter(pk=first.pk).update(available_at=now() + timedelta(hours=1))
        housekeeping.run_due()
    assert not OutboxMessage.objects.exclude(kind="stream", status="pending").exists()


@pytest.mark.full
@pytest.mark.usefixtures("people")
def test_an_answer_that_may_have_arrived_goes_by_the_app_later(stand_ins: StandIns) -> None:
    """Put back, or under way as its process died: a second copy, noted as such, is better than none."""
    users = {"zhangyi", "wanghushi"}
    for user in users:
        asks(stand_ins, user=user, **IMAGE)
    hold(lambda: InboxMessage.objects.count() == len(users))
    work()
    OutboxMessage.objects.filter(to_user="zhangyi").update(is_ambiguous=True)
    held = {"status": "sending", "lease_until": now() + sender.LEASE}
    OutboxMessage.objects.filter(to_user="wanghushi").update(**held)
    with later(minutes=29):
        housekeeping.run_due()
    assert not OutboxMessage.objects.filter(kind="text").exists()
    with later(minutes=32):
        housekeeping.run_due()
        housekeeping.run_due()
    texts = OutboxMessage.objects.filter(kind="text").values_list("to_user", flat=True)
    assert sorted(texts) == sorted(users)
    left = OutboxMessage.objects.filter(kind="stream").values_list("status", "possible_duplicate")
    assert {*left} == {("failed", True)}


@pytest.mark.usefixtures("people")
def test_an_answer_is_left_to_who_holds_the_connection(stand_ins: StandIns) -> None:
    asks(stand_ins, **IMAGE)
    hold(lambda: InboxMessage.objects.exists())
    work()
    with later(minutes=15):
        lease = Lease(beats=False)
        assert lease.acquire()
        assert lease.connected()
        housekeeping.run_due()
        assert OutboxMessage.objects.get().status == "pending"
        lease.release()
        housekeeping.run_due()
        assert OutboxMessage.objects.filter(kind="text").exists()


def test_another_connection_is_told_and_not_fought_over(stand_ins: StandIns) -> None:
    hold(lambda: link(stand_ins)["subscribed"])
    before = link(stand_ins)["subscriptions"]
    kicks = iter([{"kick": True}] * 3)

    def kicked() -> bool:
        if link(stand_ins)["subscribed"]:
            link(stand_ins, **next(kicks, {}))
        return BotConnection.objects.get().kicks == 3

    hold(kicked)
    assert link(stand_ins)["subscriptions"] - before <= 4
    assert alarms() == {"bot_kicked"}
    assert "3×" in Alert.objects.get().detail
    with later(hours=2):
        hold(lambda: not alarms())


@pytest.mark.full
def test_after_a_kick_nobody_connects_for_a_while(stand_ins: StandIns) -> None:
    """Another process of the house neither: the pause stands in the database."""
    lease = Lease()
    assert lease.acquire()
    lease.block(timedelta(minutes=1))
    lease.release()
    looks = iter(range(50))
    hold(lambda: next(looks, None) is None)
    assert link(stand_ins)["subscriptions"] == 0
    with later(minutes=2):
        hold(lambda: link(stand_ins)["subscribed"])


def test_a_wrong_secret_is_told_and_not_tried_again(
    stand_ins: StandIns, settings: Settings
) -> None:
    settings.WECOM_AIBOT_SECRET = "of yesterday"
    hold(lambda: alarms() == {"bot_secret"} and BotConnection.objects.get().not_before)
    looks = iter(range(50))
    hold(lambda: next(looks, None) is None)
    assert link(stand_ins)["subscriptions"] == 1
    assert BotConnection.objects.get().error_code == 853000
    configure(settings, stand_ins)
    hold(lambda: link(stand_ins)["subscribed"])
    assert alarms() == set()


@pytest.mark.full
def test_no_network_is_told_after_some_tries(stand_ins: StandIns, settings: Settings) -> None:
    settings.WECOM_AIBOT_SOCKET = "ws://127.0.0.1:9/"
    hold(lambda: alarms() == {"bot_down"})
    configure(settings, stand_ins)
    hold(lambda: link(stand_ins)["subscribed"])
    assert alarms() == set()


def test_a_firewall_that_drops_is_told_however_long_a_try_takes(settings: Settings) -> None:
    """Nothing ever answers: the time that a try takes is not time that a connection stood."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings.WECOM_AIBOT_SOCKET = f"ws://127.0.0.1:{silent.getsockname()[1]}/"
        patience = replace(QUICK, answer_s=0.05)
        hold(lambda: alarms() == {"bot_down"}, replace(SHORT, steady_s=0.01), patience)


def test_an_address_that_the_house_may_not_ask_is_not_connected_to(settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as inside:
        settings.WECOM_AIBOT_SOCKET = f"ws://127.0.0.1:{inside.getsockname()[1]}/"
        settings.PRIVATE_HTTP_HOSTS = []
        inside.setblocking(False)
        with pytest.raises(SocketDown, match="OutsideRefused"):
            BotSocket.open(settings.WECOM_AIBOT_SOCKET, "id", "secret")
        with pytest.raises(BlockingIOError):
            inside.accept()


def test_whoever_holds_it_may_take_it_anew() -> None:
    """After the database was away for a moment."""
    lease = Lease()
    assert lease.acquire()
    assert lease.acquire()
    assert lease.renew()


def test_who_stands_by_takes_over(stand_ins: StandIns) -> None:
    first, second = Lease(), Lease()
    assert first.acquire()
    assert not second.acquire()
    with later(seconds=40):
        assert second.acquire()
        assert not first.renew()
        first.release()  # changes nothing any more
        assert second.renew()

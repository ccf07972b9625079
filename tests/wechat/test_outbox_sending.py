"""Out of the outbox, over real HTTP: in order, each once, and what each failure does (wecom.md 8.2)."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils.timezone import now
from pytest_django import Settings

from core.integrations.wecom import WecomClient
from tests.wechat.working import claim
from tests.wecom_standin import GETTOKEN, SEND, USERS, WecomSim
from wechat.models import AccessToken, Alert, OutboxMessage
from wechat.outbound import sender
from wechat.outbound.outbox import enqueue

pytestmark = [pytest.mark.django_db, pytest.mark.database]
Status = OutboxMessage.Status


def put(*texts: str, to: str = "zhangyi") -> None:
    for text in texts:
        number = OutboxMessage.objects.count()
        enqueue(to_user=to, project=None, kind="text", content=text, key=f"k{number}")


def row(number: int = 0) -> OutboxMessage:
    return OutboxMessage.objects.order_by("pk")[number]


def later(seconds: float) -> time_machine.travel:
    return time_machine.travel(now() + timedelta(seconds=seconds), tick=True)


def wait_s() -> float:
    return (row().available_at - now()).total_seconds()


def test_a_lane_is_sent_in_order_and_marked(wecom: WecomSim) -> None:
    put("1", "2", "3")
    assert sender.send_lane("zhangyi") is None
    assert wecom.texts("zhangyi") == ["1", "2", "3"]
    assert {row(number).status for number in range(3)} == {Status.SENT}
    assert all(row(number).msgid and row(number).sent_at for number in range(3))


def test_a_lane_is_its_own(wecom: WecomSim) -> None:
    put("mine")
    put("theirs", to="admin")
    sender.send_lane("zhangyi")
    assert wecom.texts() == ["mine"]


def test_every_send_is_checked_for_duplicates_with_an_interval_of_its_own(wecom: WecomSim) -> None:
    put(*["same text"] * 4)
    sender.send_lane("zhangyi")
    bodies = wecom.bodies()
    assert [body["duplicate_check_interval"] for body in bodies] == [60, 61, 62, 63]
    assert all(body["enable_duplicate_check"] == 1 for body in bodies)
    assert all(body["enable_id_trans"] == 0 for body in bodies)
    assert len(wecom.delivered()) == 4


def test_the_intervals_start_again_after_six_hundred() -> None:
    put("a", "b")
    OutboxMessage.objects.filter(pk=row(0).pk).update(
        status=Status.SENT, duplicate_interval=659, first_tried_at=now()
    )
    claimed = claim("zhangyi")
    assert claimed
    assert claimed.duplicate_interval == 60


def test_busy_twice_then_sent_once(wecom: WecomSim) -> None:
    """O6."""
    wecom.errcode(SEND, -1, times=2)
    put("x", "after")
    for turn in range(3):
        with later(turn * 400):
            sender.send_lane("zhangyi")
    assert wecom.texts() == ["x", "after"]
    assert row().attempts == 3


@pytest.mark.parametrize("code", [-1, 6000, 45033])
def test_busy_for_ever_is_given_up_after_three_more_tries(wecom: WecomSim, code: int) -> None:
    wecom.errcode(SEND, code, times=4)
    put("x", "after")
    for turn in range(4):
        assert row().status == Status.PENDING
        with later(turn * 400):
            sender.send_lane("zhangyi")
    assert (row().status, row().error_code) == (Status.DEAD, code)
    assert wecom.texts() == ["after"]


@pytest.mark.parametrize("before", [4, 12])
@pytest.mark.parametrize("code", [-1, 6000, 45033, 45009])
def test_one_busy_answer_after_an_outage_is_the_first_one(
    wecom: WecomSim, before: int, code: int
) -> None:
    """Each trouble has a patience of its own: what was tried often before is not given up at once."""
    put("x")
    OutboxMessage.objects.update(attempts=before, alike=before, error_code=0)
    wecom.errcode(SEND, code)
    sender.send_lane("zhangyi")
    assert row().status == Status.PENDING
    assert code != 45009 or 59 <= wait_s() <= 60
    with later(400):
        sender.send_lane("zhangyi")
    assert wecom.texts() == ["x"]


def test_no_answer_after_long_waits_is_the_first_one(wecom: WecomSim) -> None:
    put("x")
    OutboxMessage.objects.update(attempts=12, alike=12, error_code=45009)
    wecom.fault(SEND, "status", 502)
    for turn in range(2):
        with later(turn * 400):
            sender.send_lane("zhangyi")
    assert wecom.texts() == ["x"]


@pytest.mark.full
def test_troubles_that_alternate_for_ever_are_given_up_too(wecom: WecomSim) -> None:
    put("x", "after")
    for _ in range(21):
        wecom.errcode(SEND, -1)
        wecom.fault(SEND, "status", 502)
    with time_machine.travel(now(), tick=False) as clock:
        while row().status == Status.PENDING:
            clock.move_to(sender.send_lane("zhangyi") or now())
    assert row().status == Status.DEAD


def test_one_busy_answer_after_502s(wecom: WecomSim) -> None:
    wecom.fault(SEND, "status", 502, times=4)
    wecom.errcode(SEND, -1)
    put("x")
    for turn in range(6):
        with later(turn * 400):
            sender.send_lane("zhangyi")
    assert row().status == Status.SENT
    assert wecom.texts() == ["x"]


def test_a_row_that_cannot_be_read_holds_nothing_up(wecom: WecomSim) -> None:
    put("broken", "after")
    OutboxMessage.objects.filter(pk=row().pk).update(payload="{}")
    for turn in range(14):
        with later(turn * 400):
            sender.send_lane("zhangyi")
    assert (row().status, row().error) == (Status.DEAD, "ValidationError")
    assert wecom.texts() == ["after"]
    assert Alert.objects.get().code == Alert.Code.SWEEP


def test_what_failed_after_it_was_sent_may_have_arrived(
    wecom: WecomSim, monkeypatch: pytest.MonkeyPatch
) -> None:
    put("x")
    send = WecomClient.send

    def sent_and_failed(client: WecomClient, body: dict[str, Any]) -> Any:
        send(client, body)
        raise RuntimeError

    with monkeypatch.context() as broken:
        broken.setattr(WecomClient, "send", sent_and_failed)
        sender.send_lane("zhangyi")
    assert (row().status, row().is_ambiguous) == (Status.PENDING, True)
    with later(10):
        sender.send_lane("zhangyi")
    assert (wecom.texts(), row().status, row().possible_duplicate) == (["x"], Status.SENT, False)


def test_nothing_overtakes_a_message_that_waits(wecom: WecomSim) -> None:
    """O7: 45009 waits a minute at least, and the order holds."""
    wecom.errcode(SEND, 45009)
    put("1", "2")
    due = sender.send_lane("zhangyi")
    assert due
    assert wait_s() >= 59
    assert sender.send_lane("zhangyi")
    assert len(wecom.calls(SEND)) == 1
    with later(61):
        sender.send_lane("zhangyi")
    assert wecom.texts() == ["1", "2"]


def test_a_limit_that_stays_doubles_the_wait(wecom: WecomSim) -> None:
    wecom.errcode(SEND, 45009, times=2)
    put("1")
    sender.send_lane("zhangyi")
    with later(61):
        sender.send_lane("zhangyi")
        assert wait_s() >= 119


@pytest.mark.full
def test_an_untrusted_address_keeps_the_queue_and_calls_for_help(
    wecom: WecomSim, caplog: pytest.LogCaptureFixture
) -> None:
    """O9: kept, told with the address, no tight loop, and never given up."""
    wecom.configure(trusted_ips=["10.0.0.1"])
    put("1", "2")
    for turn in range(20):
        with later(turn * 70):
            sender.send_lane("zhangyi")
    assert len(wecom.calls(SEND)) == 20
    assert (row().status, row().error_code) == (Status.PENDING, 60020)
    assert "ALERT address" in caplog.text
    assert "from ip: 127.0.0.1" in caplog.text
    wecom.configure(trusted_ips=[])
    with later(2000):
        sender.send_lane("zhangyi")
    assert wecom.texts() == ["1", "2"]


@pytest.mark.full
def test_tries_that_waited_for_an_operator_are_not_counted(wecom: WecomSim) -> None:
    """Else the first hiccup after a long night would make every message a dead letter."""
    wecom.errcode(SEND, 60020, times=20)
    wecom.errcode(SEND, -1)
    put("x")
    for turn in range(21):
        with later(turn * 70):
            sender.send_lane("zhangyi")
    assert (row().status, row().error_code) == (Status.PENDING, -1)
    with later(1500):
        sender.send_lane("zhangyi")
    assert wecom.texts() == ["x"]


@pytest.mark.parametrize("code", [81013, 60011, 60111])
def test_an_unreachable_member_is_a_dead_letter(wecom: WecomSim, code: int) -> None:
    """O10."""
    wecom.errcode(SEND, code)
    put("lost", "next")
    sender.send_lane("zhangyi")
    assert (row().status, row().error_code) == (Status.FAILED, code)
    assert wecom.texts() == ["next"]


def test_a_member_named_as_not_reached_is_a_dead_letter(wecom: WecomSim) -> None:
    """O11."""
    wecom.fault(SEND, "body", {"errcode": 0, "unlicenseduser": "ZHANGYI"})
    put("lost")
    sender.send_lane("zhangyi")
    assert row().status == Status.FAILED


@pytest.mark.parametrize("fault", [("status", 502), ("body", ""), ("body", "<html>")])
def test_a_gateway_that_stammers_is_tried_again(wecom: WecomSim, fault: tuple[str, object]) -> None:
    """O13."""
    wecom.fault(SEND, *fault)
    put("x")
    sender.send_lane("zhangyi")
    # It may stand between us and a WeCom that has worked.
    assert (row().status, row().is_ambiguous) == (Status.PENDING, True)
    with later(10):
        sender.send_lane("zhangyi")
    assert wecom.texts() == ["x"]


@pytest.mark.full
def test_a_gateway_that_is_gone_is_given_up_at_last(wecom: WecomSim) -> None:
    wecom.fault(SEND, "status", 502, times=None)
    put("x")
    for turn in range(1, 14):
        with later(turn * 400):
            sender.send_lane("zhangyi")
    assert row().status == Status.DEAD


@pytest.mark.parametrize("fault", [("reset", None), ("timeout_after", 0.0)])
def test_an_unanswered_send_is_repeated_as_the_identical_json(
    wecom: WecomSim, fault: tuple[str, object]
) -> None:
    """O14: processed or not, the member sees it once."""
    wecom.fault(SEND, *fault)
    put("x", "y")
    sender.send_lane("zhangyi")
    assert (row().status, row().is_ambiguous) == (Status.PENDING, True)
    with later(10):
        sender.send_lane("zhangyi")
    first, second, _ = (call["body"] for call in wecom.calls(SEND))
    assert first == second
    assert wecom.texts() == ["x", "y"]
    assert not row().possible_duplicate


def test_one_more_try_is_made_before_wecom_forgets_the_first(
    wecom: WecomSim, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Back-off would go past the interval of 60 s: the last try in time is not given away."""
    monkeypatch.setattr("random.uniform", lambda low, high: high)
    wecom.fault(SEND, "timeout_after", 0.0, times=5)
    put("x")
    with time_machine.travel(now(), tick=False) as clock:
        while row().status != Status.SENT:
            clock.move_to(sender.send_lane("zhangyi") or now())
    assert wecom.texts() == ["x"]
    assert not row().possible_duplicate
    assert row().attempts == 6


@pytest.mark.full
def test_other_failures_after_an_unanswered_send_do_not_make_it_late(
    wecom: WecomSim, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("random.uniform", lambda low, high: high)
    wecom.fault(SEND, "timeout_after", 0.0)
    wecom.fault(SEND, "status", 502, times=4)
    put("x")
    with time_machine.travel(now(), tick=False) as clock:
        while row().status != Status.SENT:
            clock.move_to(sender.send_lane("zhangyi") or now())
    assert wecom.texts() == ["x"]
    assert (row().attempts, row().possible_duplicate) == (6, False)


def test_an_unanswered_send_is_remembered_through_a_limit(wecom: WecomSim) -> None:
    """The wait that WeCom asks for is longer than it remembers the first call."""
    wecom.fault(SEND, "timeout_after", 0.0)
    wecom.errcode(SEND, 45009)
    put("x")
    for seconds in (0, 5, 300):
        with later(seconds):
            sender.send_lane("zhangyi")
    assert (row().status, row().possible_duplicate) == (Status.SENT, True)


def test_a_repeat_after_the_interval_is_marked(wecom: WecomSim) -> None:
    wecom.fault(SEND, "timeout_after", 0.0)
    put("x")
    sender.send_lane("zhangyi")
    with later(61):
        sender.send_lane("zhangyi")
    assert row().possible_duplicate
    assert row().status == Status.SENT


def test_a_worker_killed_between_send_and_commit(wecom: WecomSim) -> None:
    """O23: the row is still `sending`; after its lease the next worker repeats the same bytes."""
    put("x")
    claimed = claim("zhangyi")
    assert claimed
    sender._deliver(sender.gateway.client(), claimed)
    assert sender.send_lane("zhangyi") == claimed.lease_until
    assert len(wecom.calls(SEND)) == 1
    with later(26):
        sender.send_lane("zhangyi")
    assert wecom.texts() == ["x"]
    assert (row().status, row().possible_duplicate) == (Status.SENT, False)


def test_a_worker_killed_long_before_the_next_one_comes(wecom: WecomSim) -> None:
    """O23: WeCom has forgotten the first call, so the second one is flagged; zero is never the count."""
    put("x")
    claimed = claim("zhangyi")
    assert claimed
    sender._deliver(sender.gateway.client(), claimed)
    with later(61):
        sender.send_lane("zhangyi")
    assert (row().status, row().possible_duplicate) == (Status.SENT, True)


def test_a_repeat_that_may_reach_wecom_after_the_interval_is_marked(wecom: WecomSim) -> None:
    """The call itself takes time: what is taken in the last seconds may be delivered twice."""
    wecom.fault(SEND, "timeout_after", 0.0)
    put("x")
    sender.send_lane("zhangyi")
    with later(59):
        sender.send_lane("zhangyi")
    assert (row().status, row().possible_duplicate) == (Status.SENT, True)


@pytest.mark.database
@pytest.mark.two_clocks
@pytest.mark.skipif(not os.environ.get("DATABASE_URL"), reason="NOT RUN: PostgreSQL")
@pytest.mark.parametrize("ahead_s", [-3600, 3600])
def test_a_repeat_is_late_by_the_databases_clock(wecom: WecomSim, ahead_s: int) -> None:
    """The first try was another machine's, whose clock is not ours."""
    with later(ahead_s):
        put("x")
        claimed = claim("zhangyi")
        assert claimed
        sender._deliver(sender.gateway.client(), claimed)
    OutboxMessage.objects.update(lease_until=now(), available_at=now())  # its worker was killed
    sender.send_lane("zhangyi")
    assert (row().status, row().possible_duplicate) == (Status.SENT, False)


def test_a_worker_that_lost_its_lease_writes_nothing(wecom: WecomSim) -> None:
    from core.integrations.wecom import Kind, SendError
    from wechat.outbound.sender import settle

    put("x")
    slow = claim("zhangyi")
    assert slow
    with later(26):
        sender.send_lane("zhangyi")
        settle(slow, SendError(Kind.PERMANENT, 81013))
    assert row().status == Status.SENT


def test_two_workers_cannot_have_the_same_row() -> None:
    put("x")
    assert claim("zhangyi")
    assert claim("zhangyi") is None


@pytest.mark.full
def test_thirty_a_minute_and_the_rest_later(wecom: WecomSim) -> None:
    """O19: WeCom would drop the 31st without a word."""
    put(*[str(number) for number in range(35)])
    for turn in range(3):
        with later(turn * 62):
            sender.send_lane("zhangyi")
            if turn == 0:
                assert len(wecom.delivered()) == 30
                assert wait_of(30) > 0
    assert wecom.texts() == [str(number) for number in range(35)]


@pytest.mark.full
@pytest.mark.parametrize("shared", ["wanghushi|zhangyi", "zhangyi|zz", "admin|zhangyi|zz"])
@pytest.mark.parametrize("lanes", [("shared", "alone"), ("alone", "shared")])
def test_what_goes_to_several_counts_for_each_of_them(
    wecom: WecomSim, shared: str, lanes: tuple[str, str]
) -> None:
    """O19: a member who shares cards with others must not get thirty of each."""
    wecom.configure(users=[{"userid": name} for name in (*USERS, "zz")])
    names = {"shared": shared, "alone": "zhangyi"}
    for lane in lanes:
        put(*[f"{lane} {number}" for number in range(20)], to=names[lane])
    for turn in range(3):
        with later(turn * 62):
            for lane in lanes:
                sender.send_lane(names[lane])
            if turn == 0:
                assert len(wecom.delivered("zhangyi")) == 30
    expected = [f"{lane} {number}" for lane in lanes for number in range(20)]
    assert wecom.texts("zhangyi") == expected


@pytest.mark.full
def test_a_name_within_a_name_is_somebody_else(wecom: WecomSim) -> None:
    put(*[str(number) for number in range(30)], to="admin|zhangyi")
    put("x", to="zhang")
    put("x", to="admi_")
    sender.send_lane("admin|zhangyi")
    for name in ("zhang", "admi_"):
        sender.send_lane(name)
    assert sorted(row["touser"] for row in wecom.bodies()[30:]) == ["admi_", "zhang"]


@pytest.mark.full
def test_a_repeat_that_has_to_wait_for_the_window_is_not_due_before(wecom: WecomSim) -> None:
    """Its worker was killed, and the member has had thirty of others since."""
    put("x")
    assert claim("zhangyi")
    put(*[str(number) for number in range(30)], to="admin|zhangyi")
    with later(65):
        sender.send_lane("admin|zhangyi")
        due = sender.send_lane("zhangyi")
        assert due
        assert due > now() + timedelta(seconds=50)
        assert list(sender.due_lanes(9)) == []
    with later(130):
        sender.send_lane("zhangyi")
    assert wecom.texts("zhangyi")[-1] == "x"
    assert len(wecom.delivered("zhangyi")) == 31


def wait_of(number: int) -> float:
    return (row(number).available_at - now()).total_seconds()


@pytest.mark.full
def test_a_thousand_an_hour(wecom: WecomSim) -> None:
    at = now() - timedelta(minutes=10)
    OutboxMessage.objects.bulk_create(
        OutboxMessage(
            key=f"old{n}", to_user="zhangyi", kind="text", status=Status.SENT, tried_at=at
        )
        for n in range(1000)
    )
    put("x")
    assert sender.send_lane("zhangyi")
    assert not wecom.calls(SEND)


def test_a_wrong_secret_is_not_hammered(wecom: WecomSim, settings: Settings) -> None:
    """O5: one call opens the circuit for all lanes; a corrected secret closes it."""
    good = settings.WECOM_SECRET
    settings.WECOM_SECRET = "wrong"
    put("a")
    put("b", to="admin")
    for turn in range(4):
        with later(turn * 60):
            sender.send_lane("zhangyi")
            sender.send_lane("admin")
    assert len(wecom.calls(GETTOKEN)) == 1
    assert AccessToken.objects.get().error_code == 40001
    settings.WECOM_SECRET = good
    with later(1300):
        sender.send_lane("zhangyi")
    assert wecom.texts() == ["a"]


def test_only_due_lanes_are_swept(wecom: WecomSim) -> None:
    put("waits", "behind it")
    put("due", to="admin")
    OutboxMessage.objects.filter(pk=row().pk).update(available_at=now() + timedelta(minutes=5))
    assert list(sender.due_lanes(10)) == ["admin"]
    with later(301):
        assert sorted(sender.due_lanes(10)) == ["admin", "zhangyi"]
    claim("admin")
    assert list(sender.due_lanes(10)) == []
    with later(26):
        assert list(sender.due_lanes(10)) == ["admin"]


def test_what_waits_for_the_long_connection_holds_nothing_up(wecom: WecomSim) -> None:
    stuck = {"stream": "s", "chatid": "zhangyi", "markdown": {"content": "0"}}
    enqueue(to_user="zhangyi", project=None, kind="stream", content=stuck, key="stream:0")
    put("1")
    assert list(sender.due_lanes(10)) == list(sender.due_streams(10)) == ["zhangyi"]
    assert sender.send_lane("zhangyi") is None
    assert wecom.texts("zhangyi") == ["1"]
    with later(60):
        put("2")
        assert claim("zhangyi")
        assert list(sender.due_streams(10)) == ["zhangyi"]
    assert row().status == Status.PENDING


def test_an_empty_lane_is_no_error(wecom: WecomSim) -> None:
    assert sender.send_lane("nobody") is None
    assert not wecom.state.requests("wecom")

"""What an operator must see: one row per cause, cleared when it works again (wecom.md 9.8)."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from core.integrations.wecom import Crypt
from projects.models import AuditEntry, Member
from tests.wechat import bot_kit
from tests.wechat.callback_kit import CORP, TOKEN, Callback, event, plaintext
from tests.wechat.working import receive, receive_event, work
from tests.wecom_standin import SEND, WecomSim
from wechat.models import Alert, InboxMessage, OutboxMessage
from wechat.outbound import sender
from wechat.outbound.outbox import enqueue

pytestmark = pytest.mark.django_db
Code = Alert.Code


def open_alerts() -> list[tuple[str, str]]:
    rows = Alert.objects.filter(cleared_at=None).order_by("code", "subject")
    return list(rows.values_list("code", "subject"))


def send(to: str = "zhangyi", key: str = "k") -> None:
    enqueue(to_user=to, project=None, kind=OutboxMessage.Kind.TEXT, content="好", key=key)
    sender.send_lane(to)


def test_a_key_that_does_not_match(client: Client) -> None:
    other = Crypt(TOKEN, "jWmYm7qr5nMoAUwZRjGtBxmz3KA1tkAj3ykkR6q2B2C", CORP)
    for _ in range(3):
        assert Callback(plaintext(), crypt=other).post(client).status_code == 400
    assert open_alerts() == [("key", "app")]
    assert Alert.objects.get().times == 3
    assert not InboxMessage.objects.exists()


def test_a_message_that_can_be_read_says_that_the_key_is_right(client: Client) -> None:
    test_a_key_that_does_not_match(client)
    receive()
    work()
    assert open_alerts() == []


def test_a_message_to_the_bot_says_nothing_about_the_key_of_the_app(
    client: Client, settings: Settings
) -> None:
    settings.WECOM_AIBOT_TOKEN, settings.WECOM_AIBOT_AES_KEY = bot_kit.TOKEN, bot_kit.AES_KEY
    test_a_key_that_does_not_match(client)
    strange = Crypt(bot_kit.TOKEN, "a" * 43, "")
    assert bot_kit.post(bot_kit.message(), crypt=strange).status_code == 400
    assert open_alerts() == [("key", "aibot"), ("key", "app")]
    bot_kit.say(bot_kit.message())
    work()
    assert open_alerts() == [("key", "app")]


def test_a_genuine_message_nobody_understands(client: Client) -> None:
    assert Callback("<xml/>").post(client).status_code == 200
    assert open_alerts() == [("not_understood", "")]


def test_a_person_closes_what_no_call_can_prove(client: Client) -> None:
    test_a_genuine_message_nobody_understands(client)
    client.force_login(User.objects.create_superuser("root"))
    page = "/admin/wechat/alert/"
    chosen = {"action": "mend", "_selected_action": [Alert.objects.get().pk]}
    for _twice in range(2):
        assert client.post(page, chosen).status_code == 302
    assert open_alerts() == []
    entry = AuditEntry.objects.get(action="wechat.mended")
    assert (entry.actor, entry.new) == ("root", {"alert": "not_understood"})

    Callback("<xml><a/></xml>").post(client)
    assert open_alerts() == [("not_understood", "")]


def test_a_forgery_raises_no_alert(client: Client) -> None:
    assert Callback(plaintext(), crypt=Crypt("x", "a" * 43, CORP)).post(client).status_code == 403
    assert open_alerts() == []


@pytest.mark.parametrize(
    ("code", "alert"),
    [(60020, Code.ADDRESS), (45009, Code.LIMIT), (48002, Code.REFUSED)],
)
def test_a_code_that_concerns_the_whole_app(wecom: WecomSim, code: int, alert: str) -> None:
    wecom.fault(SEND, "body", {"errcode": code, "errmsg": "no"}, times=2)
    send()
    assert open_alerts() == [(alert, "")]
    OutboxMessage.objects.update(available_at="2026-01-01T00:00:00Z")
    wecom.state.reset()
    sender.send_lane("zhangyi")
    assert OutboxMessage.objects.get().status == "sent"
    assert open_alerts() == []


@pytest.mark.parametrize("code", [40001, 40014, 42001])
def test_a_token_that_is_never_taken(wecom: WecomSim, code: int) -> None:
    """O3: two tries, then failed, and somebody is told."""
    wecom.fault(SEND, "body", {"errcode": code, "errmsg": "no"}, times=None)
    send()
    assert open_alerts() == [("secret", "")]
    assert len(wecom.calls(SEND)) == 2
    assert OutboxMessage.objects.get().status == "failed"


def test_a_wrong_secret(wecom: WecomSim) -> None:
    wecom.fault("gettoken", "body", {"errcode": 40001, "errmsg": "no"})
    send()
    assert open_alerts() == [("secret", "")]


def test_an_unreachable_member_is_flagged_until_they_write(
    wecom: WecomSim, people: dict[str, Member]
) -> None:
    """O10, O11: permanent for this message, and the person is known to be away."""
    wecom.fault(SEND, "body", {"errcode": 81013, "errmsg": "all invalid"})
    send("crc_b")
    assert open_alerts() == [("unreachable", "crc_b")]
    assert "crc_b" in str(Alert.objects.get())
    assert Alert.objects.get().remedy
    receive("👍", user="crc_b")
    work()
    assert open_alerts() == []


def test_one_of_two_recipients_is_not_reached(wecom: WecomSim) -> None:
    wecom.fault(SEND, "body", {"errcode": 0, "invaliduser": "CRC_B", "msgid": "m"})
    enqueue(
        to_user="admin|crc_b",
        project=None,
        kind=OutboxMessage.Kind.TEXT,
        content="好",
        key="both",
    )
    sender.send_lane("admin|crc_b")
    assert open_alerts() == [("unreachable", "crc_b")]


def test_an_app_that_is_used_again(people: dict[str, Member]) -> None:
    receive_event("inactive_alert", user="sys")
    work()
    assert open_alerts() == [("inactive", "")]
    receive_event("active_restored", user="sys")
    work()
    assert open_alerts() == []
    assert event("x")

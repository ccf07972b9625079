"""Console → Smart bot: how the long connection stands, and the button that tries it (issue 27, O.2)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.contrib.messages import get_messages
from django.test import Client
from django.utils.timezone import now
from pytest_django import Settings

from tests.support.stand_ins import StandIns
from tests.wechat.link_kit import configure, link
from tests.wechat.working import said
from wechat.aibot import probe
from wechat.aibot.lease import Lease
from wechat.models import Alert, BotConnection

pytestmark = [pytest.mark.django_db, pytest.mark.full]
PAGE = "/admin/wechat/botconnection/"


@pytest.fixture(autouse=True)
def _bot(settings: Settings, stand_ins: StandIns, monkeypatch: pytest.MonkeyPatch) -> None:
    configure(settings, stand_ins)
    monkeypatch.setattr(probe, "LISTEN_S", 0.1)


@pytest.fixture
def console() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("operator"))
    return client


def tried(console: Client) -> tuple[str, str]:
    """Level and words of what the button says."""
    answer = console.post(f"{PAGE}check/")
    assert (answer.status_code, answer.headers["Location"]) == (302, PAGE)
    *_, message = get_messages(answer.wsgi_request)
    return message.level_tag, str(message)


def test_well(console: Client, stand_ins: StandIns) -> None:
    level, words = tried(console)
    expected = "WeCom takes id and secret. No process holds the connection: start wecom_socket."
    assert (level, words) == ("success", said(expected))
    assert link(stand_ins)["subscriptions"] == 1
    assert BotConnection.objects.get().lease_until is None
    assert console.get(PAGE).status_code == 200


def test_wrong_secret(console: Client, settings: Settings) -> None:
    settings.WECOM_AIBOT_SECRET = "of yesterday"
    level, words = tried(console)
    assert level == "error"
    assert "853000" in words
    assert said(str(Alert.REMEDIES[Alert.Code.BOT_SECRET])) in words


def test_no_network(console: Client, settings: Settings) -> None:
    settings.WECOM_AIBOT_SOCKET = "ws://127.0.0.1:9/"
    level, words = tried(console)
    assert level == "error"
    assert "ConnectionRefusedError" in words


def test_taken_over(console: Client, stand_ins: StandIns, monkeypatch: pytest.MonkeyPatch) -> None:
    """By who fights for it: the moment we listen shows it."""
    real = Lease.connected

    def fought(lease: Lease) -> bool:
        link(stand_ins, kick=True)
        return real(lease)

    monkeypatch.setattr(Lease, "connected", fought)
    level, words = tried(console)
    assert level == "error"
    assert words.startswith(said("Another connection took the bot over."))


def test_who_holds_it_is_asked_instead(console: Client, stand_ins: StandIns) -> None:
    lease = Lease()
    assert lease.acquire()
    assert tried(console)[0] == "error"
    lease.connected()
    assert tried(console)[0] == "success"
    lease.disconnected("invalid bot_id or secret", 853000)
    assert "853000" in tried(console)[1]
    lease.disconnected("")
    lease.block(timedelta(minutes=1))
    assert tried(console)[1].startswith(said("Another connection took the bot over."))
    lease.disconnected("TimeoutError")
    BotConnection.objects.update(not_before=now())
    assert "TimeoutError" in tried(console)[1]
    assert link(stand_ins)["subscriptions"] == 0


def test_while_nobody_may_connect_the_button_does_not_either(
    console: Client, stand_ins: StandIns
) -> None:
    lease = Lease()
    assert lease.acquire()
    lease.block(timedelta(minutes=1))
    lease.release()
    assert tried(console)[1].startswith(said("Another connection took the bot over."))
    assert link(stand_ins)["subscriptions"] == 0


def test_not_set_up(console: Client, settings: Settings) -> None:
    settings.WECOM_AIBOT_SECRET = ""
    assert "WECOM_AIBOT_SECRET" in tried(console)[1]
    assert said("Not set up") in console.get(PAGE).content.decode()


def test_superusers_alone(stand_ins: StandIns) -> None:
    client = Client()
    client.force_login(User.objects.create_user("somebody", is_staff=True))
    assert client.get(PAGE).status_code == 403
    assert client.post(f"{PAGE}check/").status_code == 403
    assert link(stand_ins)["subscriptions"] == 0


def test_a_look_changes_nothing(console: Client, stand_ins: StandIns) -> None:
    assert console.get(f"{PAGE}check/").status_code == 405
    assert link(stand_ins)["subscriptions"] == 0

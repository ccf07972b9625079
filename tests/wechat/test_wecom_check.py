"""`manage.py wecom_check`: every line says whether it is well, and what to do if not (issue 5, Operations)."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from pytest_django import Settings

from tests.wecom_standin import WecomSim
from wechat.models import Alert
from wechat.outbound import alerts

pytestmark = pytest.mark.django_db(transaction=True)


def check() -> tuple[int, str]:
    """Exit code and output."""
    out = StringIO()
    try:
        call_command("wecom_check", stdout=out)
    except SystemExit as end:
        return int(str(end.code)), out.getvalue()
    return 0, out.getvalue()


@pytest.fixture
def house(live_server: Any, settings: Settings, wecom: WecomSim) -> WecomSim:
    """Our server and WeCom, both answering."""
    settings.PUBLIC_URL = live_server.url
    return wecom


def failed(text: str) -> int:
    return sum(line.startswith("FAIL") for line in text.splitlines())


@pytest.mark.full
def test_all_is_well(house: WecomSim, settings: Settings) -> None:
    settings.WECOM_TOKEN_OLD = "oldToken"
    settings.WECOM_AES_KEY_OLD = "jWmYm7qr5nMoAUwZRjGtBxmz3KA1tkAj3ykkR6q2B2C"
    settings.WECOM_AIBOT_TOKEN = "botToken"
    settings.WECOM_AIBOT_AES_KEY = "kWxPEV2UEDyxWpmPdKC3F4dgPDmOvfKX1HGnEUDS1aR"
    code, text = check()
    assert (code, failed(text)) == (0, 0), text
    assert len(text.splitlines()) == 10


def test_missing_settings_are_named_and_nobody_is_asked(
    house: WecomSim, settings: Settings
) -> None:
    settings.WECOM_SECRET = settings.PUBLIC_URL = ""
    code, text = check()
    assert code == 1
    assert "WECOM_SECRET, PUBLIC_URL" in text
    assert not house.state.requests("wecom")


@pytest.mark.full
def test_a_bad_key_is_named(house: WecomSim, settings: Settings) -> None:
    settings.WECOM_AES_KEY = "short"
    code, text = check()
    assert code == 1
    assert "wechat.E001" in text


@pytest.mark.full
def test_nobody_answers_at_our_address(house: WecomSim, settings: Settings) -> None:
    settings.PUBLIC_URL = "http://127.0.0.1:9"
    code, text = check()
    assert (code, failed(text)) == (1, 2)
    assert "ConnectError" in text


@pytest.mark.full
def test_another_server_answers_at_our_address(house: WecomSim, settings: Settings) -> None:
    settings.PUBLIC_URL = house.base.removesuffix("/wecom/cgi-bin")
    code, text = check()
    assert (code, failed(text)) == (1, 2)
    assert "HTTP 404" in text


@pytest.mark.full
def test_an_answer_that_comes_too_late_for_wecom(
    house: WecomSim, monkeypatch: pytest.MonkeyPatch
) -> None:
    """WeCom waits a second; here no time at all."""
    monkeypatch.setattr("core.integrations.wecom.probe.VERIFY_S", 0.0)
    code, text = check()
    assert (code, failed(text)) == (1, 1)
    assert "HTTP 200" in next(line for line in text.splitlines() if line.startswith("FAIL"))


@pytest.mark.full
def test_a_refused_secret_ends_the_questions(house: WecomSim, settings: Settings) -> None:
    settings.WECOM_SECRET = "wrong-secret-of-nobody"
    code, text = check()
    assert (code, failed(text)) == (1, 2)  # the token, and the alert that it raised
    assert "40001" in text
    assert "wrong-secret-of-nobody" not in text
    assert len(house.calls("gettoken")) == 1


@pytest.mark.full
def test_an_untrusted_address_is_told_with_the_address(house: WecomSim) -> None:
    house.configure(trusted_ips=["10.0.0.1"])
    code, text = check()
    assert code == 1
    assert "60020" in text
    assert "from ip: 127.0.0.1" in text


@pytest.mark.full
def test_open_alerts_fail_the_check(house: WecomSim) -> None:
    alerts.sound(Alert.Code.INACTIVE, "inactive_alert")
    assert check()[0] == 1
    alerts.clear(Alert.Code.INACTIVE)
    assert check()[0] == 0

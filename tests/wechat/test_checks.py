"""Misconfiguration is told before WeCom finds it (contracts.md; reference/wecom.md 1.1)."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from tests.wechat.callback_kit import AES_KEY
from wechat.checks import wecom_settings


def test_good_settings_pass() -> None:
    assert wecom_settings() == []


@pytest.mark.parametrize(
    ("name", "value", "check"),
    [
        ("WECOM_AES_KEY", "short", "wechat.E001"),
        ("WECOM_AES_KEY", AES_KEY + "=", "wechat.E001"),
        ("WECOM_AES_KEY", AES_KEY[:-1] + "!", "wechat.E001"),
        ("WECOM_AIBOT_AES_KEY", "short", "wechat.E001"),
        ("WECOM_TOKEN", "with space", "wechat.E002"),
        ("WECOM_TOKEN", "x" * 33, "wechat.E002"),
        ("WECOM_TOKEN_OLD", "alone", "wechat.E003"),
        ("WECOM_AES_KEY_OLD", AES_KEY, "wechat.E003"),
    ],
)
def test_bad_settings_are_named_with_a_hint(
    settings: Settings, name: str, value: str, check: str
) -> None:
    setattr(settings, name, value)
    found = [problem for problem in wecom_settings() if problem.id == check]
    assert found
    assert name in found[0].msg
    assert found[0].hint
    assert AES_KEY not in found[0].msg


@pytest.mark.parametrize(
    ("bot", "address", "found"),
    [
        ("aib1", "wss://openws.work.weixin.qq.com", []),
        ("aib1", "ws://10.0.0.7/", []),
        ("", "wss://openws.work.weixin.qq.com", ["wechat.E004"]),
        ("aib1", "ws://openws.work.weixin.qq.com", ["wechat.E005"]),
        ("aib1", "https://openws.work.weixin.qq.com", ["wechat.E005"]),
        ("aib1", "nonsense", ["wechat.E005"]),
    ],
)
def test_the_long_connection_is_whole_and_safe(
    settings: Settings, bot: str, address: str, found: list[str]
) -> None:
    settings.PRIVATE_HTTP_HOSTS = ["10.0.0.7"]
    settings.WECOM_AIBOT_ID, settings.WECOM_AIBOT_SECRET = bot, "s" * 40
    settings.WECOM_AIBOT_SOCKET = address
    assert [problem.id for problem in wecom_settings()] == found

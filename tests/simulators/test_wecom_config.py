"""Where the stand-in corp comes from: the environment first, then /_control/configure."""

from __future__ import annotations

import pytest

from demo.simulators.state import State
from demo.simulators.wecom.config import Config, Switches
from demo.simulators.wecom.service import WecomService
from tests.simulators.wecom_kit import AGENT, CORP, serve_wecom

NAMES = ("CORP_ID", "AGENT_ID", "SECRET", "TOKEN", "AES_KEY")


def test_it_reads_the_products_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.setenv(f"WECOM_{name}", "77" if name == "AGENT_ID" else f"my-{name}")
    monkeypatch.setenv("PORT", "8123")
    config = WecomService(State()).config
    assert (config.corp_id, config.agent_id, config.secret) == ("my-CORP_ID", 77, "my-SECRET")
    assert (config.token, config.aes_key) == ("my-TOKEN", "my-AES_KEY")
    assert config.callback_url == "http://127.0.0.1:8123/wechat/callback/"


@pytest.mark.parametrize("value", [None, ""])
def test_its_own_values_stand_in(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    for name in ("PORT", *(f"WECOM_{name}" for name in NAMES)):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    config = Config()
    assert len(config.aes_key) == 43
    assert config.callback_url == "http://127.0.0.1:8000/wechat/callback/"


def test_switch_names_are_those_of_the_reference() -> None:
    assert set(vars(Switches())) == {
        "gettoken_same_within_ttl", "secret_ban_after", "expired_code", "reject_unicode_escape",
        "text_overflow", "md_overflow", "dup_task_id_code", "deliveries_total",
        "retry_on_non200", "retry_reuse_nonce", "honor_passive_card_update",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("gettoken_same_within_ttl", "sometimes"), ("expired_code", 1), ("retry_on_non200", 1),
        ("deliveries_total", True), ("dup_task_id_code", "42014"), ("md_overflow", "cut"),
    ],
)  # fmt: skip
def test_a_switch_takes_only_its_own_values(name: str, value: object) -> None:
    switches = Switches()
    with pytest.raises(ValueError, match=name):
        switches.update({name: value})
    assert switches == Switches()


def test_members_can_be_replaced_and_asked_without_case() -> None:
    config = Config()
    config.configure({"users": [{"userid": "ZhangYi", "name": "张一", "title": "PI", "x": 1}]})
    user = config.user("zhangyi")
    assert user is not None
    assert (user.userid, user.title, user.visible, user.licensed) == ("ZhangYi", "PI", True, True)
    assert config.user("nobody") is None
    config.configure({"users": []})
    assert config.user("nobody") is not None


def test_every_service_shares_one_control_api() -> None:
    with serve_wecom() as kit:
        kit.control(
            "faults", [{"service": "wecom", "path": "gettoken", "kind": "status", "value": 502}]
        )
        params = {"corpid": CORP, "corpsecret": "x"}
        broken = kit.http.get(f"{kit.url}/wecom/cgi-bin/gettoken", params=params)
        assert broken.status_code == 502
        assert kit.text()["errcode"] == 0
        rows = kit.http.get(f"{kit.url}/_control/requests", params={"service": "wecom"}).json()
        calls = [(row["method"], row["path"].rpartition("/")[2]) for row in rows]
        assert calls == [("GET", "gettoken"), ("GET", "gettoken"), ("POST", "send")]
        assert f'"agentid":{AGENT}' in rows[-1]["body"].replace(" ", "")


def test_an_ambiguous_send_is_delivered_once() -> None:
    """The connection drops after the send: the repeated JSON is not delivered again (3.6, O14)."""
    with serve_wecom() as kit:
        assert kit.token
        fault = {"service": "wecom", "path": "message/send", "kind": "timeout_after", "value": 0}
        kit.control("faults", [fault])
        with pytest.raises(Exception, match="disconnected"):
            kit.text("只到一次", enable_duplicate_check=1, duplicate_check_interval=60)
        assert (
            kit.text("只到一次", enable_duplicate_check=1, duplicate_check_interval=60)["errcode"]
            == 0
        )
        assert [row["content"] for row in kit.sent()] == ["只到一次"]

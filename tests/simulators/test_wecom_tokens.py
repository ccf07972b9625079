"""gettoken and the checks every call goes through (reference/wecom.md 3.1, section 4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.simulators.wecom_kit import AGENT, CORP, SECRET, Kit, serve_wecom


@pytest.fixture
def kit() -> Iterator[Kit]:
    with serve_wecom() as found:
        yield found


def _codes(*answers: dict[str, Any]) -> list[int]:
    return [answer["errcode"] for answer in answers]


def test_a_token_lives_two_hours(kit: Kit) -> None:
    first = kit.gettoken()
    assert (first["errcode"], first["errmsg"], first["expires_in"]) == (0, "ok", 7200)
    assert len(first["access_token"]) <= 512
    assert kit.gettoken()["access_token"] == first["access_token"]
    kit.control("clock", {"advance_s": 7201})
    assert kit.text()["errcode"] == 0  # a fresh token
    assert kit.post("message/send", {}, first["access_token"])["errcode"] == 42001


@pytest.mark.full
@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({}, 41002),
        ({"corpid": CORP}, 41004),
        ({"corpid": "wwother", "corpsecret": SECRET}, 40013),
        ({"corpid": CORP, "corpsecret": "wrong"}, 40001),
    ],
)
def test_what_gettoken_refuses(kit: Kit, params: dict[str, str], code: int) -> None:
    answer = kit.call("gettoken", **params)
    assert answer["errcode"] == code
    assert f"devtool/query?e={code}" in answer["errmsg"]
    assert "hint: [" in answer["errmsg"]


def test_five_wrong_secrets_ban_the_address_for_an_hour(kit: Kit) -> None:
    wrong = [kit.gettoken("wrong") for _ in range(5)]
    assert _codes(*wrong, kit.gettoken()) == [40001] * 5 + [45009]
    kit.control("clock", {"advance_s": 3601})
    assert kit.gettoken()["errcode"] == 0


def test_a_right_secret_forgives_the_wrong_ones(kit: Kit) -> None:
    for _ in range(4):
        kit.gettoken("wrong")
    assert _codes(kit.gettoken(), kit.gettoken("wrong"), kit.gettoken()) == [0, 40001, 0]


@pytest.mark.full
@pytest.mark.parametrize(("mode", "old_lives"), [("new_keeps_old", True), ("new_kills_old", False)])
def test_other_modes_give_a_new_token(kit: Kit, mode: str, old_lives: bool) -> None:
    kit.switch(gettoken_same_within_ttl=mode)
    old, new = kit.gettoken()["access_token"], kit.gettoken()["access_token"]
    assert old != new
    assert (kit.call("getcallbackip", access_token=old)["errcode"] == 0) is old_lives
    assert kit.call("getcallbackip", access_token=new)["errcode"] == 0


def test_missing_unknown_and_revoked_tokens(kit: Kit) -> None:
    assert kit.post("message/send", {}, "")["errcode"] == 41001
    assert kit.post("message/send", {}, "nonsense")["errcode"] == 40014
    token = kit.token
    assert kit.control("wecom/revoke_token")["revoked"] == 1
    assert kit.post("message/send", {}, token)["errcode"] == 40014


def test_an_expired_token_may_be_called_invalid(kit: Kit) -> None:
    kit.switch(expired_code=40014)
    token = kit.token
    kit.control("clock", {"advance_s": 7201})
    assert kit.post("message/send", {}, token)["errcode"] == 40014


def test_only_trusted_addresses(kit: Kit) -> None:
    kit.configure(trusted_ips=["10.0.0.1"])
    answer = kit.text()
    assert answer["errcode"] == 60020
    assert "from ip: 127.0.0.1" in answer["errmsg"]
    kit.configure(trusted_ips=[])
    assert kit.text()["errcode"] == 0


def test_the_wrong_method_and_bad_json(kit: Kit) -> None:
    assert kit.call("message/send", access_token=kit.token)["errcode"] == 40058
    answer = kit.post("message/send", b"{oops")
    assert answer["errcode"] == 40058
    assert "Warning: wrong json format." in answer["errmsg"]
    assert kit.post("message/send", b"[]")["errcode"] == 40058


def test_unicode_escapes_can_be_refused(kit: Kit) -> None:
    head = f'{{"touser":"ZhangYi","msgtype":"text","agentid":{AGENT},"text":{{"content":"'
    escaped, literal = head + r'\u4f60"}}', head + r'C:\\u4f60"}}'
    assert kit.post("message/send", escaped)["errcode"] == 0
    kit.switch(reject_unicode_escape=True)
    assert kit.post("message/send", escaped)["errcode"] == 40033
    assert kit.post("message/send", literal)["errcode"] == 0


def test_another_app_and_a_disabled_one(kit: Kit) -> None:
    apps = [{"agent_id": 7, "secret": "s-7"}, {"agent_id": 8, "secret": "s-8", "disabled": True}]
    kit.configure(apps=apps)
    assert kit.gettoken("s-8")["errcode"] == 40001
    body = {"touser": "ZhangYi", "msgtype": "text", "agentid": AGENT, "text": {"content": "x"}}
    other = kit.gettoken("s-7")["access_token"]
    assert kit.post("message/send", body, other)["errcode"] == 301002
    assert kit.post("message/send", {**body, "agentid": 7}, other)["errcode"] == 0


def test_address_lists(kit: Kit) -> None:
    for call in ("getcallbackip", "get_api_domain_ip"):
        assert "127.0.0.1" in kit.call(call, access_token=kit.token)["ip_list"]
        assert kit.call(call)["errcode"] == 41001


def test_unknown_names_are_refused(kit: Kit) -> None:
    assert "no such switch" in kit.control("wecom/switches", {"nope": 1}, 400)["error"]
    kit.control("wecom/switches", {"text_overflow": "shout"}, 400)
    kit.control("wecom/switches", {"deliveries_total": "three"}, 400)
    kit.control("configure", {"wecom": {"nope": 1}}, 400)
    kit.control("wecom/nope", {}, 404)
    assert kit.http.get(f"{kit.url}/wecom/cgi-bin/nope").status_code == 404
    kit.control("aibot/push", {}, 400)


@pytest.mark.full
def test_reset_keeps_the_corp_and_forgets_the_rest(kit: Kit) -> None:
    kit.text()
    kit.switch(expired_code=40014)
    old = kit.token
    kit.control("reset")
    assert kit.sent() == []
    assert kit.post("message/send", {}, old)["errcode"] == 40014
    assert kit.gettoken()["errcode"] == 0
    assert kit.control("wecom/switches", {})["expired_code"] == 42001

"""One call to WeCom: what is sent, and what each answer means (reference/wecom.md 3.6, 8.2)."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from core.integrations.wecom import Kind, SendError, Sent
from core.integrations.wecom.client import redact
from core.integrations.wecom.results import Result, classify
from demo.own_house import free_port
from tests.wecom_standin import GETTOKEN, SEND, UPDATE, WecomSim, open_wecom, text

CARD: dict[str, Any] = {
    "card_type": "button_interaction",
    "main_title": {"title": "审核"},
    "task_id": "review_1@1",
    "button_list": [{"text": "同意", "style": 1, "key": "approve"}],
}


@pytest.fixture
def wecom() -> Iterator[WecomSim]:
    with open_wecom() as sim:
        yield sim


def error(result: Result) -> SendError:
    assert isinstance(result, SendError), result
    return result


def accepted(result: Result) -> Sent:
    assert isinstance(result, Sent), result
    return result


def test_a_text_arrives_and_has_a_message_id(wecom: WecomSim) -> None:
    sent = accepted(wecom.client().send(text(content="🫡 已入组")))
    assert sent.msgid
    assert wecom.texts("zhangyi") == ["🫡 已入组"]


def test_the_body_is_raw_utf8_without_escapes(wecom: WecomSim) -> None:
    """O20."""
    wecom.switch(reject_unicode_escape=True)
    accepted(wecom.client().send(text(content='🫡 "引号" \\ 换行\n')))
    body = wecom.calls(SEND)[0]["body"]
    assert "🫡" in body
    assert "\\u" not in body
    assert json.loads(body)["agentid"] == 1000002


def test_one_token_serves_many_calls(wecom: WecomSim) -> None:
    client = wecom.client()
    for number in range(3):
        accepted(client.send(text(content=str(number))))
    assert len(wecom.calls(GETTOKEN)) == 1


@pytest.mark.full
@pytest.mark.parametrize("code", [42001, 40014, 40001])
def test_a_refused_token_is_fetched_anew_once_and_the_call_repeated_once(
    wecom: WecomSim, code: int
) -> None:
    """O1, O2."""
    wecom.errcode(SEND, code)
    accepted(wecom.client().send(text()))
    assert len(wecom.calls(GETTOKEN)) == 2
    assert len(wecom.calls(SEND)) == 2
    assert len(wecom.delivered()) == 1


@pytest.mark.full
@pytest.mark.parametrize("mode", [True, "new_keeps_old", "new_kills_old"])
def test_a_token_that_was_revoked_is_replaced(wecom: WecomSim, mode: object) -> None:
    wecom.switch(gettoken_same_within_ttl=mode)
    client = wecom.client()
    accepted(client.send(text(content="1")))
    wecom.service.tokens.revoke()
    accepted(client.send(text(content="2")))
    assert wecom.texts() == ["1", "2"]


def test_a_token_refused_for_ever_ends_after_two_tries(wecom: WecomSim) -> None:
    """O3."""
    wecom.errcode(SEND, 40014, times=None)
    failed = error(wecom.client().send(text()))
    assert (failed.kind, failed.code) == (Kind.PERMANENT, 40014)
    assert len(wecom.calls(SEND)) == 2
    assert len(wecom.calls(GETTOKEN)) <= 2


def test_a_wrong_secret_asks_for_an_operator_and_sends_nothing(wecom: WecomSim) -> None:
    """O5."""
    failed = error(wecom.client(secret="wrong").send(text()))
    assert (failed.kind, failed.code) == (Kind.ALERT, 40001)
    assert failed.wait_s >= 600
    assert not wecom.calls(SEND)


def test_a_limit_on_gettoken_is_a_ban_of_an_hour(wecom: WecomSim) -> None:
    wecom.errcode(GETTOKEN, 45009)
    failed = error(wecom.client().send(text()))
    assert (failed.kind, failed.wait_s) == (Kind.ALERT, 3600.0)


@pytest.mark.parametrize(
    ("code", "kind", "wait_s"),
    [
        (-1, Kind.RETRY, 0),
        (6000, Kind.RETRY, 0),
        (45033, Kind.RETRY, 0),
        (45009, Kind.WAIT, 60),
        (60020, Kind.ALERT, 60),
        (48002, Kind.ALERT, 600),
        (50003, Kind.ALERT, 600),
        (81013, Kind.PERMANENT, 0),
        (60011, Kind.PERMANENT, 0),
        (60111, Kind.PERMANENT, 0),
        (45002, Kind.PERMANENT, 0),
        (42014, Kind.PERMANENT, 0),
        (123456, Kind.PERMANENT, 0),
    ],
)
def test_each_code_asks_for_its_own_action(
    wecom: WecomSim, code: int, kind: Kind, wait_s: float
) -> None:
    """O6-O10."""
    wecom.errcode(SEND, code, errmsg="what went wrong, hint: [1]")
    failed = error(wecom.client().send(text()))
    assert (failed.kind, failed.code, failed.wait_s) == (kind, code, wait_s)
    assert "what went wrong" in failed.detail
    assert len(wecom.calls(SEND)) == 1


def test_an_address_that_is_not_trusted_is_named(wecom: WecomSim) -> None:
    """O9: the operator needs the address from the message."""
    wecom.configure(trusted_ips=["10.0.0.1"])
    failed = error(wecom.client().send(text()))
    assert (failed.kind, failed.code) == (Kind.ALERT, 60020)
    assert "from ip: 127.0.0.1" in failed.detail


@pytest.mark.parametrize("how", [{"visible": False}, {"licensed": False}])
def test_a_member_who_is_not_reached_makes_the_message_undelivered(
    wecom: WecomSim, how: dict[str, bool]
) -> None:
    """O11: errcode 0, yet our user is among the bad ones, in lower case."""
    people = [{"userid": "ZhangYi", **how}, {"userid": "other"}]
    wecom.configure(users=people)
    failed = error(wecom.client().send(text("ZHANGYI")))
    assert failed.kind is Kind.PERMANENT
    assert not wecom.delivered()


@pytest.mark.parametrize("field", ["invaliduser", "unlicenseduser"])
def test_errcode_zero_that_names_our_only_user_is_no_success(wecom: WecomSim, field: str) -> None:
    wecom.fault(SEND, "body", {"errcode": 0, "errmsg": "ok", field: "zhangyi", "msgid": "m"})
    failed = error(wecom.client().send(text("ZhangYi")))
    assert failed.kind is Kind.PERMANENT


def test_a_card_to_two_of_whom_one_is_gone_is_sent(wecom: WecomSim) -> None:
    message = {"touser": "zhangyi|ghost", "msgtype": "template_card", "template_card": CARD}
    sent = accepted(wecom.client().send(message))
    assert sent.undelivered == ("ghost",)
    assert sent.response_code


@pytest.mark.full
@pytest.mark.parametrize(
    "body", [{}, {"msgid": "m"}, {"errcode": "0"}, {"errcode": 0.0}, {"errcode": None}]
)
def test_success_has_many_spellings(wecom: WecomSim, body: dict[str, object]) -> None:
    """O12."""
    wecom.fault(SEND, "body", body)
    accepted(wecom.client().send(text()))


@pytest.mark.full
@pytest.mark.parametrize("value", ["40014x", [], {}, "NaN", 1e400])
def test_an_errcode_that_is_no_number_is_ambiguous(wecom: WecomSim, value: object) -> None:
    wecom.fault(SEND, "body", json.dumps({"errcode": value}))
    assert error(wecom.client().send(text())).kind is Kind.AMBIGUOUS


@pytest.mark.full
@pytest.mark.parametrize("body", ["", "<html>502</html>", "[1, 2]", "null", "\ufeff{", '"ok"'])
def test_an_answer_that_is_no_json_object_is_ambiguous(wecom: WecomSim, body: str) -> None:
    """O13: what wrote it may stand between us and a WeCom that has worked."""
    wecom.fault(SEND, "body", body)
    assert error(wecom.client().send(text())).kind is Kind.AMBIGUOUS


def test_what_was_not_found_is_tried_again(wecom: WecomSim) -> None:
    wecom.fault(SEND, "status", {"status": 404, "body": "<html>not found</html>"})
    failed = error(wecom.client().send(text()))
    assert (failed.kind, failed.detail) == (Kind.RETRY, "HTTP 404")


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_gateway_in_trouble_is_ambiguous(wecom: WecomSim, status: int) -> None:
    """O13, O14: it does not know, or does not say, whether WeCom has worked."""
    wecom.fault(SEND, "status", {"status": status, "body": "<html>bad gateway</html>"})
    failed = error(wecom.client().send(text()))
    assert (failed.kind, failed.detail) == (Kind.AMBIGUOUS, f"HTTP {status}")


@pytest.mark.parametrize("fault", [("status", 502), ("status", 504), ("body", "<html>")])
def test_gettoken_behind_a_gateway_in_trouble_sent_nothing(
    wecom: WecomSim, fault: tuple[str, object]
) -> None:
    wecom.fault(GETTOKEN, *fault)
    assert error(wecom.client().send(text())).kind is Kind.RETRY


def test_a_redirect_is_not_followed(wecom: WecomSim) -> None:
    wecom.fault(SEND, "status", 302)
    assert error(wecom.client().send(text())).kind is Kind.RETRY
    assert len(wecom.calls(SEND)) == 1


def test_a_timeout_after_the_server_worked_is_ambiguous(wecom: WecomSim) -> None:
    """O14."""
    wecom.fault(SEND, "timeout_after", 1.0)
    failed = error(wecom.client(read_s=0.2).send(text()))
    assert failed.kind is Kind.AMBIGUOUS
    assert len(wecom.delivered()) == 1


def test_a_connection_cut_after_the_body_was_sent_is_ambiguous(wecom: WecomSim) -> None:
    wecom.fault(SEND, "reset")
    assert error(wecom.client().send(text())).kind is Kind.AMBIGUOUS


def test_nobody_listening_is_tried_again(wecom: WecomSim) -> None:
    client = wecom.client()
    accepted(client.send(text(content="1")))
    client.base = f"http://127.0.0.1:{free_port()}/cgi-bin"
    assert error(client.send(text(content="2"))).kind is Kind.RETRY


def test_gettoken_that_times_out_sent_nothing(wecom: WecomSim) -> None:
    wecom.fault(GETTOKEN, "timeout_after", 1.0)
    assert error(wecom.client(read_s=0.2).send(text())).kind is Kind.RETRY


@pytest.mark.parametrize("body", [{"errcode": 0}, {"errcode": 0, "access_token": ""}])
def test_gettoken_without_a_token_is_tried_again(wecom: WecomSim, body: dict[str, object]) -> None:
    wecom.fault(GETTOKEN, "body", body)
    assert error(wecom.client().send(text())).kind is Kind.RETRY


def test_a_card_is_updated_with_its_code_once(wecom: WecomSim) -> None:
    client = wecom.client()
    message = {"touser": "wanghushi", "msgtype": "template_card", "template_card": CARD}
    code = accepted(client.send(message)).response_code
    update = {"response_code": code, "atall": 1, "button": {"replace_name": "已同意"}}
    accepted(client.update_template_card(update))
    assert error(client.update_template_card(update)).code == 60140
    assert wecom.bodies(UPDATE)[0]["agentid"] == 1000002


def test_callback_addresses_are_listed(wecom: WecomSim) -> None:
    assert "101.226.103.*" in list(wecom.client().getcallbackip())  # type: ignore[arg-type]
    wecom.errcode("getcallbackip", 60020)
    assert isinstance(wecom.client().getcallbackip(), SendError)


Break = Callable[[WecomSim], None]


@pytest.mark.full
@pytest.mark.parametrize(
    "break_it",
    [
        lambda sim: sim.fault(SEND, "reset"),
        lambda sim: sim.fault(SEND, "status", 502),
        lambda sim: sim.errcode(SEND, 81013, errmsg="access_token=abc&x from " + "y" * 900),
    ],
)
def test_no_token_or_secret_in_results_logs_or_reprs(
    wecom: WecomSim, caplog: pytest.LogCaptureFixture, break_it: Break
) -> None:
    """O21."""
    caplog.set_level(logging.DEBUG, "wechat")
    client = wecom.client()
    accepted(client.send(text(content="1")))
    token = wecom.calls(SEND)[0]["query"].split("=")[1]
    break_it(wecom)
    shown = f"{client.send(text(content='2'))!r} {client!r} {caplog.text}"
    assert token not in shown
    assert "demo-secret" not in shown
    assert "=abc" not in shown


def test_redaction_reaches_every_spelling() -> None:
    assert redact("GET /x?access_token=T1&corpsecret=S1 T1", "T1") == (
        "GET /x?access_token=***&corpsecret=*** ***"
    )


def test_every_code_has_an_action() -> None:
    assert all(isinstance(classify(code, "").kind, Kind) for code in range(-1, 90000))

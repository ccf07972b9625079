"""Genuine, and addressed to another corp or app: kept, told, and never worked on (wecom.md 1.9, 5)."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_django import Settings

from tests.wechat import bot_kit
from tests.wechat.callback_kit import CORP, Callback, event, plaintext
from tests.wechat.working import outgoing, work
from wechat.models import Alert, InboxMessage, Stream

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("people")]
Status = InboxMessage.Status
AGENT = "1000002"

KINDS = {
    "a question": lambda **elements: plaintext(**elements),
    "an image": lambda **elements: plaintext("image", MsgId="5", **elements),
    "a decision": lambda **elements: plaintext(Content="同意 1", **elements),
    "a click": lambda **elements: event(
        "template_card_event", EventKey="approve", TaskId="review_1@1", **elements
    ),
    "a menu": lambda **elements: event("click", **{"EventKey": "ask_enrolled", **elements}),
    "an entry": lambda **elements: event("enter_agent", **elements),
}
ELSEWHERE: dict[str, dict[str, Any]] = {
    "another corp": {"ToUserName": "ww00000000000000df"},
    "a suite": {"ToUserName": "tj4asffe99e54c0f4c"},
    "our corp in capitals": {"ToUserName": CORP.upper()},
    "our corp and more": {"ToUserName": f"{CORP}1"},
    "no corp": {"ToUserName": None},
    "a blank corp": {"ToUserName": " "},
    "another app": {"AgentID": 7},
    "the contacts": {"AgentID": 2000003},
    "our app and more": {"AgentID": f"{AGENT}0"},
    "our app below zero": {"AgentID": f"-{AGENT}"},
    "an app in words": {"AgentID": "x" * 500},
    "another app, old spelling": {"AgentID": None, "AgentId": 7},
}
ROOTS = ["XML", "Xml", "xmlx", "x", "message", "html"]


def is_kept(client: Client, plain: str) -> None:
    """Acknowledged without a word however often it comes, stored once, told, and nobody's work."""
    for number in range(3):
        answer = Callback(plain, nonce=str(number)).post(client)
        assert (answer.status_code, answer.content) == (200, b"")
    row = InboxMessage.objects.get()
    assert (row.status, row.raw) == (Status.QUARANTINED, plain)
    assert row.error
    assert Alert.objects.filter(code=Alert.Code.NOT_UNDERSTOOD, cleared_at=None).exists()
    work()
    assert not outgoing()
    assert InboxMessage.objects.get().status == Status.QUARANTINED


@pytest.mark.parametrize(("place", "kind"), [*zip(ELSEWHERE, itertools.cycle(KINDS), strict=False)])
def test_what_is_for_others_is_kept(client: Client, kind: str, place: str) -> None:
    is_kept(client, KINDS[kind](**ELSEWHERE[place]))


@pytest.mark.parametrize(("root", "kind"), [*zip(ROOTS, KINDS, strict=True)])
def test_another_root_is_no_callback(client: Client, kind: str, root: str) -> None:
    inner = KINDS[kind]().removeprefix("<xml>").removesuffix("</xml>")
    is_kept(client, f"<{root}>{inner}</{root}>")


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    corp=st.from_regex(r"[A-Za-z0-9_-]{1,30}", fullmatch=True),
    agent=st.integers(-10, 10**12).map(str) | st.just(""),
)
def test_only_our_corp_and_app_are_worked_for(client: Client, corp: str, agent: str) -> None:
    InboxMessage.objects.all().delete()
    is_ours = corp == CORP and agent in ("", AGENT)
    Callback(plaintext(ToUserName=corp, AgentID=agent)).post(client)
    expected = Status.NEW if is_ours else Status.QUARANTINED
    assert InboxMessage.objects.get().status == expected


DOCUMENTED = [
    *("subscribe", "unsubscribe", "enter_agent", "LOCATION", "batch_job_result", "change_contact"),
    *("click", "view", "view_miniprogram", "scancode_push", "scancode_waitmsg", "pic_sysphoto"),
    *("pic_photo_or_album", "pic_weixin", "location_select", "open_approval_change"),
    *("share_agent_change", "share_chain_change", "template_card_event"),
    *("template_card_menu_event", "inactive_alert", "close_inactive_agent"),
    *("reopen_inactive_agent", "low_active_alert", "low_active", "active_restored"),
]
MESSAGES = ["text", "image", "voice", "video", "location", "link"]
GENUINE = [
    *(plaintext(kind, MsgId=5) for kind in MESSAGES),
    *(event(name, AgentID=agent) for name in DOCUMENTED for agent in (AGENT, None)),
    event("change_contact", FromUserName="sys", AgentID=None, ChangeType="update_user"),
    event("taskcard_click", AgentID=None, AgentId=AGENT),
    plaintext().replace(f">{CORP}<", f"><![CDATA[{CORP}]]><"),
    plaintext().replace(f"<AgentID>{AGENT}<", f"<AgentID><![CDATA[{AGENT}]]><"),
    plaintext(AgentID=f"\n{AGENT}\n"),
    plaintext().replace("><", ">\n<"),
    '<?xml version="1.0" encoding="utf-8"?>' + plaintext(),
]


@pytest.mark.full
def test_every_documented_kind_is_ours(client: Client) -> None:
    for plain in GENUINE:
        InboxMessage.objects.all().delete()
        assert Callback(plain).post(client).status_code == 200
        assert (plain, InboxMessage.objects.get().status) == (plain, Status.NEW)
    assert not Alert.objects.filter(code=Alert.Code.NOT_UNDERSTOOD).exists()


# --- the smart bot --------------------------------------------------------------------------------

BOT_KINDS = {
    "a question": lambda **more: bot_kit.message(**more),
    "an entry": lambda **more: {**bot_kit.event("enter_chat"), **more},
    "a click": lambda **more: {**bot_kit.event("template_card_event", task_id="t"), **more},
    "a vote": lambda **more: {**bot_kit.event("feedback_event", id="s", type=1), **more},
    "a poll": lambda **more: {**bot_kit.poll_of("nothing"), **more},
}


@pytest.fixture
def bot(settings: Settings) -> None:
    settings.WECOM_AIBOT_TOKEN, settings.WECOM_AIBOT_AES_KEY = bot_kit.TOKEN, bot_kit.AES_KEY
    settings.WECOM_AIBOT_ID = "AIBOTID"


@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize(
    ("name", "kind"),
    [*zip(["AIBOT", "aibotid", "", None, ["AIBOTID"]], BOT_KINDS, strict=True)],
)
def test_what_is_for_another_bot_is_kept(kind: str, name: Any) -> None:
    assert bot_kit.say(BOT_KINDS[kind](aibotid=name)) == {}
    assert InboxMessage.objects.get().status == Status.QUARANTINED
    assert Alert.objects.filter(code=Alert.Code.NOT_UNDERSTOOD, cleared_at=None).exists()
    work()
    assert not outgoing()
    assert not Stream.objects.exists()


@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize("kind", [kind for kind in BOT_KINDS if kind != "a poll"])
@pytest.mark.parametrize("known", ["AIBOTID", ""])
def test_what_is_for_our_bot_is_taken(kind: str, known: str, settings: Settings) -> None:
    """A house that has not named its bot knows it by its keys."""
    settings.WECOM_AIBOT_ID = known
    bot_kit.say(BOT_KINDS[kind]())
    assert InboxMessage.objects.get().status == Status.NEW


@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize(
    "plain",
    [
        plaintext().encode(),
        json.dumps([bot_kit.message()]).encode(),
        json.dumps({"ToUserName": CORP, "FromUserName": "ZhangYi", "MsgType": "text"}).encode(),
    ],
)
def test_what_is_no_message_to_a_bot_is_kept(plain: bytes) -> None:
    assert bot_kit.say(plain) == {}
    assert InboxMessage.objects.get().status == Status.QUARANTINED


# --- every field that says whom it is for ----------------------------------------------------------

FOREIGN = "ww00000000000000df"
HIDDEN = {
    "an inner corp": {"CorpId": FOREIGN},
    "an inner corp in capitals": {"CORPID": FOREIGN},
    "the corp that authorised": {"AuthCorpId": FOREIGN},
    "a receiveid": {"ReceiveId": FOREIGN},
    "a suite beside our corp": {"SuiteId": "tj4asffe99e54c0f4c"},
    "both spellings of the app": {"AgentId": 7},
    "deep inside": {"Info": f"<Deep><Corp_Id>{FOREIGN}</Corp_Id></Deep>"},
    "our corp in small letters": {"CorpId": CORP.upper()},
}


@pytest.mark.parametrize(("place", "kind"), [*zip(HIDDEN, itertools.cycle(KINDS), strict=False)])
def test_a_hidden_field_for_others_is_kept(client: Client, kind: str, place: str) -> None:
    is_kept(client, KINDS[kind](**HIDDEN[place]))


@pytest.mark.parametrize(
    "second",
    [f"<ToUserName>{FOREIGN}</ToUserName>", "<AgentID>7</AgentID>", f'<Note corpid="{FOREIGN}"/>'],
)
def test_a_second_address_is_kept(client: Client, second: str) -> None:
    """Variants: the element twice, and as an attribute."""
    is_kept(client, plaintext().replace("</xml>", f"{second}</xml>"))


def test_our_own_names_in_every_field_are_ours(client: Client) -> None:
    plain = plaintext(CorpId=CORP, AgentId=AGENT, ReceiveId=CORP, Content=f"CorpId {FOREIGN}")
    assert Callback(plain).post(client).status_code == 200
    assert InboxMessage.objects.get().status == Status.NEW


@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize(
    "hidden",
    [{"corpid": FOREIGN}, {"chat_info": [{"aibotid": "AIBOT"}]}, {"from_corp_id": FOREIGN}],
)
def test_a_hidden_field_for_another_bot_is_kept(hidden: dict[str, Any]) -> None:
    assert bot_kit.say({**bot_kit.message(), **hidden}) == {}
    assert InboxMessage.objects.get().status == Status.QUARANTINED

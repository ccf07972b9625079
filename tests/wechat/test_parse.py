"""The decrypted callback as a value (reference/wecom.md 1.9)."""

from __future__ import annotations

import pytest

from tests.integrations.test_wecom_vectors import VECTORS
from tests.wechat.callback_kit import event, plaintext
from wechat.inbound.parse import BadCallback, envelope, parse_xml


def test_the_official_text_message() -> None:
    found = parse_xml(VECTORS["A2"]["plain"])
    assert (found.from_user, found.content, found.created) == ("mycreate", "hello", 1409659813)
    assert (found.msg_id, found.agent_id, found.is_event) == ("4561255354251345929", "218", False)


def test_the_card_event() -> None:
    found = parse_xml(VECTORS["S2"]["plain"])
    assert found.is_event
    assert (found.event, found.event_key) == ("template_card_event", "approve")
    assert (found.task_id, found.response_code) == ("review_42@1", "rc-0001")
    assert found.selected == {"reason": ("r_ok",)}


def test_text_keeps_its_spaces_and_symbols() -> None:
    found = parse_xml(plaintext(Content="<![CDATA[ 血压 <140 & >90\n🫡 ]]>"))
    assert found.content == " 血压 <140 & >90\n🫡 "


def test_a_voice_message_brings_its_words() -> None:
    assert (
        parse_xml(plaintext("voice", MsgId="1", Recognition="入组多少例")).content == "入组多少例"
    )


def test_event_names_are_compared_without_case() -> None:
    assert parse_xml(event("LOCATION")).event == "location"


def test_the_old_spelling_of_the_agent_is_read() -> None:
    assert parse_xml(event("taskcard_click", AgentID=None, AgentId="7")).agent_id == "7"


def test_several_and_doubled_questions() -> None:
    def item(key: str, *options: str) -> str:
        ids = "".join(f"<OptionId>{option}</OptionId>" for option in options)
        return f"<SelectedItem><QuestionKey>{key}</QuestionKey><OptionIds>{ids}</OptionIds></SelectedItem>"

    items = item("a", "1", "2") + item("b") + item("a", "9")
    found = parse_xml(event("template_card_event", SelectedItems=items))
    assert found.selected == {"a": ("1", "2"), "b": ()}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (plaintext(CreateTime=1), plaintext(CreateTime=2)),
        (plaintext(CreateTime=1, MsgId=1), plaintext(CreateTime=1, MsgId=2)),
        (plaintext(CreateTime=1, FromUserName="a"), plaintext(CreateTime=1, FromUserName="b")),
        (plaintext(CreateTime=1, MsgId=None), plaintext(CreateTime=1, MsgId=None, Content="x")),
        (event("click", CreateTime=1, EventKey="1"), event("click", CreateTime=1, EventKey="2")),
        (event("click", CreateTime=1, EventKey="11"), event("click1", CreateTime=1, EventKey="1")),
    ],
)
def test_different_callbacks_have_different_keys(one: str, other: str) -> None:
    assert parse_xml(one).dedup_key != parse_xml(other).dedup_key
    assert parse_xml(one).dedup_key == parse_xml(one).dedup_key


def test_the_case_of_a_userid_does_not_make_a_new_message() -> None:
    keys = {
        parse_xml(plaintext(CreateTime=1, FromUserName=name)).dedup_key
        for name in ("ZhangYi", "zhangyi")
    }
    assert len(keys) == 1


@pytest.mark.parametrize(
    "text", ["", "x", "<xml/>", "<!DOCTYPE x><xml/>", plaintext(CreateTime="-1")]
)
def test_what_is_no_callback_is_refused(text: str) -> None:
    with pytest.raises(BadCallback):
        parse_xml(text)


def test_the_order_of_the_envelope_does_not_matter() -> None:
    assert envelope(b"<xml><AgentID>1</AgentID><Encrypt> abc\n</Encrypt></xml>") == "abc"

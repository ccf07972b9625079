"""What is sent that is no text: refused with what to do instead, in both channels; voice brings its words."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import Settings

from projects.models import Member
from tests.support.study import Study
from tests.wechat.bot_kit import AES_KEY, TOKEN, message, poll_of, say, stream_of
from tests.wechat.working import outgoing, receive_kind, said, work

pytestmark = pytest.mark.django_db
KINDS = {
    "image": "REDCap",
    "file": "方案",
    "video": "视频",
    "voice": "语音",
    "location": "位置",
    "link": "链接",
    "chatrecord": "转发",
    "emotion": "表情",
    "whatever": said("I understand text messages. Please type your question."),
}


@pytest.fixture(autouse=True)
def _bot(settings: Settings) -> None:
    settings.WECOM_AIBOT_TOKEN, settings.WECOM_AIBOT_AES_KEY = TOKEN, AES_KEY


def answered(text: str = "", **body: Any) -> str:
    """What the smart bot shows at last."""
    stream = stream_of(say(message(text, **body)))[0]
    work()
    return stream_of(say(poll_of(stream)))[2]


def picture() -> dict[str, Any]:
    return {"msgtype": "image", "image": {"url": "https://x"}}


def words(text: str) -> dict[str, Any]:
    return {"msgtype": "text", "text": {"content": text}}


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_refused_with_what_to_do(kind: str) -> None:
    receive_kind(kind, MediaId="m", PicUrl="http://127.0.0.1:9/never", Recognition="")
    work()
    told = outgoing("zhangyi")[-1]
    assert KINDS[kind] in told
    assert answered(msgtype=kind, **{kind: {"url": "http://127.0.0.1:9/never"}}) == told


@pytest.mark.usefixtures("people")
def test_it_is_told_in_the_readers_language() -> None:
    Member.objects.update(language="en")
    receive_kind("image", MediaId="m")
    work()
    assert "I do not look at pictures" in outgoing("zhangyi")[-1]


@pytest.mark.full
def test_of_text_with_a_picture_the_text_is_answered(study: Study) -> None:
    line = said("(The picture was not looked at; I answered your text only.)")
    asked = "P001入组了吗?"
    alone = answered(asked)
    mixed = {"msg_item": [picture(), words(asked)]}
    assert answered(msgtype="mixed", mixed=mixed) == f"{alone}\n{line}"
    assert answered(asked, quote=picture()) == f"{alone}\n{line}"
    assert answered(asked, quote=words("旧消息")) == alone
    pictures = {"msg_item": [picture(), picture()]}
    assert "REDCap" in answered(msgtype="mixed", mixed=pictures)


@pytest.mark.full
def test_the_words_of_a_voice_message_are_answered(study: Study) -> None:
    asked = "P001入组了吗?"
    alone = answered(asked)
    assert answered(msgtype="voice", voice={"content": asked}) == alone
    receive_kind("voice", Recognition=asked, MediaId="m")
    work()
    assert outgoing("zhangyi")[-1] == alone

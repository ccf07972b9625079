"""media/upload of images and messages that name them (documents 90253, 90236)."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from core.integrations.wecom import Kind, SendError, Sent
from tests.wecom_standin import AGENT, WecomSim, open_wecom

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 200
UPLOAD = "media/upload"


@pytest.fixture
def wecom() -> Any:
    with open_wecom() as sim:
        yield sim


def named(media_id: str) -> dict[str, Any]:
    return {"touser": "zhangyi", "msgtype": "image", "image": {"media_id": media_id}}


def test_what_was_uploaded_is_sent_by_its_id(wecom: WecomSim) -> None:
    client = wecom.client()
    media_id = client.upload_image("weekly.png", PNG)
    assert isinstance(media_id, str)
    assert isinstance(client.send(named(media_id)), Sent)
    (row,) = wecom.delivered("zhangyi")
    assert (row["type"], row["content"]) == ("image", {"media_id": media_id})
    image = wecom.service.media.find(media_id)
    assert (image.name, image.content, image.content_type) == ("weekly.png", PNG, "image/png")
    (call,) = wecom.calls(UPLOAD)
    assert f"filelength={len(PNG)}" in call["body"]


@pytest.mark.full
@pytest.mark.parametrize(
    ("content", "code"), [(b"GIF89a" + b"0" * 50, 40005), (PNG + bytes(10 << 20), 45001)]
)
def test_other_files_are_refused_for_good(wecom: WecomSim, content: bytes, code: int) -> None:
    answer = wecom.client().upload_image("x.png", content)
    assert isinstance(answer, SendError)
    assert (answer.kind, answer.code) == (Kind.PERMANENT, code)


@pytest.mark.full
@pytest.mark.parametrize(
    ("kind", "field", "code"), [("video", "media", 40004), ("image", "file", 41005)]
)
def test_the_call_is_checked(wecom: WecomSim, kind: str, field: str, code: int) -> None:
    token = wecom.service.tokens.issue(
        wecom.service.config.corp_id, wecom.service.config.secret, ""
    )
    answer = httpx.post(
        f"{wecom.base}/{UPLOAD}",
        params={"access_token": token.value, "type": kind},
        files={field: ("x.png", PNG, "image/png")},
        trust_env=False,
    )
    assert answer.json()["errcode"] == code


def test_an_id_holds_for_three_days(wecom: WecomSim) -> None:
    client = wecom.client()
    media_id = client.upload_image("x.png", PNG)
    assert isinstance(media_id, str)
    assert wecom.service.media.forget() == 1
    for known in (media_id, "never-uploaded"):
        answer = client.send(named(known))
        assert isinstance(answer, SendError)
        assert answer.code == 40007
    assert wecom.bodies()[-1]["agentid"] == AGENT


@pytest.mark.full
@pytest.mark.parametrize("fault", [("timeout_after", 0.0), ("reset", None), ("status", 502)])
def test_an_upload_that_was_not_answered_may_be_repeated(
    wecom: WecomSim, fault: tuple[str, object]
) -> None:
    """It delivers nothing, so that it is never ambiguous."""
    wecom.fault(UPLOAD, *fault)
    answer = wecom.client().upload_image("x.png", PNG)
    assert isinstance(answer, SendError)
    assert answer.kind is Kind.RETRY


def test_a_token_that_expired_is_fetched_anew_once(wecom: WecomSim) -> None:
    client = wecom.client()
    assert isinstance(client.upload_image("x.png", PNG), str)
    wecom.service.tokens.revoke()
    assert isinstance(client.upload_image("x.png", PNG), str)
    assert len(wecom.calls(UPLOAD)) == 3

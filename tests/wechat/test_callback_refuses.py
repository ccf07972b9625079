"""What is not genuine: refused with an empty body, nothing stored, never a 5xx (reference/wecom.md 9.1)."""

from __future__ import annotations

import time
from urllib.parse import urlencode

import pytest
import time_machine
from django.http import HttpResponse
from django.test import Client
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pytest_django import Settings

from core.integrations.wecom import Crypt
from tests.integrations.test_wecom_vectors import BAD, VECTORS
from tests.wechat.callback_kit import (
    AES_KEY,
    CORP,
    CRYPT,
    TOKEN,
    URL,
    Callback,
    envelope,
    plaintext,
    post,
)
from wechat.models import InboxMessage

pytestmark = pytest.mark.django_db


def assert_refused(response: HttpResponse, status: int | None = None) -> None:
    assert 400 <= response.status_code < 500
    assert status in (None, response.status_code)
    assert response.content == b""
    assert not InboxMessage.objects.exists()


@pytest.mark.parametrize("method", ["put", "patch", "delete", "head", "options"])
def test_other_methods_are_refused(client: Client, method: str) -> None:
    response = getattr(client, method)(URL)
    assert_refused(response, 405)
    assert response["Allow"] == "GET, POST"


@pytest.mark.parametrize(
    "changes", [{"msg_signature": "0" * 40}, {"nonce": "1"}, {"timestamp": "5"}]
)
def test_a_wrong_signature_is_refused(client: Client, changes: dict[str, str]) -> None:
    assert_refused(Callback(plaintext()).post(client, **changes), 403)


@pytest.mark.parametrize(
    "changes",
    [
        {"msg_signature": ""},
        {"msg_signature": "short"},
        {"msg_signature": "G" * 40},
        {"msg_signature": "中" * 40},
        {"timestamp": ""},
        {"timestamp": "-5"},
        {"timestamp": "1e9"},
        {"timestamp": "٣٣٣"},
        {"timestamp": "9" * 40},
        {"timestamp": "1 "},
        {"nonce": ""},
        {"nonce": "a b"},
        {"nonce": "x" * 500},
        {"nonce": "\x00"},
    ],
)
def test_a_malformed_query_is_refused(client: Client, changes: dict[str, str]) -> None:
    assert_refused(Callback(plaintext()).post(client, **changes), 400)


@pytest.mark.parametrize("name", ["msg_signature", "timestamp", "nonce"])
def test_a_missing_or_doubled_parameter_is_refused(client: Client, name: str) -> None:
    call = Callback(plaintext())
    rest = {key: value for key, value in call.query.items() if key != name}
    assert_refused(post(client, envelope(call.encrypted or ""), rest), 400)
    doubled = urlencode([*call.query.items(), (name, call.query[name])])
    assert_refused(client.post(f"{URL}?{doubled}", b"<xml/>", content_type="text/xml"), 400)  # type: ignore[arg-type]


@pytest.mark.parametrize("away", [-601, 601, -86400, 10**9])
def test_an_old_or_future_timestamp_is_refused(client: Client, away: int) -> None:
    with time_machine.travel(1_800_000_000, tick=False):
        call = Callback(plaintext(), timestamp=str(1_800_000_000 + away))
        assert_refused(call.post(client), 403)


def test_the_window_can_be_set(client: Client, settings: Settings) -> None:
    settings.WECOM_WINDOW_S = 10_000
    call = Callback(plaintext(), timestamp=str(int(time.time()) - 5000))
    assert call.post(client).status_code == 200


ENVELOPES = [
    b"",
    b"<xml",
    b"<xml></xml>",
    b"<xml><Encrypt/></xml>",
    b"<xml><Encrypt> </Encrypt></xml>",
    b"<xml><a><Encrypt>x</Encrypt></a></xml>",
    b"<xml><Encrypt>x</Encrypt><Encrypt>y</Encrypt></xml>",
    b'{"encrypt": "x"}',
    b"\x00\x01\x02",
    b"\xff\xfe<\x00",
    b'<?xml version="1.0" encoding="nonsense"?><xml><Encrypt>x</Encrypt></xml>',
    b"<!DOCTYPE xml><xml><Encrypt>x</Encrypt></xml>",
    b'<!DOCTYPE xml SYSTEM "http://127.0.0.1:1/evil.dtd"><xml><Encrypt>x</Encrypt></xml>',
    b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><xml><Encrypt>&b;</Encrypt></xml>',
    b'<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><xml><Encrypt>&f;</Encrypt></xml>',
    b"<a>" * 50_000,
    b"<xml>" + b"<a>" * 20_000 + b"</a>" * 20_000 + b"</xml>",
    "<xml><Encrypt>中文</Encrypt></xml>".encode("gbk"),
]


@pytest.mark.parametrize("body", ENVELOPES, ids=range(len(ENVELOPES)))
def test_a_body_that_is_no_envelope_is_refused(client: Client, body: bytes) -> None:
    assert_refused(Callback(plaintext(), body=body).post(client), 400)


def test_a_body_that_is_too_large_is_refused_before_it_is_read(client: Client) -> None:
    body = b"<xml><Encrypt>" + b"A" * 600_000 + b"</Encrypt></xml>"
    assert_refused(Callback(plaintext(), body=body).post(client), 413)


@pytest.mark.parametrize("length", ["abc", "-1", "99999999999999"])
def test_a_lying_content_length_is_refused(client: Client, length: str) -> None:
    call = Callback(plaintext())
    url = f"{URL}?{urlencode(call.query)}"
    body = envelope(call.encrypted or "")
    response = client.post(url, body, content_type="text/xml", CONTENT_LENGTH=length)
    assert_refused(response)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", BAD)
def test_a_signed_forgery_is_refused(client: Client, settings: Settings, name: str) -> None:
    """N1-N8: the signature holds, the ciphertext does not."""
    vector = VECTORS[name]
    settings.WECOM_TOKEN, settings.WECOM_AES_KEY = vector["token"], vector["aes_key"]
    settings.WECOM_CORP_ID, settings.WECOM_WINDOW_S = vector["receive_id"], 10**10
    query = {"msg_signature": vector["signature"], "timestamp": vector["timestamp"]}
    response = post(client, envelope(vector["encrypted"]), {**query, "nonce": vector["nonce"]})
    assert_refused(response, 400)


def test_a_key_that_does_not_match_calls_for_help(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    """A good signature and a bad ciphertext: the AES key of the console is another one (9.8)."""
    other = Crypt(TOKEN, VECTORS["A1"]["aes_key"], CORP)
    assert_refused(Callback(plaintext(), crypt=other).post(client), 400)
    assert "ALERT callback signed but not readable" in caplog.text


def test_a_message_for_another_corp_is_refused(client: Client) -> None:
    assert_refused(Callback(plaintext(), crypt=Crypt(TOKEN, AES_KEY, "wwEVIL")).post(client), 400)


def test_signed_bytes_that_are_no_ciphertext_are_refused(client: Client) -> None:
    for junk in ("AAAA", "====", "中文", "A" * 44, "!" * 64):
        assert_refused(Callback(b"", encrypted=junk).post(client), 400)


def test_without_keys_nothing_is_genuine(client: Client, settings: Settings) -> None:
    settings.WECOM_TOKEN = settings.WECOM_AES_KEY = ""
    assert_refused(Callback(plaintext(), crypt=Crypt("", AES_KEY, CORP)).post(client), 403)


@pytest.mark.parametrize("echo", [None, "", "AAAA", "x" * 5000])
def test_a_url_check_that_is_not_genuine_is_refused(client: Client, echo: str | None) -> None:
    query = {**Callback(b"", encrypted="other").query}
    assert_refused(client.get(URL, {**query, **({} if echo is None else {"echostr": echo})}))  # type: ignore[arg-type]


def test_a_flood_of_parameters_is_refused(client: Client) -> None:
    flood = "&".join(f"p{number}=1" for number in range(2000))
    assert_refused(client.post(f"{URL}?{flood}", b"", content_type="text/xml"), 400)  # type: ignore[arg-type]


def test_the_log_quotes_nothing_of_the_message(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    Callback(plaintext(Content="陈建国")).post(client, nonce="1")
    Callback(b"<xml>" + "陈建国".encode()).post(client)
    assert caplog.text
    assert "陈建国" not in caplog.text


fuzz = hypothesis_settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.mark.full
@fuzz
@given(
    raw=st.binary(max_size=300),
    query=st.dictionaries(st.text(max_size=12), st.text(max_size=50), max_size=4),
)
def test_any_bytes_and_any_query_are_refused(
    client: Client, raw: bytes, query: dict[str, str]
) -> None:
    clean = {
        k.encode(errors="ignore").decode(): v.encode(errors="ignore").decode()
        for k, v in query.items()
    }
    assert_refused(post(client, raw, clean))


@pytest.mark.full
@fuzz
@given(
    plain=st.one_of(
        st.binary(max_size=300),
        st.text(max_size=80).map(lambda text: f"<xml>{text}</xml>".encode(errors="ignore")),
    )
)
def test_any_genuine_bytes_are_acknowledged(client: Client, plain: bytes) -> None:
    assert Callback(plain, crypt=CRYPT).post(client).status_code == 200

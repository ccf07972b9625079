"""What is not genuine, whatever it looks like: 4xx, an empty body, nothing kept, nobody called (issue 5, 1)."""

from __future__ import annotations

import gzip
import hashlib
import json
import socket
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import quote, urlencode

import pytest
import time_machine
from django.test import Client

from core.house.models import BrokerMessage
from core.integrations.wecom import Crypt
from tests.wechat.callback_kit import AES_KEY, CORP, CRYPT, TOKEN, envelope, plaintext
from tests.wechat.hostile_kit import Attempt, encrypt, frame, padded, stamp
from wechat.models import InboxMessage, OutboxMessage

pytestmark = pytest.mark.django_db
GOOD = CRYPT.encrypt(plaintext().encode())
ECHO = CRYPT.encrypt(b"1616140317555161061")
LIMIT = 512 * 1024


@pytest.fixture(autouse=True)
def _nobody_is_called(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    called: list[object] = []
    monkeypatch.setattr(socket.socket, "connect", lambda _self, address: called.append(address))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *asked, **_more: called.append(asked) or [])
    yield
    assert not called


def refused(attempt: Attempt, client: Client) -> int:
    answer = attempt.send(client)
    assert 400 <= answer.status_code < 500, answer.status_code
    assert answer.content == b""
    assert not InboxMessage.objects.exists()
    assert not OutboxMessage.objects.exists()
    assert not BrokerMessage.objects.exists()
    return int(answer.status_code)


@pytest.mark.parametrize(
    "method", ["PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "X" * 200]
)  # fmt: skip
def test_methods(client: Client, method: str) -> None:
    assert refused(Attempt(method=method), client) == 405


SIGNATURES = {
    "of another token": Attempt(token="otherToken"),
    "of no token": Attempt(signed=("1372623149",)),
    "of nothing": Attempt(signature=hashlib.sha1(b"").hexdigest()),
    "unsorted": Attempt(GOOD, timestamp="1", signed=(TOKEN, "1", "1372623149", GOOD)),
    "without the ciphertext": Attempt(signed=tuple(sorted((TOKEN, "1372623149")))),
    "upper case": Attempt(signature="A" * 40),
    "one short": Attempt(signature="a" * 39),
    "one long": Attempt(signature="a" * 41),
    "sha256": Attempt(signature=hashlib.sha256(b"x").hexdigest()),
    "blank": Attempt(signature=""),
    "with a NUL": Attempt(signature="a" * 39 + "\0"),
    "with a newline": Attempt(signature="a" * 40 + "\n"),
    "absent": Attempt(query={"msg_signature": None}),
    "called signature as in public accounts": Attempt(
        query={"msg_signature": None, "signature": "a" * 40}
    ),
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures(client: Client, name: str) -> None:
    refused(SIGNATURES[name], client)


@pytest.mark.parametrize(
    "changed", [{"nonce": "1372623150"}, {"timestamp": stamp(5)}, {"nonce": " 1372623149"}]
)
def test_a_recorded_request_with_one_thing_changed(client: Client, changed: dict[str, str]) -> None:
    refused(Attempt(query=dict(changed)), client)


def test_the_signature_of_one_message_over_another(client: Client) -> None:
    other = CRYPT.encrypt(plaintext(Content="another").encode())
    refused(Attempt(GOOD, body=envelope(other)), client)


@pytest.mark.parametrize("away", [-601.0, 601.0, -86_400.0, 10.0**9])
def test_clocks(client: Client, away: float) -> None:
    with time_machine.travel(1_800_000_000, tick=False):
        assert refused(Attempt(timestamp=stamp(away)), client) == 403


@pytest.mark.parametrize(
    "timestamp",
    ["0", "-1", "+1700000000", "1700000000.0", "0x6553f100", "1_700_000_000", "９９", "NaN", "9" * 13,
     "9" * 5000],
)  # fmt: skip
def test_timestamps(client: Client, timestamp: str) -> None:
    refused(Attempt(timestamp=timestamp), client)


@pytest.mark.parametrize("nonce", ["", " ", "\t", "\n", "\0", "é", "🫡", "n" * 129])
def test_nonces(client: Client, nonce: str) -> None:
    assert refused(Attempt(nonce=nonce), client) == 400


@pytest.mark.parametrize("name", ["msg_signature", "timestamp", "nonce"])
@pytest.mark.parametrize("how", ["twice", "other first", "as a list", "blank beside"])
def test_doubled_parameters(client: Client, name: str, how: str) -> None:
    usual = Attempt().parameters()
    more = {
        "twice": [(name, usual[name])],
        "other first": [(name, "1")],
        "as a list": [(f"{name}[]", usual[name])],
        "blank beside": [(name, "")],
    }[how]
    pairs = list(usual.items())
    if how == "as a list":
        pairs = [pair for pair in pairs if pair[0] != name]
    raw = urlencode([*more, *pairs] if how == "other first" else [*pairs, *more])
    assert refused(Attempt(raw_query=raw), client) == 400


@pytest.mark.parametrize(
    "raw",
    ["", "?", "&&&", "=", "%", "%zz=%", "msg_signature", "msg_signature=%ff%fe", "a=" + "b" * 60_000,
     "&".join(f"p{number}=1" for number in range(3000)), "\xff\xfe=\xff", "msg_signature=%00"],
    ids=range(12),
)  # fmt: skip
def test_queries(client: Client, raw: str) -> None:
    assert refused(Attempt(raw_query=raw), client) == 400


BOMB = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">' + b"".join(
    b'<!ENTITY %c "%s">' % (letter, b"&%c;" % (letter - 1) * 10) for letter in range(98, 107)
)
BODIES = {
    "nothing": b"",
    "blanks": b" \n\t ",
    "text": b"hello",
    "a number": b"1",
    "json": json.dumps({"encrypt": GOOD}).encode(),
    "a form": urlencode({"Encrypt": GOOD}).encode(),
    "gzip": gzip.compress(envelope(GOOD)),
    "html": f"<html><body><Encrypt>{GOOD}</Encrypt></body></html>".encode(),
    "two documents": envelope(GOOD) + envelope(GOOD),
    "text after": envelope(GOOD) + b"<x/>",
    "cut off": envelope(GOOD)[:-6],
    "two Encrypt": f"<xml><Encrypt>{GOOD}</Encrypt><Encrypt>{GOOD}</Encrypt></xml>".encode(),
    "Encrypt deeper": f"<xml><a><Encrypt>{GOOD}</Encrypt></a></xml>".encode(),
    "Encrypt as attribute": f'<xml Encrypt="{GOOD}"/>'.encode(),
    "Encrypt in lower case": f"<xml><encrypt>{GOOD}</encrypt></xml>".encode(),
    "Encrypt in a namespace": f'<xml xmlns="urn:x"><Encrypt>{GOOD}</Encrypt></xml>'.encode(),
    "Encrypt as the root": f"<Encrypt>{GOOD}</Encrypt>".encode(),
    "Encrypt with a child": f"<xml><Encrypt><b>{GOOD}</b></Encrypt></xml>".encode(),
    "an empty CDATA": b"<xml><Encrypt><![CDATA[]]></Encrypt></xml>",
    "CDATA in CDATA": b"<xml><Encrypt><![CDATA[<![CDATA[x]]>]]></Encrypt></xml>",
    "an open CDATA": b"<xml><Encrypt><![CDATA[x</Encrypt></xml>",
    "a NUL": b"<xml><Encrypt>\0</Encrypt></xml>",
    "a NUL reference": b"<xml><Encrypt>&#0;</Encrypt></xml>",
    "a surrogate reference": b"<xml><Encrypt>&#xD800;</Encrypt></xml>",
    "an unknown entity": b"<xml><Encrypt>&nope;</Encrypt></xml>",
    "a billion laughs": BOMB + b"]><xml><Encrypt>&j;</Encrypt></xml>",
    "a quadratic bomb": b'<!DOCTYPE x [<!ENTITY a "' + b"a" * 50_000 + b'">]><xml><Encrypt>'
    + b"&a;" * 5000 + b"</Encrypt></xml>",
    "a file": b'<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><xml><Encrypt>&f;</Encrypt></xml>',
    "an address": b'<!DOCTYPE x [<!ENTITY f SYSTEM "http://127.0.0.1:1/">]><xml><Encrypt>&f;</Encrypt></xml>',
    "a parameter entity": b'<!DOCTYPE x [<!ENTITY % p SYSTEM "http://127.0.0.1:1/"> %p;]><xml/>',
    "an outside DTD": f'<!DOCTYPE x SYSTEM "http://127.0.0.1:1/x.dtd"><xml><Encrypt>{GOOD}</Encrypt></xml>'.encode(),
    "a bare DOCTYPE": f"<!DOCTYPE xml><xml><Encrypt>{GOOD}</Encrypt></xml>".encode(),
    "a style sheet": b'<?xml-stylesheet href="http://127.0.0.1:1/"?><xml/>',
    "an inclusion": b'<xml xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="/etc/passwd"/></xml>',
    "deep": b"<a>" * 30_000 + b"</a>" * 30_000,
    "wide": b"<xml>" + b"<a/>" * 60_000 + b"</xml>",
    "many attributes": b"<xml " + b" ".join(b'a%d="1"' % n for n in range(20_000)) + b"/>",
    "UTF-16": "<xml><Encrypt>x</Encrypt></xml>".encode("utf-16"),
    "UTF-32": "<xml><Encrypt>x</Encrypt></xml>".encode("utf-32"),
    "GBK": "<xml><Encrypt>中文</Encrypt></xml>".encode("gbk"),
    "broken UTF-8": b"<xml><Encrypt>\xc3\x28\xff</Encrypt></xml>",
    "characters": "<xml><Encrypt>中文🫡</Encrypt></xml>".encode(),
    **{
        f"encoding {name}": f'<?xml version="1.0" encoding="{name}"?><xml><Encrypt>x</Encrypt></xml>'.encode()
        for name in ("nonsense", "utf-7", "rot13", "base64", "idna", "undefined", "utf-16", "cp037")
    },
    "XML 1.1": b'<?xml version="1.1"?><xml><Encrypt>x</Encrypt></xml>',
    "one byte too many": b"<xml>" + b" " * LIMIT + b"</xml>",
    "a megabyte": b"<xml><Encrypt>" + b"A" * 1_100_000 + b"</Encrypt></xml>",
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
def test_bodies(client: Client, name: str) -> None:
    refused(Attempt(GOOD, body=BODIES[name]), client)


@pytest.mark.parametrize("length", ["", "abc", "-1", "1e3", "99999999999999999999", "0", "10", " "])
def test_lengths_that_lie(client: Client, length: str) -> None:
    refused(Attempt(environ={"CONTENT_LENGTH": length}), client)


PLAIN = frame()
CIPHERTEXTS = {
    "not base64": "!" * 64,
    "base64 of nothing": "====",
    "URL-safe base64": "-_" * 32,
    "with blanks inside": GOOD[:40] + " " + GOOD[40:],
    "with a newline inside": GOOD[:40] + "\n" + GOOD[40:],
    "with another equals sign": GOOD + "=",
    "hex": "00" * 64,
    "one byte": "QQ==",
    "16 bytes": encrypt(b"x" * 16),
    "48 bytes": encrypt(b"x" * 48),
    "31 bytes more than blocks": "A" * 84,
    "random blocks": "A" * 128,
    "the first block missing": encrypt(padded(PLAIN))[44:],
    "the last block missing": CRYPT.encrypt(plaintext().encode())[:-44],
    "blocks for 16": encrypt(padded(PLAIN + b"x" * (15 - len(PLAIN) % 16), block=16)),
    "uneven padding": encrypt(padded(frame(b"x" * 30), even=False)),
    **{
        f"padding byte {value}": encrypt(padded(frame(b"x" * 9), last=value))
        for value in (0, 33, 34, 64, 127, 128, 200, 254, 255)
    },
    "all padding": encrypt(bytes([32]) * 32),
    "an empty frame": encrypt(padded(b"")),
    "a head only": encrypt(padded(b"0123456789abcdef")),
    "three bytes of length": encrypt(padded(b"0123456789abcdef\0\0\0")),
    "length -1": encrypt(padded(frame(length=b"\xff\xff\xff\xff"))),
    "length -2^31": encrypt(padded(frame(length=b"\x80\0\0\0"))),
    "length too large by one": encrypt(padded(frame(b"x" * 9, length=bytes([0, 0, 0, 10 + len(CORP)])))),
    "length too small by one": encrypt(padded(frame(b"x" * 9, length=bytes([0, 0, 0, 8])))),
    "length 0": encrypt(padded(frame(length=b"\0\0\0\0"))),
    "length little-endian": encrypt(padded(frame(b"x" * 9, length=b"\x09\0\0\0"))),
    "the length eats the receiveid": encrypt(padded(frame(b"x" * 9, length=bytes([0, 0, 0, 9 + len(CORP)])))),
    **{
        f"receiveid {name}": encrypt(padded(frame(receive_id=value)))
        for name, value in {
            "blank": b"",
            "of another corp": b"wwEVIL",
            "cut": CORP.encode()[:-1],
            "longer": CORP.encode() + b"x",
            "prefixed": b"x" + CORP.encode(),
            "doubled": CORP.encode() * 2,
            "in upper case": CORP.upper().encode(),
            "with a NUL": CORP.encode() + b"\0",
            "with a blank": CORP.encode() + b" ",
            "not UTF-8": b"\xff\xfe" + CORP.encode(),
        }.items()
    },
    "another key": Crypt(TOKEN, "jWmYm7qr5nMoAUwZRjGtBxmz3KA1tkAj3ykkR6q2B2C", CORP).encrypt(b"<xml/>"),
    "the smart bot's blank receiveid": Crypt(TOKEN, AES_KEY, "").encrypt(plaintext().encode()),
}  # fmt: skip


@pytest.mark.parametrize("name", CIPHERTEXTS)
@pytest.mark.parametrize("method", ["POST", "GET"])
def test_signed_ciphertexts(client: Client, name: str, method: str) -> None:
    """Somebody has the token, or WeCom another key: the signature holds, the rest does not."""
    refused(Attempt(CIPHERTEXTS[name], method=method), client)


ECHOS = {
    "absent": Attempt(ECHO, method="GET", query={"echostr": None}),
    "blank": Attempt(ECHO, method="GET", query={"echostr": ""}),
    "in plain": Attempt(ECHO, method="GET", query={"echostr": "1616140317555161061"}),
    "of another request": Attempt(ECHO, method="GET", query={"echostr": GOOD}),
    "not escaped twice": Attempt(ECHO, method="GET", query={"echostr": ECHO.replace("=", "%3D")}),
    "too long": Attempt("A" * 4100, method="GET"),
    "old": Attempt(ECHO, method="GET", timestamp=stamp(-4000)),
    "unsigned": Attempt(ECHO, method="GET", signature="0" * 40),
    "characters": Attempt("中文" * 22, method="GET"),
    "public account style": Attempt(
        ECHO, method="GET", query={"msg_signature": None, "signature": "a" * 40}
    ),
}


@pytest.mark.parametrize("name", ECHOS)
def test_url_checks(client: Client, name: str) -> None:
    refused(ECHOS[name], client)


def test_a_url_check_with_its_echostr_twice(client: Client) -> None:
    good = Attempt(ECHO, method="GET").parameters()
    raw = urlencode([*good.items(), ("echostr", ECHO)])
    refused(Attempt(ECHO, method="GET", raw_query=raw), client)


@pytest.mark.parametrize("spelling", ["upper", "padded", "full width"])
def test_the_right_signature_in_another_spelling(client: Client, spelling: str) -> None:
    attempt = Attempt()
    right = attempt.parameters()["msg_signature"]
    wrong = {
        "upper": right.upper(),
        "padded": f"{right} ",
        "full width": "".join(chr(ord(one) + 0xFEE0) if one.isdigit() else one for one in right),
    }[spelling]
    assert wrong != right
    refused(replace(attempt, query={"msg_signature": wrong}), client)


def escapes(text: str, form: str) -> str:
    return "".join(form % byte for byte in text.encode())


def test_an_echostr_in_every_escaping_that_means_the_same(client: Client) -> None:
    """A blank is no plus: what arrives unescaped is another ciphertext."""
    echo = next(one for one in iter(lambda: CRYPT.encrypt(b"42"), "") if "+" in one)
    good = Attempt(echo, method="GET")
    head = urlencode({**good.parameters(), "echostr": ""})
    for form in ("%%%02x", "%%%02X"):
        answer = replace(good, raw_query=head + escapes(echo, form)).send(client)
        assert (answer.status_code, answer.content) == (200, b"42")
    refused(replace(good, raw_query=head + echo), client)
    refused(replace(good, raw_query=head + quote(quote(echo, safe=""), safe="")), client)
    refused(replace(good, raw_query=head + quote(echo, safe="") + "%0A"), client)


@pytest.mark.parametrize("charset", ["nonsense", "utf-16", "utf-7", "idna", ""])
def test_a_charset_decides_nothing(client: Client, charset: str) -> None:
    kind = f"text/xml; charset={charset}"
    refused(Attempt(signature="0" * 40, content_type=kind), client)
    answer = Attempt(content_type=kind).send(client)
    assert (answer.status_code, InboxMessage.objects.count()) == (200, 1)


@pytest.mark.parametrize(
    "kind", ["multipart/form-data", "multipart/form-data; boundary=x", "/", ";;;", "x" * 5000]
)
def test_content_types(client: Client, kind: str) -> None:
    refused(Attempt(signature="0" * 40, content_type=kind), client)


@pytest.mark.parametrize(
    "host", ["evil.example.org", "", "a b", "[::1", "x" * 300, "127.0.0.1:99999", "中文"]
)
def test_a_host_name_decides_nothing(client: Client, host: str) -> None:
    refused(Attempt(signature="0" * 40, environ={"HTTP_HOST": host}), client)
    assert Attempt(environ={"HTTP_HOST": host}).send(client).status_code == 200


@pytest.mark.parametrize(
    "name",
    ["HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_HOST", "HTTP_X_FORWARDED_PROTO", "HTTP_X_HTTP_METHOD_OVERRIDE",
     "HTTP_AUTHORIZATION", "HTTP_COOKIE", "HTTP_EXPECT", "HTTP_CONTENT_ENCODING", "HTTP_TRANSFER_ENCODING",
     "HTTP_ACCEPT_LANGUAGE", "REMOTE_ADDR"],
)  # fmt: skip
def test_headers_vouch_for_nobody(client: Client, name: str) -> None:
    refused(Attempt(signature="0" * 40, environ={name: "101.226.103.1, *; sessionid=1"}), client)

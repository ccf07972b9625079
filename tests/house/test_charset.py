"""A Content-Type names a codec: one that decodes no text must not become a 5xx (issue 5, 1)."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIHandler

from iit_manager.serving import TextCharset

URL = "/wechat/callback/"


def status(kind: str, path: str = URL) -> int:
    """What our WSGI application answers to a POST with this Content-Type."""
    application = TextCharset(WSGIHandler())
    statuses: list[str] = []
    environ: dict[str, Any] = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": path,
        "QUERY_STRING": "msg_signature=a",
        "CONTENT_TYPE": kind,
        "CONTENT_LENGTH": "0",
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "wsgi.url_scheme": "http",
        "wsgi.input": BytesIO(),
        "wsgi.errors": BytesIO(),
    }
    answer = application(environ, lambda said, _headers, *_more: statuses.append(said))
    list(answer)
    answer.close()  # type: ignore[attr-defined]
    return int(statuses[0].split()[0])


@pytest.mark.django_db
@pytest.mark.parametrize(
    "kind",
    [
        *[
            f"text/xml; charset={name}"
            for name in ("undefined", "rot13", "base64", "zlib", "hex", "idna", "punycode", "", '"', "x" * 999)
        ],
        "text/xml; charset*=utf-8''undefined",
        "text/xml; Charset=UNDEFINED",
        "text/xml;charset=undefined;charset=utf-8",
        "text/xml; charset=utf-8; charset=rot13",
        "charset=undefined",
        ";charset=undefined",
        "text/xml; charset=\r\nundefined",
        "text/xml; charset=utf-8",
        "",
    ],
    ids=range(19),
)  # fmt: skip
def test_no_charset_is_an_error_of_ours(kind: str) -> None:
    assert status(kind) == 400
    assert status(kind, "/healthz") < 500

"""`/simulator/`: the phone page of the stand-ins behind our own address, with DEBUG only (contracts.md)."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt

_NOT_FORWARDED = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "host",
        "cookie",
        "set-cookie",
        "authorization",
        "content-length",
        "content-encoding",
        "accept-encoding",
        "date",
        "server",
    }
)
_TIMEOUT = httpx.Timeout(60.0, connect=2.0)


@csrf_exempt
def simulator(request: HttpRequest, path: str = "") -> HttpResponseBase:
    """Forward GET and POST below /simulator/ to the stand-ins on this machine."""
    if not settings.DEBUG:
        raise Http404
    if request.method not in ("GET", "HEAD", "POST"):
        return HttpResponse(status=405, headers={"Allow": "GET, HEAD, POST"})
    # A client of its own: a waiting page must not take a place in the pool of the real calls.
    client = httpx.Client(trust_env=False, follow_redirects=False, timeout=_TIMEOUT)
    asked = client.build_request(
        request.method,
        f"http://127.0.0.1:{settings.SIM_PORT}/simulator/{path}",
        params=request.META.get("QUERY_STRING", ""),
        headers={name: value for name, value in request.headers.items() if _passes(name)},
        content=request.body or None,
    )
    try:
        answer = client.send(asked, stream=True)
    except httpx.TransportError:
        client.close()
        text = _("The stand-ins do not answer. Start them with: make run")
        return HttpResponse(text, status=502, content_type="text/plain; charset=utf-8")
    return StreamingHttpResponse(
        _stream(client, answer),
        status=answer.status_code,
        headers={name: value for name, value in answer.headers.items() if _passes(name)},
    )


def _passes(name: str) -> bool:
    return name.lower() not in _NOT_FORWARDED


def _stream(client: httpx.Client, answer: httpx.Response) -> Iterator[bytes]:
    try:
        yield from answer.iter_bytes()
    except httpx.TransportError:
        return  # the stand-in went away in the middle: the page asks again
    finally:
        answer.close()
        client.close()

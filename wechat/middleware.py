"""WeCom's callbacks pass by everything that is made for people (wecom.md 9.1)."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.urls import resolve

PATHS = frozenset(f"/wechat/{name}{slash}" for name in ("callback", "aibot") for slash in ("", "/"))


class CallbacksFirst:
    """Answers a callback before sessions, logins, page headers and the check of the host name.

    The signature is the authority, so these would only cost time; and a refusal keeps its empty body
    whatever Host the request claims.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        """Django's middleware protocol."""
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """The callback's answer, or what the rest of the house says."""
        if request.path_info not in PATHS:
            return self.get_response(request)
        response: HttpResponse = resolve(request.path_info).func(request)
        response["Content-Length"] = str(len(response.content))
        return response

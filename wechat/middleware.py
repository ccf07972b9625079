"""WeCom's callbacks pass by everything that is made for people (wecom.md 9.1)."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from wechat.urls import CALLBACKS

VIEWS = {f"/wechat/{route}": view for route, view in CALLBACKS.items()}


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
        view = VIEWS.get(request.path_info)
        if view is None:
            return self.get_response(request)
        response = view(request)
        response["Content-Length"] = str(len(response.content))
        return response

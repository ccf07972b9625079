"""Who may look at what tells of the house itself: its counters, and the description of its API.

A named network, the token of the monitoring, or whoever is logged in where the caller says that this is enough.
"""

from __future__ import annotations

from hmac import compare_digest

from django.conf import settings
from django.http import HttpRequest
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from core.house.proxies import is_named, networks


def may_inspect(request: HttpRequest) -> bool:
    """By the address that `core.house.proxies` knows, a bearer token, or as a superuser's session."""
    named = networks(tuple(settings.INSPECTION_NETWORKS))
    if is_named(request.META.get("REMOTE_ADDR", ""), named):
        return True
    kind, _space, given = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    token = settings.INSPECTION_TOKEN
    if kind == "Bearer" and token and compare_digest(given.strip().encode(), token.encode()):
        return True
    user = getattr(request, "user", None)
    return bool(user and user.is_active and user.is_superuser)


class MayInspect(BasePermission):
    """Of the API's own description: whoever is logged in, by session or token, and those of `may_inspect`."""

    def has_permission(self, request: Request, view: object) -> bool:
        """No row is looked up."""
        return bool(request.user and request.user.is_authenticated) or may_inspect(request._request)

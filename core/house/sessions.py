"""When a log-in to the console ends: unused after SESSION_IDLE_MINUTES, in any case after SESSION_HOURS."""

from __future__ import annotations

from collections.abc import Callable
from time import time
from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY, logout
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.models import Session
from django.http import HttpRequest, HttpResponse

BEGAN, MOVED = "began", "moved"
MOVE_S = 60
"""So often use moves the end: not every page costs a write."""
UNATTENDED = "X-Unattended"
"""A page that renews itself says so: nobody may be there."""


class SessionEnds:
    """Middleware behind Django's authentication: the absolute end, and the end without use, moved by use.

    A session's row and cookie last SESSION_COOKIE_AGE after it was stored: that is the end without use.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        """Django's middleware protocol."""
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request; one whose session is over comes from nobody."""
        if settings.SESSION_COOKIE_NAME in request.COOKIES and request.user.is_authenticated:
            _move(request)
        return self.get_response(request)


def _move(request: HttpRequest) -> None:
    now, session = time(), request.session
    # A session that nobody knows the beginning of is over.
    if now - session.get(BEGAN, 0) >= settings.SESSION_HOURS * 3600:
        logout(request)
    elif now - session.get(MOVED, 0) >= MOVE_S and UNATTENDED not in request.headers:
        session[MOVED] = now


def end_all(user_pk: object, *, but: str | None = None) -> None:
    """End every session of a login but the one of this key; few are stored, because they end without use."""
    for row in Session.objects.exclude(pk=but or "").iterator():
        if row.get_decoded().get(SESSION_KEY) == str(user_pk):
            row.delete()


def begin(request: HttpRequest, **_: Any) -> None:
    """Note the beginning of a session."""
    request.session[BEGAN] = time()


def connect() -> None:
    """Once, when the apps are ready."""
    user_logged_in.connect(begin, dispatch_uid="session began")

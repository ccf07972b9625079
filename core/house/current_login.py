"""Through which login somebody acts, for the audit trail: a deed of a member has one, or came by WeCom.

What acts is a membership or a person all the way down; who is logged in is known at the door alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse

_login: ContextVar[Callable[[], str]] = ContextVar("login", default=str)
_orders: ContextVar[bool] = ContextVar("orders", default=True)


def login() -> str:
    """The name of the console user whose request or order is worked on; "" in jobs and for WeCom."""
    return _login.get()()


def user() -> User | None:
    """The console user whose request or order is worked on."""
    name = login()
    return User.objects.filter(username=name).first() if name else None


def may_order() -> bool:
    """Whether what is worked on may start something: not a question by a token that was not made for it."""
    return _orders.get()


@contextmanager
def through(name: str, *, may_order: bool = True) -> Iterator[None]:
    """Work on what was ordered through a login."""
    token, orders = _login.set(lambda: name), _orders.set(may_order)
    try:
        yield
    finally:
        _login.reset(token)
        _orders.reset(orders)


class CurrentLogin:
    """Middleware: an API client's user is known only in the view, so it is looked up when it is asked for."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        """Behind Django's authentication."""
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request, whose user acts meanwhile."""
        token = _login.set(lambda: request.user.get_username())
        try:
            return self.get_response(request)
        finally:
            _login.reset(token)

"""The lock-out of whoever fails too often, kept by django-axes: one for every door (contracts.md, HTTP).

It holds for a login and the address it was tried from: nobody locks anybody out elsewhere. It closes the doors
of the password; a right token, which nobody guesses, opens the API also then.
"""

from __future__ import annotations

from copy import copy

from django.contrib.auth.signals import user_login_failed
from django.http import HttpRequest

NOBODY = "(token)"
"""In place of the login where none was named; no login can be called so."""


def count(request: HttpRequest, username: str) -> None:
    """Count a failure. What the request is answered with is up to the caller, hence the copy."""
    user_login_failed.send(__name__, credentials={"username": username}, request=copy(request))

"""What stands for a person's signature: their password, or the code of their app."""

from __future__ import annotations

from copy import copy

from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.models import AbstractBaseUser
from django.http import HttpRequest
from django.utils.translation import gettext as _

from projects.login import second


def refusal(request: HttpRequest, user: AbstractBaseUser, said: str) -> str:
    """Why `said` is neither the password of `user` nor their app's code; "" where it is.

    A wrong one counts for the lock-out as a failed log-in does.
    """
    takes_password = settings.LOCAL_PASSWORDS and user.has_usable_password()
    if not takes_password and not second.has_app(user):
        return _(
            "Your login has nothing that signs: please set up an app with codes (user menu → Second factor)."
        )
    # Its own: a lock-out is answered here, not by the middleware that looks at the request.
    asked = copy(request)
    if second.is_code_of(asked, user, said):
        return ""
    if authenticate(asked, username=user.get_username(), password=said) == user:
        return ""
    if getattr(asked, "axes_locked_out", False):
        return _("Too many wrong passwords. Please try again later.")
    return _("The password is wrong.") if takes_password else _("The code of your app is wrong.")

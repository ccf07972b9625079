"""Second factors: of whom one is demanded, how its code signs, and what the trail says of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from allauth.account.authentication import get_authentication_records
from allauth.account.internal.flows.login import record_authentication
from allauth.core import context
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import (
    authentication_failed,
)
from allauth.mfa.totp.forms import ActivateTOTPForm
from axes.handlers.proxy import AxesProxyHandler
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.core.exceptions import ValidationError
from django.db.models.signals import post_delete, post_save
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from core.house import api_errors, crypto, current_login, lockout, sessions
from core.house.db import atomic
from projects import audit
from projects.models import Member, Person

FACTORS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)
SUPERUSER = "SUPERUSER"
OPEN = ("/account/", "/admin/login/", "/admin/logout/", "/admin/jsi18n/", "/i18n/", "/static/")
"""What opens without the factor that is demanded: setting one up, showing it, and leaving."""
CODE_CHARS = 6


class DemandSecondFactor:
    """Middleware: whose role demands a second factor has shown it in this session (MFA_ROLES).

    Who has none sets one up before anything else opens.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        """Django's middleware protocol, behind the authentication."""
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Lead to the page of second factors; the API says so. Tokens of programs have no session."""
        is_asked = settings.MFA_ROLES and settings.SESSION_COOKIE_NAME in request.COOKIES
        if not is_asked or request.path_info.startswith(OPEN) or not is_demanded(request.user):
            return self.get_response(request)
        has_one = has_factor(request.user)
        if has_one and _was_shown(request):
            return self.get_response(request)
        if request.path_info.startswith("/api/"):
            return api_errors.document(api_errors.SecondFactorMissing())
        return HttpResponseRedirect(reverse("mfa_reauthenticate" if has_one else "mfa_index"))


def _was_shown(request: HttpRequest) -> bool:
    records = get_authentication_records(request, request.user)
    return any(one["method"] == "mfa" for one in records)


def is_demanded(user: User | AnonymousUser) -> bool:
    """Whether one of the person's roles, in whichever study, is named in MFA_ROLES."""
    if not user.is_authenticated:
        return False
    if user.is_superuser and SUPERUSER in settings.MFA_ROLES:
        return True
    return _is_of_role(person__user=user)


def is_missing(person: Person) -> bool:
    """Whether one is demanded of a person who has none, or no login; for WeCom, which asks for none."""
    if not settings.MFA_ROLES:
        return False
    if user := person.user:
        return is_demanded(user) and not has_factor(user)
    return _is_of_role(person=person)


def _is_of_role(**whose: object) -> bool:
    mine = Member.objects.filter(is_active=True, role__in=settings.MFA_ROLES, **whose)
    return mine.exists()


def has_factor(user: User | AnonymousUser) -> bool:
    """An app with codes, or a passkey."""
    return bool(Authenticator.objects.filter(user_id=user.pk, type__in=FACTORS).exists())


def has_app(user: AbstractBaseUser) -> bool:
    """An app with codes, which sign."""
    return bool(Authenticator.objects.filter(user=user, type=Authenticator.Type.TOTP).exists())


def is_code_of(request: HttpRequest, user: AbstractBaseUser, text: str) -> bool:
    """Whether a text is the present code of the person's app; each is taken once. Never during a lock-out."""
    code = text.strip()
    if not (len(code) == CODE_CHARS and code.isascii() and code.isdigit()):
        return False
    own = Authenticator.objects.filter(user=user, type=Authenticator.Type.TOTP).first()
    return own is not None and _may_try(request, user) and bool(own.wrap().validate_code(code))


def _may_try(request: HttpRequest, user: AbstractBaseUser) -> bool:
    credentials = {"username": user.get_username()}
    return bool(AxesProxyHandler.is_allowed(request, credentials))


class _Worded:
    """A form that asks for a code, in the house's words.

    It is closed to whoever is locked out (django-axes), as that of the password is.
    """

    asks = gettext_lazy("Code of the app, or a recovery code")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["code"]  # type: ignore[attr-defined]
        field.label = self.asks
        field.widget.attrs.pop("placeholder", None)

    def clean_code(self) -> str:
        """Raises ValidationError."""
        if not _may_try(context.request, self.user):  # type: ignore[attr-defined]
            raise ValidationError(_("Too many wrong passwords. Please try again later."))
        code: str = super().clean_code()  # type: ignore[misc]
        return code


class ActivateForm(_Worded, ActivateTOTPForm):
    """Setting up an app: its first code."""

    asks = gettext_lazy("Code that the app shows now")

    def clean_code(self) -> str:
        """As above, and the code is used up: it signs nothing and lets nobody in."""
        code = super().clean_code()
        sealed = {"secret": crypto.encrypt(self.secret)}
        made = Authenticator(user=self.user, type=Authenticator.Type.TOTP, data=sealed)
        made.wrap().validate_code(code)
        return code


class AgainForm(_Worded, ReauthenticateForm):
    """Who changes a second factor says again who they are."""


class CodeForm(_Worded, AuthenticateForm):
    """The second step of the log-in."""


def connect_signals() -> None:
    """Once, when the apps are ready."""
    authentication_failed.connect(_failed, dispatch_uid="second factor failed")
    post_save.connect(_added, sender=Authenticator, dispatch_uid="second factor added")
    post_delete.connect(_removed, sender=Authenticator, dispatch_uid="second factor removed")


def _failed(request: HttpRequest, user: User, **_: Any) -> None:
    lockout.count(request, user.get_username())


def _added(instance: Authenticator, created: bool, **_: Any) -> None:
    if created:
        _record("login.factor.add", instance)
    if created and instance.type in FACTORS:
        _begin_anew(instance)


def _begin_anew(factor: Authenticator) -> None:
    """End the login's sessions that began without it; the one that added it has shown it."""
    request = context.request
    if request is None or request.user != factor.user:
        sessions.end_all(factor.user_id)
        return
    sessions.end_all(factor.user_id, but=request.session.session_key)
    told = {"id": factor.pk, "type": factor.type, "reauthenticated": True}
    record_authentication(request, factor.user, "mfa", **told)


def _removed(instance: Authenticator, **_: Any) -> None:
    _record("login.factor.remove", instance)


def _record(action: str, factor: Authenticator) -> None:
    with atomic():
        actor, new = current_login.user() or "command", {"type": factor.type}
        audit.record(action, actor=actor, subject=factor.user, new=new)

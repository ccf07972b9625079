"""The page of the log-in, and what it says to whoever is refused."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from allauth.account.internal.flows.login import perform_login, perform_password_login
from allauth.account.models import Login
from allauth.socialaccount.adapter import get_adapter
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView
from django.core.cache import cache
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from unfold.forms import AuthenticationForm

from core.house.db import atomic
from projects import audit
from projects.login import one_time_link, second

BACKEND = "django.contrib.auth.backends.ModelBackend"
ACCOUNT = "/account/"
REFUSED_S = 900
"""Whom a provider vouches for and the house refuses may come again and again: noted so often."""


class PasswordsOff:
    """Where local passwords are switched off (LOCAL_PASSWORDS) none is right, at whatever door it is given.

    It knows no logins (no `get_user`): a session names the backend that does.
    """

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> None:
        """Raises PermissionDenied for a password: Django then asks no other backend."""
        if not settings.LOCAL_PASSWORDS and "password" in credentials:
            raise PermissionDenied


class LogInPage(LoginView):
    """Name and password, and the other ways in. A right password is the first step; allauth leads on."""

    template_name = "admin/login.html"
    authentication_form = AuthenticationForm

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Whoever is in already goes to the console."""
        if request.method == "GET" and admin.site.has_permission(request):
            return HttpResponseRedirect(self.get_success_url())
        return super().dispatch(request, *args, **kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """As Django's, unless passwords are switched off."""
        if not settings.LOCAL_PASSWORDS:
            return shown(request, _("Local passwords are switched off here."), status=403)
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        """The password is right: whoever has a second factor is asked for it before the session begins."""
        login = Login(user=form.get_user(), redirect_url=self.get_success_url())
        answer: HttpResponse = perform_password_login(self.request, {}, login)
        return answer

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """What the console's page needs."""
        return super().get_context_data(**kwargs) | _context(self.request)


def _context(request: HttpRequest) -> dict[str, Any]:
    is_here = request.path == reverse("account_login")
    return {
        **admin.site.each_context(request),
        "title": _("Log in"),
        "app_path": request.get_full_path() if is_here else reverse("account_login"),
        "ways": get_adapter(request).list_providers(request),
        "takes_passwords": settings.LOCAL_PASSWORDS,
        "next": request.GET.get("next", ""),
    }


def console_look(request: HttpRequest) -> dict[str, Any]:
    """Context of allauth's pages, which know nothing of the console they are part of."""
    if not request.path.startswith(ACCOUNT):
        return {}
    return admin.site.each_context(request) | {"is_demanded": second.is_demanded(request.user)}


def shown(request: HttpRequest, refusal: str, *, status: int) -> HttpResponse:
    """The page of the log-in with words above it."""
    return render(
        request,
        LogInPage.template_name,
        _context(request) | {"refusal": refusal, "form": AuthenticationForm(request)},
        status=status,
    )


def refused(request: HttpRequest, reason: str, text: str, **told: str) -> HttpResponse:
    """The same for who came from a provider, and in the trail (`reason`, `told`), there once in a while."""
    address = request.META.get("REMOTE_ADDR", "")
    new = {"address": address, "locked_out": False, "reason": reason, **told}
    key = sha256(json.dumps(new, sort_keys=True).encode()).hexdigest()
    if cache.add(f"login-refused:{key}", True, REFUSED_S):
        with atomic():
            audit.record("login.failed", actor="anonymous", new=new)
    return shown(request, text, status=403)


@never_cache
def by_link(request: HttpRequest, token: str) -> HttpResponse:
    """The way in of a superuser whom `manage.py login_link` made a link: once, for ten minutes."""
    user = one_time_link.owner(token)
    if user is None:
        text = _("This link has been used, or its time is over: make another one.")
        return shown(request, text, status=403)
    if request.method != "POST":
        return render(request, "projects/by_link.html", _context(request) | {"user_name": user})
    answer: HttpResponse = perform_login(request, Login(user=user, redirect_url=_home()))
    return answer


def _home() -> str:
    return reverse("admin:index")


def may_enter(user: User | None) -> bool:
    """Whether a login opens the console at all."""
    return bool(user and user.is_active and user.is_staff)

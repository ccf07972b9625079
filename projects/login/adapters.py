"""What django-allauth asks the house: who may be let in, where secrets are kept, which providers there are."""

from __future__ import annotations

import logging
from time import time
from typing import Any
from urllib.parse import urlsplit

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils.translation import gettext as _
from requests import ConnectionError as NotConnected
from requests import PreparedRequest, Response, Session
from requests.adapters import HTTPAdapter

from core.house import crypto, sessions
from core.privacy.outbound_policy import OutsideRefused, check_url, reachable
from projects.login.page import BACKEND, may_enter, refused, shown
from projects.login.second import has_factor

logger = logging.getLogger(__name__)
FRESH_S = 300
"""So long after a log-in a first second factor can be set up without the password being asked again."""


PORTS = {"http": 80, "https": 443}


class Refused(Exception):
    """Somebody whom a provider knows and the house does not let in."""

    def __init__(self, reason: str, text: str, **told: str) -> None:
        """`reason` and `told` are for the trail, `text` for the reader."""
        super().__init__(text)
        self.reason, self.text, self.told = reason, text, told


class AccountAdapter(DefaultAccountAdapter):
    """Logins are made by superusers alone; the steps after the first are the second factor's."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Nobody makes a login for themselves."""
        return False

    def get_client_ip(self, request: HttpRequest) -> str:
        """What `core.house.middleware.trust_proxies` made of it."""
        return str(request.META.get("REMOTE_ADDR", "-"))

    def login(self, request: HttpRequest, user: Any) -> None:
        """Begin the session, with the backend that knows permissions."""
        user.backend = BACKEND
        super().login(request, user)

    def get_login_stages(self) -> list[str]:
        """No mail and no telephone is verified here."""
        return ["allauth.mfa.stages.AuthenticateStage"]

    def get_reauthentication_methods(self, user: Any) -> list[dict[str, Any]]:
        """No password where they are off, nor of who has a second factor: it alone would remove that."""
        found: list[dict[str, Any]] = super().get_reauthentication_methods(user)
        if settings.LOCAL_PASSWORDS and not has_factor(user):
            return found
        return [one for one in found if one["id"] != "reauthenticate"]

    def is_reauthentication_required(self, *, app: str, **kwargs: Any) -> bool:
        """Before a change; not of a first factor just after the log-in.

        Raises ImmediateHttpResponse later on where nothing can be asked: whoever finds a session open
        shall not add the factor whose code signs.
        """
        request = context.request
        began = request.session.get(sessions.BEGAN, 0)
        if not has_factor(request.user) and time() - began < FRESH_S:
            return False
        if not self.get_reauthentication_methods(request.user):
            text = _("Please log out and in again to set up a second factor.")
            raise ImmediateHttpResponse(shown(request, text, status=403))
        return True


class _Checked(HTTPAdapter):
    """The house's rule for addresses, also for those that a provider's own description names."""

    def send(self, request: PreparedRequest, *args: Any, **kwargs: Any) -> Response:
        """Raises requests.ConnectionError for an address that is not allowed."""
        try:
            check_url(str(request.url))
            parts = urlsplit(str(request.url))
            reachable(parts.hostname or "", parts.port or PORTS[parts.scheme])
        except (OutsideRefused, OSError, UnicodeError) as error:
            raise NotConnected(str(error)) from error
        return super().send(request, *args, **kwargs)


class SocialAdapter(DefaultSocialAccountAdapter):
    """Providers come from the settings alone, and let in only whom a superuser made a login."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        """Nobody makes a login for themselves."""
        return False

    def list_apps(
        self, request: HttpRequest, provider: str | None = None, client_id: str | None = None
    ) -> list[Any]:
        """Those that the settings name; allauth's table of them stays empty."""
        from allauth.socialaccount.models import SocialApp

        apps = []
        if settings.OIDC_ISSUER:
            known = {"server_url": settings.OIDC_ISSUER, "oauth_pkce_enabled": True}
            name = settings.OIDC_NAME or _("Hospital account")
            apps += [
                SocialApp(
                    provider="oidc",
                    name=name,
                    client_id=settings.OIDC_CLIENT_ID,
                    secret=settings.OIDC_CLIENT_SECRET,
                    settings=known,
                )
            ]
        if settings.WECOM_SCAN:
            apps += [SocialApp(provider="wecom", name=_("WeCom"), client_id=settings.WECOM_CORP_ID)]
        return [app for app in apps if provider in (None, app.provider)]

    def get_requests_session(self) -> Session:
        """No proxy of the environment, no address that the house may not ask."""
        session: Session = super().get_requests_session()
        session.trust_env = False
        for scheme in ("http://", "https://"):
            session.mount(scheme, _Checked())
        return session

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        """Raises ImmediateHttpResponse, the refusal in words, for whom the house does not know."""
        sociallogin.token = None  # nothing of the provider's is kept
        try:
            if sociallogin.state.get("process") != "login":
                raise Refused("process", _("Nothing is linked from here: please log in."))
            user: User | None = sociallogin.provider.login_of(sociallogin)
            if not may_enter(user):
                raise Refused("login", _("This login does not open the console."))
        except Refused as error:
            told = {"provider": sociallogin.provider.id, **error.told}
            answer = refused(request, error.reason, error.text, **told)
            raise ImmediateHttpResponse(answer) from error
        sociallogin.user = user

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: Any = None,
        exception: Exception | None = None,
        extra_context: Any = None,
    ) -> None:
        """Raises ImmediateHttpResponse: cancelled, another browser's state, a token that is not right.

        The trail has only whom a provider vouched for: anybody may come with made-up answers.
        """
        reason = type(exception).__name__ if exception else str(getattr(error, "value", error))
        text = _("The log-in with %(name)s did not work. Please try again.") % {
            "name": provider.app.name
        }
        logger.warning("no log-in by %s: %s", provider.id, reason)
        raise ImmediateHttpResponse(shown(request, text, status=403))


class MfaAdapter(DefaultMFAAdapter):
    """Secrets of second factors are sealed as every secret of the house."""

    def encrypt(self, text: str) -> str:
        """Ciphertext."""
        return crypto.encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        """Raises core.house.crypto.DecryptionError."""
        return crypto.decrypt(encrypted_text)

    def get_totp_label(self, user: Any) -> str:
        """The login, never the mail address."""
        return str(user.get_username())

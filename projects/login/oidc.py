"""The hospital's own provider: OpenID Connect with PKCE, state, nonce and a checked signature.

Source: OpenID Connect Core 1.0, 3.1.3.7 (ID token) and 5.3.4 (userinfo).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import jwt
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.helpers import render_authentication_error
from allauth.socialaccount.models import SocialAccount
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.provider import OAuth2Provider
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView, OAuth2LoginView
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.crypto import constant_time_compare, get_random_string
from django.utils.translation import gettext as _
from requests import RequestException

from core.house.db import atomic
from projects import audit
from projects.login.adapters import Refused
from projects.login.page import may_enter

SIGNED_BY = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA"]
"""Only what a key of the provider's signs: nothing that the client's secret, or nobody, does."""
LEEWAY_S = 60
"""How far two clocks may be apart."""
NEEDED = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri")


class HospitalAdapter(OpenIDConnectOAuth2Adapter):
    """What is asked of the provider, and checked of its answers."""

    provider_id = "oidc"

    def __init__(self, request: HttpRequest) -> None:
        """Of the one provider in the settings."""
        super().__init__(request, self.provider_id)

    def get_callback_url(self, request: HttpRequest, app: Any) -> str:
        """The address that the provider has to be told: PUBLIC_URL, whatever a `Host` header says."""
        return settings.PUBLIC_URL + reverse("oidc_callback")

    @property
    def openid_config(self) -> dict[str, Any]:
        """What the provider says of itself (Discovery 1.0, 4.3). Raises OAuth2Error."""
        try:
            found: dict[str, Any] = super().openid_config
        except (RequestException, ValueError) as error:
            raise OAuth2Error("the provider does not describe itself") from error
        if not isinstance(found, dict) or not all(
            isinstance(found.get(name), str) for name in NEEDED
        ):
            raise OAuth2Error("the provider's description is not whole")
        if str(found["issuer"]).rstrip("/") != settings.OIDC_ISSUER:
            raise OAuth2Error("the issuer is another one")
        return found

    def complete_login(self, request: HttpRequest, app: Any, token: Any, **kwargs: Any) -> Any:
        """The claims, of which none is taken that was not signed for this house. Raises OAuth2Error."""
        said = kwargs["response"].get("id_token")
        if not isinstance(said, str):
            raise OAuth2Error("no id_token")
        claims = self._checked(said, app.client_id)
        if "userinfo_endpoint" in self.openid_config:
            info = self._fetch_user_info(token.token)
            if info.get("sub") != claims["sub"]:
                raise OAuth2Error("userinfo is somebody else's")
            claims = info | claims
        return self.get_provider().sociallogin_from_response(request, claims)

    def _checked(self, said: str, client_id: str) -> dict[str, Any]:
        with get_adapter().get_requests_session() as session:
            response = session.get(self.openid_config["jwks_uri"])
            response.raise_for_status()
        try:
            kid = jwt.get_unverified_header(said).get("kid")
            keys = jwt.PyJWKSet.from_json(json.dumps(response.json())).keys
            fitting = [one for one in keys if kid in (None, one.key_id)]
            if not fitting:
                raise OAuth2Error("signed with a key that is not the provider's")
            found: dict[str, Any] = jwt.decode(
                said,
                fitting[0].key,
                algorithms=SIGNED_BY,
                issuer=self.openid_config["issuer"],
                audience=client_id,
                leeway=LEEWAY_S,
                options={"require": ["exp", "iat", "iss", "aud", "sub"]},
            )
        except (jwt.PyJWTError, TypeError, ValueError) as error:
            raise OAuth2Error("the id_token is not right") from error
        return found


class HospitalProvider(OpenIDConnectProvider):
    """One provider, from the settings OIDC_…; subjects are kept by issuer and `sub`."""

    id = "oidc"
    name = "OpenID Connect"
    oauth2_adapter_class = HospitalAdapter
    get_login_url = OAuth2Provider.get_login_url
    get_callback_url = OAuth2Provider.get_callback_url
    get_oauth2_adapter = OAuth2Provider.get_oauth2_adapter

    def redirect(self, request: HttpRequest, process: str, *args: Any, **kwargs: Any) -> Any:
        """Lead on to the provider, with a nonce that the answer has to bring back."""
        nonce = get_random_string(43)
        kwargs["auth_params"] = {"nonce": nonce}
        try:
            answer = super().redirect(request, process, *args, nonce=nonce, **kwargs)
        except OAuth2Error as error:
            return render_authentication_error(request, self, exception=error)
        return led_on(request, answer)

    def get_scope_from_request(self, request: HttpRequest) -> list[str]:
        """What the house asks for, whatever a form says."""
        return ["openid", "profile", "email"]

    def extract_uid(self, data: dict[str, Any]) -> str:
        """The same `sub` of another issuer is somebody else."""
        return sha256(f"{data['iss']}\n{data['sub']}".encode()).hexdigest()

    def extract_extra_data(self, data: dict[str, Any]) -> dict[str, Any]:
        """Who it is, and nothing else that the provider told."""
        return {"iss": data["iss"], "sub": data["sub"]}

    def sociallogin_from_response(self, request: HttpRequest, response: dict[str, Any]) -> Any:
        """As allauth's, with the claims as long as the log-in lasts."""
        found = super().sociallogin_from_response(request, response)
        found.claims = response
        return found

    def login_of(self, sociallogin: Any) -> User:
        """The login of a subject; the first time that of the same verified e-mail, or of a claim.

        Raises Refused.
        """
        claims = sociallogin.claims
        told = {"issuer": str(claims["iss"]), "subject": str(claims["sub"])}
        nonce = str(sociallogin.state.get("nonce") or "")
        if not nonce or not constant_time_compare(nonce, str(claims.get("nonce"))):
            raise Refused("nonce", _("This answer was not meant for your log-in."), **told)
        if sociallogin.is_existing:
            user: User = sociallogin.user
            return user
        return _linked(sociallogin.account, claims, told)


def _linked(account: SocialAccount, claims: dict[str, Any], told: dict[str, str]) -> User:
    """Link a subject to the one login that it fits. Raises Refused."""
    found = [user for user in _fitting(claims) if may_enter(user)]
    if len(found) != 1:
        text = _("Nobody here has a login for this account: please ask the administrator.")
        raise Refused("unknown subject", text, **told)
    user: User = found[0]
    if SocialAccount.objects.filter(user=user, provider=account.provider).exists():
        text = _("The login that fits is linked to another account: please ask the administrator.")
        raise Refused("linked otherwise", text, **told, login=user.get_username())
    with atomic():
        account.user = user
        account.save()
        audit.record("login.linked", actor=user, subject=user, new=told)
    return user


def _fitting(claims: dict[str, Any]) -> Any:
    claim = claims.get(settings.OIDC_LOGIN_CLAIM) if settings.OIDC_LOGIN_CLAIM else None
    if settings.OIDC_LOGIN_CLAIM:
        return User.objects.filter(username=claim) if claim else User.objects.none()
    mail = claims.get("email")
    # True and nothing like it: "false" is a text that is not empty.
    if not mail or claims.get("email_verified") not in (True, "true"):
        return User.objects.none()
    same = User.objects.filter(email__iexact=str(mail))
    return [one for one in same if _is_same(str(mail), one.email)]


def _is_same(mail: str, other: str) -> bool:
    """A database takes some letters for others that only look like them; of ASCII there are none."""
    return mail.isascii() and other.isascii() and mail.lower() == other.lower()


def led_on(request: HttpRequest, answer: HttpResponse) -> HttpResponse:
    """A page that leads to the provider: the house's policy sends no form elsewhere, nor by a redirect."""
    if not isinstance(answer, HttpResponseRedirect):
        return answer
    return render(request, "projects/lead_on.html", {"address": answer.url})


View = Callable[[HttpRequest], HttpResponse]


def views_of(adapter: Any, setting: str) -> tuple[View, View]:
    """To a provider and back from it; no pages where the setting is blank."""

    def view(kind: Any) -> View:
        shown = kind.adapter_view(adapter)

        def answer(request: HttpRequest) -> HttpResponse:
            if not getattr(settings, setting):
                raise Http404
            found: HttpResponse = shown(request)
            return found

        return answer

    return view(OAuth2LoginView), view(OAuth2CallbackView)


begin, callback = views_of(HospitalAdapter, "OIDC_ISSUER")

"""Log-in by scanning with WeCom (企业微信扫码登录): lets in whose userid a superuser has linked to a login.

Source: WeCom documents 98152 (the page with the code) and 91023 (auth/getuserinfo).
"""

from __future__ import annotations

from typing import Any

from allauth.socialaccount.providers.base import ProviderAccount
from allauth.socialaccount.providers.oauth2.client import OAuth2Client, OAuth2Error
from allauth.socialaccount.providers.oauth2.provider import OAuth2Provider
from allauth.socialaccount.providers.oauth2.views import OAuth2Adapter
from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from core.integrations.wecom.results import SendError
from projects.login.adapters import Refused
from projects.login.oidc import led_on, views_of
from projects.models import Person
from wechat.outbound import gateway


class ScanClient(OAuth2Client):
    """WeCom's own names of the parameters; the code is good once and for five minutes."""

    def get_redirect_url(self, authorization_url: str, scope: Any, extra_params: Any) -> str:
        """Where the code to scan is shown."""
        asked = {
            "login_type": "CorpApp",
            "appid": settings.WECOM_CORP_ID,
            "agentid": settings.WECOM_AGENT_ID,
            "redirect_uri": self.callback_url,
            "state": self.state,
        }
        return f"{authorization_url}?{urlencode(asked)}"


class ScanAdapter(OAuth2Adapter):
    """Asks WeCom who scanned."""

    provider_id = "wecom"
    client_class = ScanClient
    access_token_url = ""

    @property
    def authorize_url(self) -> str:
        """WeCom's page, in the demo the stand-in's."""
        return str(settings.WECOM_SCAN_URL)

    def get_callback_url(self, request: HttpRequest, app: Any) -> str:
        """Its host is the app's trusted domain for the log-in (授权回调域)."""
        return settings.PUBLIC_URL + reverse("wecom_callback")

    def get_access_token_data(self, request: HttpRequest, app: Any, *_: Any, **__: Any) -> Any:
        """There is no token of the person's: the app asks with its own. Raises OAuth2Error."""
        found = gateway.client().scanned(str(request.GET.get("code", ""))[:512])
        if isinstance(found, SendError):
            raise OAuth2Error(f"getuserinfo: {found.code}")
        return {"access_token": "-", "userid": found}

    def complete_login(self, request: HttpRequest, app: Any, token: Any, **kwargs: Any) -> Any:
        """Who scanned. Raises OAuth2Error for somebody who is not of the corp."""
        userid = kwargs["response"]["userid"].lower()
        if not userid:
            raise OAuth2Error("not a member of the corp")
        return self.get_provider().sociallogin_from_response(request, {"userid": userid})


class ScanProvider(OAuth2Provider):
    """The corp's own app; nothing is stored of a scan: the link of userid and login is People's."""

    id = "wecom"
    name = "WeCom"
    account_class = ProviderAccount
    oauth2_adapter_class = ScanAdapter

    def redirect(self, request: HttpRequest, process: str, *args: Any, **kwargs: Any) -> Any:
        """Lead on to WeCom's page."""
        return led_on(request, super().redirect(request, process, *args, **kwargs))

    def extract_uid(self, data: dict[str, Any]) -> str:
        """The userid, without case."""
        return str(data["userid"])

    def login_of(self, sociallogin: Any) -> User:
        """The login that a superuser has linked to the userid. Raises Refused."""
        userid = sociallogin.account.uid
        person = Person.objects.by_userid(userid)
        if person is None or person.user is None:
            text = _("No login is linked to your WeCom account: please ask the administrator.")
            raise Refused("unknown userid", text, userid=userid)
        return person.user


provider_classes = [ScanProvider]


begin, callback = views_of(ScanAdapter, "WECOM_SCAN")

"""The hospital's stand-in provider, people it knows, and codes of an app."""

from __future__ import annotations

import html
import re
from typing import Any
from urllib.parse import urlsplit

import httpx
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from django.contrib.auth.models import User
from django.test import Client

from core.house import crypto
from projects.models import AuditEntry

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
PEOPLE = [
    {"sub": "u-1", "name": "王护士", "email": "wang@hospital.test", "email_verified": True},
    {"sub": "u-2", "name": "生人", "email": "nobody@hospital.test", "email_verified": True},
    {"sub": "u-3", "name": "未验证", "email": "wang@hospital.test", "email_verified": False},
    {"sub": "u-4", "name": "同邮箱", "email": "WANG@hospital.test", "email_verified": True},
]


def configure(settings: Any, stand_ins: Any, public_url: str = "http://testserver") -> None:
    """The house knows the provider, and the provider its people."""
    settings.OIDC_ISSUER = f"{stand_ins.url}/oidc"
    settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = "iit-manager", "demo-oidc-secret"
    settings.OIDC_NAME = "统一身份认证"
    settings.PUBLIC_URL = public_url
    stand_ins.post("configure", {"oidc": {"people": PEOPLE}})
    stand_ins.post("oidc/spoil", {})


def lead(client: Client, next_page: str = "") -> str:
    """Where the button of the log-in page leads."""
    page = client.post("/account/oidc/", {"next": next_page} if next_page else {})
    assert page.status_code == 200, page
    found = re.search(r'href="(http[^"]+/oidc/authorize[^"]+)"', page.content.decode())
    assert found, page.content.decode()
    return html.unescape(found[1])


def back(address: str, who: str) -> str:
    """Where the provider sends somebody who says who they are, as a path of the house."""
    answer = httpx.get(f"{address}&who={who}")
    assert answer.status_code == 302, answer.text
    parts = urlsplit(answer.headers["location"])
    return f"{parts.path}?{parts.query}"


def come(client: Client, who: str) -> Any:
    """The whole way; what the house answers at its end."""
    return client.get(back(lead(client), who))


def is_in(client: Client) -> bool:
    return client.get("/admin/").status_code == 200


def last(action: str) -> AuditEntry:
    found = AuditEntry.objects.filter(action=action).order_by("-number").first()
    assert found
    return found


def give_app(user: User) -> None:
    """An app with codes, as if it had been set up."""
    data = {"secret": crypto.encrypt(SECRET)}
    Authenticator.objects.create(user=user, type=Authenticator.Type.TOTP, data=data)


def factors_of(user: User) -> Any:
    return Authenticator.objects.filter(user=user)


def offered(client: Client) -> str:
    """The secret that the page of a new app shows."""
    secret: str = client.get("/account/second/totp/activate/").context["form"].secret
    return secret


def code(secret: str = SECRET, later: int = 0) -> str:
    """What the app shows; `later` steps of half a minute on."""
    counter = list(totp.yield_hotp_counters_from_time())[1]
    return totp.format_hotp_value(totp.hotp_value(secret, counter + later))

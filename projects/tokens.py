"""Tokens of programs: made, looked up by their hash, revoked (contracts.md, HTTP)."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.timezone import now
from django.utils.translation import gettext as _
from rest_framework.authentication import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from core.house import lockout
from core.house.db import atomic
from projects import audit
from projects.models import ApiToken, TokenScope

SHOWN = 8
"""So much of a token its owner tells it by."""
USED_S = 300
"""So old the noted time of use may be: a program that asks every second costs no write every second."""


def new_key() -> str:
    """160 random bits: nobody guesses them, so a plain hash keeps them."""
    return secrets.token_hex(20)


def digest(key: str) -> str:
    """What is stored of a key."""
    return sha256(key.encode("utf-8", "replace")).hexdigest()


def create(
    *,
    user: User,
    actor: object,
    key: str = "",
    name: str = "",
    scopes: Collection[TokenScope] | None = None,
    expires_at: datetime | None = None,
) -> str:
    """Make a token of a login; its key, which nobody sees again. A `key` that is there stays as it is.

    `scopes`: what it is for, in any order; None is all that its owner may do.
    """
    key = key or new_key()
    new = {
        "user": user,
        "key_start": key[:SHOWN],
        "name": name,
        "scopes": None if scopes is None else [one.value for one in TokenScope if one in scopes],
        "expires_at": expires_at,
    }
    with atomic():
        token, is_new = ApiToken.objects.get_or_create(digest=digest(key), defaults=new)
        if is_new:
            audit.record("token.create", actor=actor, subject=token, new=_summary(token))
    return key


def revoke(*, tokens: QuerySet[ApiToken], actor: object, reason: str = "") -> int:
    """End tokens at once; how many there were."""
    with atomic():
        found = list(tokens.select_related("user"))
        for token in found:
            audit.record(
                "token.revoke", actor=actor, subject=token, old=_summary(token), reason=reason
            )
        ApiToken.objects.filter(pk__in=[token.pk for token in found]).delete()
    return len(found)


def _summary(token: ApiToken) -> dict[str, Any]:
    return {
        "user": token.user.get_username(),
        "name": token.name,
        "scopes": token.scopes,
        "expires_at": token.expires_at,
    }


class HashedTokenAuthentication(TokenAuthentication):
    """`Authorization: Token …`, found by its hash."""

    _request: HttpRequest

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """Who makes the request; None without a token. Raises AuthenticationFailed."""
        self._request = request._request
        return super().authenticate(request)

    def authenticate_credentials(self, key: str) -> tuple[User, ApiToken]:
        """The token's owner. Raises AuthenticationFailed."""
        found = opened(key, self._request)
        return found.user, found


def opened(key: str, request: HttpRequest) -> ApiToken:
    """The valid token that a request shows; a guess counts for the lock-out. Raises AuthenticationFailed."""
    tokens = ApiToken.objects.select_related("user")
    found = tokens.filter(digest=digest(key)).first()
    if found is None:
        # A guess; its beginning tells at whose token. A former token of somebody's is none.
        aim = tokens.filter(key_start=key[:SHOWN]).first()
        name = aim.user.get_username() if aim else lockout.NOBODY
        lockout.count(request, name)
    if found is None or not found.is_valid:
        raise AuthenticationFailed(_("Invalid token."))
    _note_use(found)
    return found


def _note_use(token: ApiToken) -> None:
    stale = now() - timedelta(seconds=USED_S)
    if token.last_used_at is None or token.last_used_at < stale:
        unnoted = Q(last_used_at=None) | Q(last_used_at__lt=stale)
        ApiToken.objects.filter(unnoted, pk=token.pk).update(last_used_at=now())

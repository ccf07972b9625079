"""A superuser's way in where local passwords are off and the provider is down: a link made on the server."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from django.core import signing
from django.urls import reverse

from core.house.db import atomic
from projects import audit

SALT = "projects.login.link"
GOOD_FOR_S = 600


def make(user: User) -> str:
    """The link's address. It is good for ten minutes, and until its owner's next log-in."""
    with atomic():
        audit.record("login.link", actor="command", subject=user)
    token = signing.dumps([user.pk, _state(user)], salt=SALT)
    return settings.PUBLIC_URL + reverse("account_link", args=[token])


def owner(token: str) -> User | None:
    """Whose link it is; None for one that is used, too old, or nobody's."""
    try:
        pk, state = signing.loads(token, salt=SALT, max_age=GOOD_FOR_S)
    except signing.BadSignature:
        return None
    user = User.objects.filter(pk=pk, is_active=True, is_superuser=True, is_staff=True).first()
    return user if user and _state(user) == state else None


def _state(user: User) -> str:
    """Another one after each log-in."""
    return f"{user.last_login and user.last_login.timestamp()}"

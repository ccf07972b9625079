"""Logins in the audit trail, whichever door a change came through: console, command or shell.

What they are and may, passwords, log-ins, failed ones and log-outs. No typed name is kept that is no login: it
may be a password in the wrong field. A new password ends the login's API tokens;
to be switched off ends them and the sessions.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group, User
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db.models import Model
from django.db.models.signals import m2m_changed, post_save, pre_save
from django.http import HttpRequest

from core.house import current_login, sessions
from core.house.db import atomic
from projects import audit, tokens
from projects.models import ApiToken

DETAILS = ("username", "last_name", "first_name", "email")
RIGHTS = ("is_staff", "is_superuser")
_GIVEN = {"post_add": "added", "post_remove": "removed", "post_clear": "cleared"}


def connect() -> None:
    """Once, when the apps are ready."""
    pre_save.connect(_before, sender=User, dispatch_uid="login before")
    post_save.connect(_after, sender=User, dispatch_uid="login after")
    for many in (User.groups, User.user_permissions, Group.permissions):
        m2m_changed.connect(_given, sender=many.through, dispatch_uid=f"given {many.through}")
    user_logged_in.connect(_logged_in, dispatch_uid="logged in")
    user_logged_out.connect(_logged_out, dispatch_uid="logged out")
    user_login_failed.connect(_failed, dispatch_uid="log-in failed")


def _actor() -> object:
    return current_login.user() or "command"


def _before(instance: User, update_fields: Collection[str] | None, **_: Any) -> None:
    """Keep what was stored; Django notes each log-in on the row, which is no change of it."""
    noted_only = update_fields is not None and set(update_fields) == {"last_login"}
    stored = None if noted_only else User.objects.filter(pk=instance.pk).first()
    instance._stored = stored  # type: ignore[attr-defined]


def _after(instance: User, created: bool, update_fields: Collection[str] | None, **_: Any) -> None:
    stored: User | None = instance._stored  # type: ignore[attr-defined]
    with atomic():
        if created:
            new = _values(instance, ("is_active", *RIGHTS))
            audit.record("account.create", actor=_actor(), subject=instance, new=new)
        if stored is None:
            return
        _compare(stored, instance)
        if _has_new_password(stored, instance, update_fields):
            audit.record("password.change", actor=_actor(), subject=instance)
            own = ApiToken.objects.of(instance)
            tokens.revoke(tokens=own, actor=_actor(), reason="password changed")


def _compare(stored: User, user: User) -> None:
    if changed := [name for name in DETAILS if getattr(stored, name) != getattr(user, name)]:
        audit.record("account.change", actor=_actor(), subject=user, new={"changed": changed})
    if stored.is_active and not user.is_active:
        # Switched on again the login begins anew: what was stolen while it was off stays worthless.
        sessions.end_all(user.pk)
        tokens.revoke(tokens=ApiToken.objects.of(user), actor=_actor(), reason="login disabled")
    if stored.is_active != user.is_active:
        action = "account.enable" if user.is_active else "account.disable"
        audit.record(action, actor=_actor(), subject=user)
    old, new = _values(stored, RIGHTS), _values(user, RIGHTS)
    if old != new:
        audit.record("account.rights", actor=_actor(), subject=user, old=old, new=new)


def _values(user: User, names: Collection[str]) -> dict[str, Any]:
    return {name: getattr(user, name) for name in names}


def _has_new_password(stored: User, user: User, update_fields: Collection[str] | None) -> bool:
    """Not so a new hash of the same password, which Django stores at a log-in, and it alone."""
    if stored.password == user.password:
        return False
    alone = update_fields is not None and set(update_fields) == {"password"}
    # Set while a typed password is on its way to the database.
    typed = user._password is not None  # type: ignore[attr-defined]
    return typed or not alone


def _given(
    instance: Model, action: str, model: type[Model], pk_set: set[int] | None, **_: Any
) -> None:
    """Groups of a login, rights of both; also said from the other end."""
    if action not in _GIVEN:
        return
    found = model._default_manager.filter(pk__in=pk_set or ())
    new = {"of": model._meta.model_name, _GIVEN[action]: sorted(map(str, found))}
    with atomic():
        audit.record("account.rights", actor=_actor(), subject=instance, new=new)


def _logged_in(request: HttpRequest, user: User, **_: Any) -> None:
    with atomic():
        audit.record("login", actor=user, subject=user, new=_where(request))


def _logged_out(request: HttpRequest, user: User | None, **_: Any) -> None:
    if user is not None:
        with atomic():
            audit.record("logout", actor=user, subject=user, new=_where(request))


def _failed(credentials: dict[str, Any], request: HttpRequest | None = None, **_: Any) -> None:
    """Those that only prolong a lock-out are left out: else anybody fills the trail at will."""
    times = getattr(request, "axes_failures_since_start", None) or 0
    if times > settings.AXES_FAILURE_LIMIT:
        return
    user = User.objects.filter(username=credentials.get("username")).first()
    new = _where(request) | {"locked_out": times == settings.AXES_FAILURE_LIMIT}
    with atomic():
        audit.record(
            "login.failed", actor=current_login.user() or "anonymous", subject=user, new=new
        )


def _where(request: HttpRequest | None) -> dict[str, Any]:
    return {"address": request.META.get("REMOTE_ADDR", "") if request else ""}

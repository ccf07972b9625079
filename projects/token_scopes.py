"""The one place where the API asks what a token was made for (contracts.md, HTTP).

A view says which scope its methods take (`read_scope`, `write_scope`; an `@action` may say its own). What says
none is closed to every narrowed token. Sessions have no scope: they are the person.
"""

from __future__ import annotations

from django.utils.translation import gettext as _
from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from projects.models import ApiToken, TokenScope


class WithinScope(BasePermission):
    """403 `scope_missing` for a token that was not made for this."""

    code = "scope_missing"
    message = ""

    def has_permission(self, request: Request, view: object) -> bool:
        """Before anything is looked up: the answer is the same for rows that there are and others."""
        token = request.auth
        if not isinstance(token, ApiToken) or token.scopes is None:
            return True
        needed = scope_of(view, request.method or "")
        if needed is not None and token.may(needed):
            return True
        told = needed.label if needed else request.method
        self.message = _missing(told)
        return False


def require_scope(request: Request, scope: TokenScope) -> None:
    """Raises PermissionDenied (`scope_missing`) where a token was not made for what a row turns out to take."""
    if not token_may(request, scope):
        raise PermissionDenied(_missing(scope.label), WithinScope.code)


def _missing(told: object) -> str:
    return _("This token was not made for this: %(scope)s.") % {"scope": told}


def token_may(request: Request, scope: TokenScope) -> bool:
    """Whether no token narrows the request to less than this."""
    return not isinstance(request.auth, ApiToken) or request.auth.may(scope)


def scope_of(view: object, method: str) -> TokenScope | None:
    """What a token needs to ask a view in this way; None where the view does not say."""
    name = "read_scope" if method in SAFE_METHODS else "write_scope"
    scope: TokenScope | None = getattr(view, name, None)
    return scope

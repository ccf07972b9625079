"""The e-signature of a decision: the password, once more (contracts.md, HTTP; decisions.md, "who reviews").

Missing and wrong ones count for the lock-out as failed log-ins do.
"""

from __future__ import annotations

from copy import copy

from django.contrib.auth import authenticate
from django.contrib.auth.models import AbstractBaseUser
from django.http import HttpRequest
from django.utils.translation import gettext as _

from engines.models import Review
from engines.sop.errors import SignatureRequired, SignatureWrong


class Signature:
    """The password that came with a request; it is checked once, however many reviews it signs."""

    def __init__(self, request: HttpRequest, password: str) -> None:
        """`password` is blank where none was given."""
        # Its own: a lock-out is answered here, not by the middleware that looks at the request.
        self._request = copy(request)
        self._password = password
        self._signed_by: AbstractBaseUser | None = None

    def check(self, user: AbstractBaseUser, review: Review) -> None:
        """Raises SignatureRequired, SignatureWrong unless it is the password of `user`."""
        if self._signed_by == user:
            return
        found = authenticate(self._request, username=user.get_username(), password=self._password)
        if not self._password:
            raise _required(review)
        if found != user:
            raise SignatureWrong(self._refusal(), review)
        self._signed_by = user

    def _refusal(self) -> str:
        if getattr(self._request, "axes_locked_out", False):
            return _("Too many wrong passwords. Please try again later.")
        return _("The password is wrong.")


def sign(review: Review, actor: object, signature: Signature | None) -> bool:
    """Whether the decision is signed; it has to be where the project asks for it.

    Raises SignatureRequired, SignatureWrong. A channel without passwords gives no `signature`.
    """
    if not review.project.requires_signature:
        return False
    if signature is None or not isinstance(actor, AbstractBaseUser):
        raise _required(review)
    signature.check(actor, review)
    return True


def _required(review: Review) -> SignatureRequired:
    text = _("This project wants decisions signed: please give your password.")
    return SignatureRequired(text, review)

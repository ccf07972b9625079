"""What a password must not be: something that whoever knows its owner tries first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from unicodedata import normalize

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import CommonPasswordValidator
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from projects.models import Member, Project

LEAST = 8
"""So many characters are left when all that others know of the owner, and years, are taken out."""
DIFFERENT = 5
SIMILAR = 0.7  # as Django's own validator of similarity
_YEAR = re.compile(r"(?:19|20)\d\d")
_SIGN = re.compile(r"[\W_]")


class NotGuessable:
    """Refuses passwords made of a login, name, WeCom userid or project code, a year and little else."""

    def __init__(self) -> None:
        """With Django's list of common passwords."""
        self._common = CommonPasswordValidator()

    def validate(self, password: str, user: User | None = None) -> None:
        """Raises ValidationError."""
        known = set(_known(user)) if user else set()
        left = _fold(password)
        if any(_is_similar(left, word) for word in known):
            raise _refusal()
        for word in sorted(known, key=len, reverse=True):
            left = left.replace(word, "").replace(word[::-1], "")
        left = _YEAR.sub("", left)
        rest = left + "".join(set(_SIGN.findall(password)))
        if len(rest) < LEAST or left.isdigit() or len(set(rest)) < DIFFERENT:
            raise _refusal()
        self._common.validate(left)

    def get_help_text(self) -> str:
        """Beside the field of a form."""
        return _(
            "Your password can't be made of your login, name, WeCom userid or project code and a year; "
            "at least eight other characters, five of them different."
        )


def _refusal() -> ValidationError:
    text = _("The password is too easy to guess for whoever knows its owner.")
    return ValidationError(text, code="password_too_guessable")


def _is_similar(folded: str, word: str) -> bool:
    """Nearly the word; a text more than twice as long never is, and takes long to compare."""
    if len(folded) > 2 * len(word):
        return False
    return SequenceMatcher(a=folded, b=word).ratio() >= SIMILAR


def _known(user: User) -> Iterator[str]:
    """What others know of somebody, as a whole and in parts, folded."""
    for text in _texts(user):
        for part in (text, *_SIGN.split(text)):
            word = _fold(part)
            if len(word) > (2 if word.isascii() else 1):
                yield word


def _texts(user: User) -> Iterator[str]:
    yield from (user.get_username(), user.first_name, user.last_name, user.email.partition("@")[0])
    if user._state.adding:
        # Whoever makes logins knows every study; nobody else may learn of one by what is refused.
        yield from Project.objects.values_list("code", flat=True)
        return
    person = getattr(user, "person", None)
    rows = Member.objects.filter(person=person).select_related("project") if person else ()
    yield (person and person.wecom_userid) or ""
    for row in rows:
        yield from (row.display_name, row.project.code)


def _fold(text: str) -> str:
    """The letters and digits alone, whatever their case and width."""
    return _SIGN.sub("", normalize("NFKC", text).casefold())

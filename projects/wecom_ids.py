"""Whether WeCom knows a userid: asked here, answered by the app that talks to WeCom (it registers itself)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from django.utils.translation import gettext as _

MOST = 50
"""So many are asked at once: each is a call."""


@dataclass(frozen=True, slots=True)
class Told:
    """What came of asking after one userid, worded for the reader.

    `was_asked` is false where WeCom gave no answer about it: then others are not asked either.
    """

    ok: bool
    text: str
    was_asked: bool = True


Ask = Callable[[str], Told]
_asked: list[Ask] = []


def register(ask: Ask) -> None:
    """`ask(userid)` never raises for what WeCom answers."""
    _asked[:] = [ask]


def ask(userids: Iterable[str | None]) -> Iterator[Told]:
    """One answer for each userid, up to `MOST`; the last where WeCom cannot be asked."""
    for at, userid in enumerate(userids):
        if at == MOST:
            yield Told(False, _("Only the first %d were asked after.") % MOST)
            return
        if not userid:
            yield Told(False, _("No WeCom userid: this person gets no message."))
            continue
        told = _asked[0](userid)
        yield told
        if not told.was_asked:
            return

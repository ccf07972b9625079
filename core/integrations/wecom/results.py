"""What came of a call to WeCom: values, not exceptions, so that a caller must look at each kind."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What to do about a call that failed (wecom.md 3.6)."""

    RETRY = "retry"  # nothing was delivered: again, with back-off
    WAIT = "wait"  # over a limit: not before `wait_s`
    PERMANENT = "permanent"  # will never be accepted
    ALERT = "alert"  # an operator must act; the message stays queued
    AMBIGUOUS = "ambiguous"  # may have been delivered: only ever the identical JSON again


@dataclass(frozen=True)
class Sent:
    """Accepted. `undelivered`: recipients (lower case) that WeCom named as not reached."""

    msgid: str = ""
    response_code: str = ""
    undelivered: tuple[str, ...] = ()


@dataclass(frozen=True)
class SendError:
    """Not accepted. `code` is WeCom's errcode or 0 (no such answer); `detail` carries no secret."""

    kind: Kind
    code: int = 0
    detail: str = ""
    wait_s: float = 0.0


Result = Sent | SendError


class Standing(StrEnum):
    """What a userid is to the app (document 90196, "读取成员"; errors: wecom.md 3.6)."""

    ACTIVE = "active"
    DISABLED = "disabled"
    NOT_ACTIVATED = "not_activated"
    LEFT = "left"
    UNKNOWN = "unknown"  # nobody of the corp is called so
    UNSEEN = "unseen"  # somebody may be, outside of the app's visible range


STANDINGS = {
    1: Standing.ACTIVE,
    2: Standing.DISABLED,
    4: Standing.NOT_ACTIVATED,
    5: Standing.LEFT,
}
"""By `status` of user/get."""
NOT_SEEN = {40003: Standing.UNKNOWN, 60111: Standing.UNKNOWN, 60011: Standing.UNSEEN}
"""By the errcode of user/get."""

TOKEN_CODES = frozenset({40014, 42001, 40001})
"""The access token is not taken: fetch anew once, try again once (O1-O3)."""

_RETRY = frozenset({-1, 6000, 45033})
_WAIT = {45009: 60.0}
_ALERT = {
    60020: 60.0,  # the caller's address is not trusted
    40001: 1200.0,  # the secret: repeated tries get the address banned for an hour
    40013: 1200.0,
    41002: 1200.0,
    41004: 1200.0,
    40056: 600.0,
    41011: 600.0,
    43012: 600.0,
    48002: 600.0,
    301002: 600.0,
    50003: 600.0,
}


def classify(code: int, detail: str) -> SendError:
    """What WeCom's errcode asks for (wecom.md 3.6); an unknown one is permanent."""
    if code in _RETRY:
        return SendError(Kind.RETRY, code, detail)
    if code in _WAIT:
        return SendError(Kind.WAIT, code, detail, _WAIT[code])
    if code in _ALERT:
        return SendError(Kind.ALERT, code, detail, _ALERT[code])
    return SendError(Kind.PERMANENT, code, detail)

"""Why a run or a review cannot be acted on."""

from __future__ import annotations

import re
from datetime import datetime

from engines.models import Review


class SopError(Exception):
    """Base of what a caller may show to the reader; `code`, made of its name, tells programs."""

    code = "sop_error"

    def __init_subclass__(cls) -> None:
        """NotSuspended: "not_suspended", unless the class says otherwise."""
        words = re.findall("[A-Z][a-z]+", cls.__name__)
        cls.code = cls.__dict__.get("code") or "_".join(words).lower()

    def __init__(self, message: str, review: Review | None = None) -> None:
        """`review` is the question as it stands now, where there is one."""
        super().__init__(message)
        self.review = review


class NotSuspended(SopError):
    """The run does not wait for a decision (any more)."""


class ValuesChanged(SopError):
    """What the reviewer saw is no longer what stands in REDCap: decide on the new values."""


class NotShown(ValuesChanged):
    """The person has not been shown the review as it stands now, nor any earlier."""

    code = ValuesChanged.code


class NotAllowed(SopError):
    """The person sees the subject but has no say in this review."""


class NotEnded(SopError):
    """The run still goes on: it is cancelled before it is repeated."""


class Inactive(SopError):
    """The workflow is switched off."""


class SignatureRequired(SopError):
    """The project wants decisions signed with the password, and none was given."""


class SignatureWrong(SopError):
    """The password is not the person's, or too many were wrong before it."""


class ReasonRequired(SopError):
    """A rejection needs its reason."""


class Fault(Exception):
    """A node could not do its work now; `transient` says whether trying again may help."""

    def __init__(self, message: str, *, transient: bool) -> None:
        """`message` is shown to people: no identifiers in it."""
        super().__init__(message)
        self.transient = transient


class NoSuchSubject(Fault):
    """REDCap does not hold the subject (any more)."""


class Postponed(Exception):
    """A node has to wait for a known time; `sub_status` says for what (issue B, "LLM budget")."""

    def __init__(self, message: str, *, until: datetime, sub_status: str) -> None:
        """`message` is shown to people."""
        super().__init__(message)
        self.until = until
        self.sub_status = sub_status


class Overtaken(Exception):
    """Another worker has the run, or it was cancelled: what this one did is thrown away."""

"""How the house's log reads."""

from __future__ import annotations

import copy
import logging
import re

_REQUESTS = ("django.request", "django.security")
_SECRET_PATH = re.compile(r"(redcap/+det/+)[^\s\"'?]+", re.IGNORECASE)
"""The data entry trigger has no signature: its address is the secret, and refusals name the path."""


class Lines(logging.Formatter):
    """A traceback is for a fault of ours; a request that was refused is a line; no secret of an address."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as text; Django hands the exception over with every refusal, too."""
        if record.exc_info and record.name.startswith(_REQUESTS) and not _is_fault(record):
            record = copy.copy(record)
            record.exc_info = record.exc_text = None
        return _SECRET_PATH.sub(r"\1•••", super().format(record))


def _is_fault(record: logging.LogRecord) -> bool:
    status = getattr(record, "status_code", 400)
    return bool(status >= 500)

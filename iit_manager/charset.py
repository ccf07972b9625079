"""A Content-Type must not bring the server down: Django decodes with whatever codec it names.

`charset=undefined` or `charset=rot13` raises inside of Django's request class, before any middleware, and
becomes an answer of 500.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.utils.http import parse_header_parameters

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]

LONGEST = 255


class TextCharset:
    """Takes a charset that decodes no text out of the Content-Type; everything else passes as it is."""

    def __init__(self, application: Application) -> None:
        """Around a WSGI application."""
        self._application = application

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """WSGI."""
        kind = environ.get("CONTENT_TYPE", "")
        if kind and not _decodes_text(kind):
            environ["CONTENT_TYPE"] = kind.partition(";")[0][:LONGEST]
        return self._application(environ, start_response)


def _decodes_text(kind: str) -> bool:
    try:
        charset = parse_header_parameters(kind)[1].get("charset", "utf-8")
        return isinstance(b"a=b".decode(charset), str)
    except (LookupError, ValueError):
        return False

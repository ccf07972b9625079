"""What a web process needs before it may answer: text it can decode, and its static files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.contrib.staticfiles.storage import ManifestFilesMixin, staticfiles_storage
from django.core.exceptions import ImproperlyConfigured
from django.utils.http import parse_header_parameters

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]

LONGEST = 255


class TextCharset:
    """Takes a charset that decodes no text out of the Content-Type; everything else passes as it is.

    Django decodes with whatever codec it names: `charset=undefined` or `charset=rot13` raises inside of its
    request class, before any middleware, and becomes an answer of 500.
    """

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


def require_static_files() -> None:
    """Without the list that `collectstatic` writes every page would be a 500. Raises ImproperlyConfigured."""
    storage: object = staticfiles_storage
    if isinstance(storage, ManifestFilesMixin) and storage.read_manifest() is None:
        raise ImproperlyConfigured(
            "The static files are not collected: python manage.py collectstatic --noinput"
        )

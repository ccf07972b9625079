"""What happens to every request, in the order of settings.MIDDLEWARE. Django's middleware as functions."""

from __future__ import annotations

import logging
from collections.abc import Callable
from io import BytesIO

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import translation
from django.utils.translation import gettext as _

from core.house import api_errors, key_ring
from core.house.crypto import DecryptionError
from core.house.encrypted_fields import reading
from core.house.proxies import client, is_named, networks

Handler = Callable[[HttpRequest], HttpResponse]
logger = logging.getLogger(__name__)

API, CONSOLE = "/api/", "/admin/"
MEGABYTE = 1_048_576
SAFE = {"GET", "HEAD", "OPTIONS", "TRACE"}
SILENT = ("/wechat/", "/redcap/")
"""Programs call these: a refusal has an empty body."""
LONGEST = 18
"""Digits of a length that may be one."""
NUL, UNREADABLE = "%00", "%EF%BF%BD"


def limit_body(get_response: Handler) -> Handler:
    """413 for a body larger than its route allows (settings.BODY_LIMITS), before anything of it is read.

    A body without a length (in chunks) is read up to the limit, and then has one: Django would take it for
    an empty one.
    """

    def respond(request: HttpRequest) -> HttpResponse:
        most = body_limit(request.path_info)
        given = request.META.get("CONTENT_LENGTH") or ""
        if given:
            if not (given.isascii() and given.isdigit()):
                return HttpResponse(status=400)
            is_large = len(given) > LONGEST or int(given) > most
            return _too_large(request, most) if is_large else get_response(request)
        if request.META.get("wsgi.input_terminated") and not _give_length(request, most):
            return _too_large(request, most)
        return get_response(request)

    return respond


def limit_strangers(get_response: Handler) -> Handler:
    """413 for a form of the console larger than the usual from who is not logged in: files are the staff's.

    Stands after the login is known and before a form is read (the check of its token reads it).
    """

    def respond(request: HttpRequest) -> HttpResponse:
        usual = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        is_large = int(request.META.get("CONTENT_LENGTH") or 0) > usual
        is_form = is_large and request.path_info.startswith(CONSOLE)
        if is_form and not request.user.is_staff:
            return _too_large(request, usual)
        return get_response(request)

    return respond


def body_limit(path: str) -> int:
    """The most bytes that a body may have at this address."""
    for start, most in settings.BODY_LIMITS.items():
        if path.startswith(start):
            return int(most)
    return settings.DATA_UPLOAD_MAX_MEMORY_SIZE


def _give_length(request: HttpRequest, most: int) -> bool:
    raw = request.META["wsgi.input"].read(most + 1)
    if len(raw) > most:
        return False
    request.META["CONTENT_LENGTH"] = str(len(raw))
    request.META["wsgi.input"] = request._stream = BytesIO(raw)
    return True


def _too_large(request: HttpRequest, most: int) -> HttpResponse:
    if request.path_info.startswith(API):
        return api_errors.document(api_errors.TooLarge())
    told = _("The request is too large: at most %(number)d MB are taken here.")
    text = "" if request.path_info.startswith(SILENT) else told % {"number": most // MEGABYTE}
    return HttpResponse(text, status=413, content_type="text/plain; charset=utf-8")


class RequireRightKeys:
    """Nothing is written with keys that are not this database's (core.house.key_ring): 503.

    Pages are shown with the cells that can be opened.
    """

    def __init__(self, get_response: Handler) -> None:
        """Django's middleware protocol."""
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """503 for a request that may write, as long as the keys do not open the ring."""
        if request.method in SAFE:
            with reading():
                return self.get_response(request)
        try:
            key_ring.ring()
        except key_ring.WrongKeys as error:
            return _unavailable(request, error)
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """The same for a page that would have written, or rests on what cannot be opened."""
        if isinstance(exception, DecryptionError):
            logger.error("%s cannot be decrypted", request.path_info, exc_info=True)
        if isinstance(exception, DecryptionError | key_ring.WrongKeys):
            return _unavailable(request, exception)
        return None


def _unavailable(request: HttpRequest, error: Exception) -> HttpResponse:
    if isinstance(error, key_ring.WrongKeys):
        text = _("FIELD_ENCRYPTION_KEYS are not this database's: nothing is written.")
    else:
        text = _("Data that this page rests on cannot be decrypted.")
    if request.path_info.startswith(API):
        return api_errors.document(api_errors.Unavailable(text))
    return HttpResponse(text, status=503, content_type="text/plain; charset=utf-8")


def trust_proxies(get_response: Handler) -> Handler:
    """Behind a named proxy `REMOTE_ADDR` is the client's; of others `X-Forwarded-…` is dropped.

    Whatever looks at the address or asks for https comes after it.
    """

    def respond(request: HttpRequest) -> HttpResponse:
        peer, said = request.META.get("REMOTE_ADDR", ""), request.META
        forwarded = said.pop("HTTP_X_FORWARDED_FOR", "")
        trusted = networks(tuple(settings.TRUSTED_PROXIES))
        if is_named(peer, trusted):
            said["REMOTE_ADDR"] = client(peer, forwarded.split(","), trusted)
        else:
            said.pop("HTTP_X_FORWARDED_PROTO", None)
        return get_response(request)

    return respond


def refuse_nul(get_response: Handler) -> Handler:
    """A path with NUL is no page's (404); in the query it is the character for what cannot be read.

    SQLite looks for NUL and finds nothing, PostgreSQL breaks on it. The API refuses it field by field.
    """

    def respond(request: HttpRequest) -> HttpResponse:
        if not request.path_info.startswith(API):
            if "\0" in request.path_info:
                raise Http404
            query = request.META.get("QUERY_STRING", "")
            if NUL in query or "\0" in query:
                readable = query.replace(NUL, UNREADABLE).replace("\0", UNREADABLE)
                request.META["QUERY_STRING"] = readable
        return get_response(request)

    return respond


def forbid_storing(get_response: Handler) -> Handler:
    """No browser and no proxy keeps a page: any may hold data of a subject. Static files are served before."""

    def respond(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if "no-store" not in response.get("Cache-Control", ""):
            response["Cache-Control"] = "no-store"
        return response

    return respond


def choose_language(get_response: Handler) -> Handler:
    """The language of the reader's cookie, else Chinese; a browser's own language decides nothing (issue A).

    A hospital's console is Chinese whatever the machine it is opened on was set up for.
    """

    def respond(request: HttpRequest) -> HttpResponse:
        chosen = request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME, "")
        language = chosen if chosen in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE
        with translation.override(language):
            request.LANGUAGE_CODE = language
            response = get_response(request)
            response.headers.setdefault("Content-Language", language)
            return response

    return respond

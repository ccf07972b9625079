"""Is a callback genuine: size, query, envelope, signature, clock, decryption, in this order (wecom.md 9.1).

Both channels ask the same questions. A refusal has an empty body; nothing here talks to anybody.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist, SuspiciousOperation
from django.db import DatabaseError, InterfaceError, OperationalError, connection
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.request import UnreadablePostError

from core.integrations.wecom import Crypt, CryptoError
from wechat.inbound.parse import BadCallback
from wechat.outbound import alerts

logger = logging.getLogger(__name__)

MAX_BODY = 512 * 1024
MAX_ECHO = 4096
_SIGNATURE = re.compile(r"[0-9a-f]{40}")
_TIMESTAMP = re.compile(r"[0-9]{1,12}")
_NONCE = re.compile(r"[\x21-\x7e]{1,128}")


class Refused(Exception):
    """Not genuine, or no callback at all: `status` 4xx and an empty body."""

    def __init__(self, status: int, reason: str) -> None:
        self.status = status
        super().__init__(reason)


@dataclass(frozen=True)
class Signed:
    """The query of a callback."""

    signature: str
    timestamp: str
    nonce: str


@dataclass(frozen=True)
class Door:
    """Where callbacks of a channel (`InboxMessage.Channel`) come in.

    `crypts`: the pairs that may open one. `envelope`: the ciphertext in the bytes of a body; raises
    BadCallback. `receive`: what is done with a genuine plaintext; the pair that opened it and the nonce,
    to seal an answer with.
    """

    channel: str
    crypts: Sequence[Crypt]
    envelope: Callable[[bytes], str]
    receive: Callable[[bytes, Crypt, str], HttpResponse]


def verify_request(request: HttpRequest, door: Door) -> HttpResponse:
    """GET verifies the URL, POST goes to the door's `receive`; a Refused is its status."""
    if request.method not in ("GET", "POST"):
        return HttpResponse(status=405, headers={"Allow": "GET, POST"})
    try:
        return _verify(request, door) if request.method == "GET" else _deliver(request, door)
    except Refused as refused:
        logger.warning("callback refused: %s", refused)
        return HttpResponse(status=refused.status)


def _deliver(request: HttpRequest, door: Door) -> HttpResponse:
    """Open a POST; 503 where it can't be stored: its key is free, WeCom delivers again (1.6, rule 2)."""
    _refuse_large(request)
    signed, _ = _query(request)
    raw = body(request)
    try:
        encrypted = door.envelope(raw)
    except BadCallback as error:
        raise Refused(400, f"envelope: {error}") from error
    plain, crypt = _open(signed, encrypted, door)
    try:
        return _on_a_live_connection(lambda: door.receive(plain, crypt, signed.nonce))
    except (DatabaseError, InterfaceError, ObjectDoesNotExist) as error:
        logger.error("callback not stored: %s", type(error).__name__)
        return HttpResponse(status=503)


def _on_a_live_connection(work: Callable[[], HttpResponse]) -> HttpResponse:
    """Work, and once more where the kept connection had died: storing twice is storing once.

    Django would ask the database for a sign of life first, a trip as long as the work itself.
    """
    connection.health_check_done = True  # type: ignore[attr-defined]
    try:
        return work()
    except (OperationalError, InterfaceError):
        if connection.in_atomic_block or connection.is_usable():
            raise
        connection.close()
        return work()


def _verify(request: HttpRequest, door: Door) -> HttpResponse:
    """The decrypted echostr, byte for byte (wecom.md 1.4)."""
    signed, (echo,) = _query(request, "echostr")
    if len(echo) > MAX_ECHO:
        raise Refused(413, "echostr is too long")
    plain, _ = _open(signed, echo, door)
    return HttpResponse(plain, content_type="text/plain")


def _refuse_large(request: HttpRequest) -> None:
    try:
        length = int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError as error:
        raise Refused(400, "body: ValueError") from error
    if length > MAX_BODY:
        raise Refused(413, "the body is too large")


def body(request: HttpRequest) -> bytes:
    """The bytes of the body. Raises Refused where it can't be read.

    One that is sent in chunks has no length, and Django would read none of it.
    """
    is_chunked = request.META.get("wsgi.input_terminated") and not request.META.get(
        "CONTENT_LENGTH"
    )
    try:
        if is_chunked:
            return _at_most(request, MAX_BODY)
        return request.body
    except (UnreadablePostError, SuspiciousOperation, OSError) as error:
        raise Refused(400, f"body: {type(error).__name__}") from error


def _at_most(request: HttpRequest, most: int) -> bytes:
    raw: bytes = request.META["wsgi.input"].read(most + 1)
    if len(raw) > most:
        raise Refused(413, "the body is too large")
    return raw


def _query(request: HttpRequest, *more: str) -> tuple[Signed, list[str]]:
    """Each parameter exactly once and well-formed; the values of `more`."""
    try:
        # Not request.GET: the charset of the Content-Type would decide how the query is read.
        query = QueryDict(request.META.get("QUERY_STRING", ""), encoding="utf-8")
    except (SuspiciousOperation, ValueError) as error:
        raise Refused(400, f"query: {type(error).__name__}") from error
    values = [query.getlist(name) for name in ("msg_signature", "timestamp", "nonce", *more)]
    if any(len(found) != 1 for found in values):
        raise Refused(400, "query: each parameter exactly once")
    first, *rest = (found[0] for found in values)
    signed = Signed(first, *rest[:2])
    forms = ((_SIGNATURE, signed.signature), (_TIMESTAMP, signed.timestamp), (_NONCE, signed.nonce))
    if not all(form.fullmatch(value) for form, value in forms):
        raise Refused(400, "query: malformed parameter")
    return signed, rest[2:]


def _open(signed: Signed, encrypted: str, door: Door) -> tuple[bytes, Crypt]:
    """Signature, then clock, then decryption; the plaintext and the pair that opened it. Raises Refused."""
    if not encrypted.isascii():  # base64 is; a lone surrogate could not even be hashed
        raise Refused(400, "the ciphertext is not base64")
    signers = [crypt for crypt in door.crypts if _is_signer(crypt, signed, encrypted)]
    if not signers:
        raise Refused(403, "bad signature")
    if abs(time.time() - int(signed.timestamp)) > settings.WECOM_WINDOW_S:
        raise Refused(403, "timestamp outside of the window")
    failures = []
    for crypt in signers:  # both, where only the AES key was rotated
        try:
            return crypt.decrypt(encrypted), crypt
        except CryptoError as error:
            failures.append(str(error))
    _key_mismatch(failures, door.channel)
    raise Refused(400, "not decryptable")


def _key_mismatch(failures: list[str], channel: str) -> None:
    """A good signature and a bad ciphertext: the AES key is probably not the one of the console."""
    logger.error("ALERT callback signed but not readable: %s", failures)
    try:
        alerts.sound(alerts.Code.KEY, "; ".join(failures), subject=channel)
    except (DatabaseError, InterfaceError) as error:
        logger.error("alert not stored: %s", type(error).__name__)


def _is_signer(crypt: Crypt, signed: Signed, encrypted: str) -> bool:
    return crypt.is_signed(signed.signature, signed.timestamp, signed.nonce, encrypted)

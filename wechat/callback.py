"""The callback of the self-built app: check, store, acknowledge (wecom.md 1.4-1.6, 9.1).

Nothing here talks to the network or the LLM. A refusal has an empty body. A content problem of a genuine
message is answered with 200 and kept: a repeated delivery could not mend it.
"""

from __future__ import annotations

import logging
import re
import time
from dataclasses import dataclass

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.db import DatabaseError, IntegrityError, InterfaceError
from django.http import HttpRequest, HttpResponse
from django.http.request import UnreadablePostError
from django.utils.timezone import now
from django.views.decorators.csrf import csrf_exempt

from integrations.wecom import Crypt, CryptoError
from projects.db import after_commit, atomic
from wechat import gateway, passive
from wechat.models import InboxMessage
from wechat.parse import BadCallback, Incoming, envelope, parse, quarantine_key

logger = logging.getLogger(__name__)

MAX_BODY = 512 * 1024
MAX_ECHO = 4096
WINDOW_S = 600
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


@csrf_exempt
def callback(request: HttpRequest) -> HttpResponse:
    """GET verifies the URL, POST delivers a message."""
    if request.method not in ("GET", "POST"):
        return HttpResponse(status=405, headers={"Allow": "GET, POST"})
    try:
        return _verify(request) if request.method == "GET" else _receive(request)
    except Refused as refused:
        logger.warning("callback refused: %s", refused)
        return HttpResponse(status=refused.status)


def _verify(request: HttpRequest) -> HttpResponse:
    """The decrypted echostr, byte for byte (wecom.md 1.4)."""
    signed = _query(request, "echostr")
    echo = request.GET["echostr"]
    if len(echo) > MAX_ECHO:
        raise Refused(413, "echostr is too long")
    plain, _ = _open(signed, echo)
    return HttpResponse(plain, content_type="text/plain")


def _receive(request: HttpRequest) -> HttpResponse:
    raw = _body(request)
    signed = _query(request)
    try:
        encrypted = envelope(raw)
    except BadCallback as error:
        raise Refused(400, f"envelope: {error}") from error
    plain, crypt = _open(signed, encrypted)
    try:
        return _answer(_store(_row(plain, crypt)))
    except (DatabaseError, InterfaceError, InboxMessage.DoesNotExist) as error:
        # Not stored, the key not reserved: WeCom delivers again (wecom.md 1.6, rule 2).
        logger.error("callback not stored: %s", type(error).__name__)
        return HttpResponse(status=503)


def _body(request: HttpRequest) -> bytes:
    try:
        if int(request.META.get("CONTENT_LENGTH") or 0) > MAX_BODY:
            raise Refused(413, "the body is too large")
        return request.body
    except (ValueError, UnreadablePostError, SuspiciousOperation) as error:
        raise Refused(400, f"body: {type(error).__name__}") from error


def _query(request: HttpRequest, *more: str) -> Signed:
    """Each parameter exactly once and well-formed."""
    names = ("msg_signature", "timestamp", "nonce", *more)
    try:
        values = {name: request.GET.getlist(name) for name in names}
    except (SuspiciousOperation, ValueError) as error:
        raise Refused(400, f"query: {type(error).__name__}") from error
    if any(len(found) != 1 for found in values.values()):
        raise Refused(400, "query: each parameter exactly once")
    signed = Signed(*(values[name][0] for name in names[:3]))
    forms = ((_SIGNATURE, signed.signature), (_TIMESTAMP, signed.timestamp), (_NONCE, signed.nonce))
    if not all(form.fullmatch(value) for form, value in forms):
        raise Refused(400, "query: malformed parameter")
    return signed


def _open(signed: Signed, encrypted: str) -> tuple[bytes, Crypt]:
    """Signature, then clock, then decryption; the plaintext and the pair that opened it."""
    signers = [crypt for crypt in gateway.crypts() if _is_signer(crypt, signed, encrypted)]
    if not signers:
        raise Refused(403, "bad signature")
    if abs(time.time() - int(signed.timestamp)) > getattr(settings, "WECOM_WINDOW_S", WINDOW_S):
        raise Refused(403, "timestamp outside of the window")
    failures = []
    for crypt in signers:  # both, where only the AES key was rotated
        try:
            return crypt.decrypt(encrypted), crypt
        except CryptoError as error:
            failures.append(str(error))
    # A good signature and a bad ciphertext: the AES key is probably not the one of the console.
    logger.error("ALERT callback signed but not readable: %s", failures)
    raise Refused(400, "not decryptable")


def _is_signer(crypt: Crypt, signed: Signed, encrypted: str) -> bool:
    return crypt.is_signed(signed.signature, signed.timestamp, signed.nonce, encrypted)


def _row(plain: bytes, crypt: Crypt) -> InboxMessage:
    """The row of a genuine callback; one we cannot read is quarantined."""
    try:
        text = plain.decode()
        incoming = parse(text)
    except (UnicodeDecodeError, BadCallback) as error:
        logger.error("ALERT genuine callback not understood: %s", type(error).__name__)
        return InboxMessage(
            dedup_key=quarantine_key(plain),
            msg_type="",
            raw=plain.decode(errors="replace"),
            status=InboxMessage.Status.QUARANTINED,
            error=str(error)[:300],
            done_at=now(),
        )
    return _message(incoming, text, passive.reply_to(incoming, crypt))


def _message(incoming: Incoming, raw: str, reply: str) -> InboxMessage:
    return InboxMessage(
        dedup_key=incoming.dedup_key,
        from_user=incoming.from_user.lower(),
        msg_type=incoming.msg_type[:32],
        event=incoming.event[:64],
        content=incoming.content,
        raw=raw,
        passive_reply=reply,
    )


def _store(row: InboxMessage) -> InboxMessage:
    """The stored row: this one, or the one an earlier delivery left (with its reply)."""
    try:
        with atomic():
            row.save(force_insert=True)
            if row.status == InboxMessage.Status.NEW:
                after_commit(lambda: _wake(row.pk))
    except IntegrityError:
        return InboxMessage.objects.get(dedup_key=row.dedup_key)
    return row


def _wake(pk: int) -> None:
    from wechat.tasks import process_inbox

    process_inbox.delay(pk)


def _answer(row: InboxMessage) -> HttpResponse:
    return HttpResponse(row.passive_reply, content_type="text/xml" if row.passive_reply else None)

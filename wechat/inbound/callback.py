"""The callback of the self-built app: check, store, acknowledge (wecom.md 1.4-1.6, 9.1).

Nothing here talks to the network or the LLM. A content problem of a genuine message is answered with 200
and kept: a repeated delivery could not mend it.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from django.conf import settings
from django.db import IntegrityError, connection
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from core.house.db import atomic
from core.integrations.wecom import Crypt
from wechat.inbound import arrivals, passive, request_verification
from wechat.inbound.parse import (
    BadCallback,
    Incoming,
    envelope,
    is_for_all,
    parse_xml,
)
from wechat.inbound.request_verification import Door
from wechat.models import InboxMessage
from wechat.outbound import gateway

CHANNEL = InboxMessage.Channel.APP


@csrf_exempt
def callback(request: HttpRequest) -> HttpResponse:
    """GET verifies the URL, POST delivers a message."""
    return request_verification.verify_request(
        request, Door(CHANNEL, gateway.crypts(), envelope, _receive)
    )


def _receive(plain: bytes, crypt: Crypt, _nonce: str) -> HttpResponse:
    return _answer(_store(_row(plain, crypt)))


def _row(plain: bytes, crypt: Crypt) -> InboxMessage:
    """The row of a genuine callback; one we cannot read, or that is for others, is quarantined."""
    try:
        text = plain.decode()
        incoming = _ours(parse_xml(text))
    except (UnicodeDecodeError, BadCallback) as error:
        return arrivals.quarantined(plain, error, CHANNEL)
    return arrivals.message(incoming, text, CHANNEL, passive.reply_to(incoming, crypt))


def _ours(incoming: Incoming) -> Incoming:
    """What is addressed to our corp and app; some events name no app (wecom.md 1.9). Else BadCallback."""
    if incoming.to_user != settings.WECOM_CORP_ID:
        raise BadCallback("addressed to another corp")
    ours = ("", str(settings.WECOM_AGENT_ID))
    if incoming.agent_id not in ours:
        raise BadCallback("addressed to another app")
    if not is_for_all(incoming, settings.WECOM_CORP_ID, ours, ()):
        raise BadCallback("a field names another corp or app")
    return incoming


def _store(row: InboxMessage) -> InboxMessage:
    """The stored row: this one, or the one an earlier delivery left (with its reply)."""
    try:
        with _transaction():
            row.save(force_insert=True)
            if row.status == InboxMessage.Status.NEW:
                arrivals.wake_inbox(row)
    except IntegrityError:
        return InboxMessage.objects.only("passive_reply").get(dedup_key=row.dedup_key)
    return row


def _transaction() -> AbstractContextManager[None]:
    """None of its own: a lone INSERT is one, and saves the trips of BEGIN and COMMIT."""
    return atomic() if connection.in_atomic_block else nullcontext()


def _answer(row: InboxMessage) -> HttpResponse:
    return HttpResponse(row.passive_reply, content_type="text/xml" if row.passive_reply else None)

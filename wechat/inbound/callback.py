"""The callback of the self-built app: check, store, acknowledge (wecom.md 1.4-1.6, 9.1).

Nothing here talks to the network or the LLM. A content problem of a genuine message is answered with 200
and kept: a repeated delivery could not mend it. The first feedback is an encrypted reply in the response
(wecom.md 1.8; seed 003, 7). Each channel stores with `store` and `quarantine`.
"""

from __future__ import annotations

import hashlib
import logging
import secrets
import time
from contextlib import nullcontext

from django.conf import settings
from django.db import IntegrityError, connection
from django.http import HttpRequest, HttpResponse
from django.utils.timezone import now
from django.views.decorators.csrf import csrf_exempt

from core.house import task_queue
from core.house.db import after_commit, atomic
from core.integrations.wecom import Crypt
from engines.assistant.read.offline import detect
from projects.models import Member
from wechat.inbound.commands import Feedback, read_command
from wechat.inbound.parse import BadCallback, Incoming, envelope, is_for_all, parse_xml
from wechat.inbound.request_verification import Door, verify_request
from wechat.models import InboxMessage, Stream
from wechat.outbound import alerts, gateway
from wechat.texts import QUERYING

logger = logging.getLogger(__name__)

CHANNEL = InboxMessage.Channel.APP

# Intents that read something: the answer takes a while (decisions.md, "instant feedback").
QUERIES = frozenset(
    {
        "query_record",
        "count_records",
        "query_protocol",
        "project_info",
        "visit_window",
        "qc_task",
        "query_history",
        "analyze_trend",
        "generate_report",
        "qa_query",
    }
)
_ENVELOPE = (
    "<xml><Encrypt><![CDATA[{encrypted}]]></Encrypt>"
    "<MsgSignature><![CDATA[{signature}]]></MsgSignature>"
    "<TimeStamp>{timestamp}</TimeStamp><Nonce><![CDATA[{nonce}]]></Nonce></xml>"
)
_TEXT = (
    "<xml><ToUserName><![CDATA[{to}]]></ToUserName>"
    "<FromUserName><![CDATA[{sender}]]></FromUserName><CreateTime>{timestamp}</CreateTime>"
    "<MsgType><![CDATA[text]]></MsgType><Content><![CDATA[{content}]]></Content></xml>"
)


@csrf_exempt
def callback(request: HttpRequest) -> HttpResponse:
    """GET verifies the URL, POST delivers a message."""
    return verify_request(request, Door(CHANNEL, gateway.crypts(), envelope, _receive))


def _receive(plain: bytes, crypt: Crypt, _nonce: str) -> HttpResponse:
    try:
        text = plain.decode()
        incoming = parse_xml(text)
        _refuse_others(incoming)
    except (UnicodeDecodeError, BadCallback) as error:
        quarantine(plain, error, CHANNEL)
        return HttpResponse()
    reply = store(incoming, text, CHANNEL, reply_to(incoming, crypt)).passive_reply
    return HttpResponse(reply, content_type="text/xml" if reply else None)


def _refuse_others(incoming: Incoming) -> None:
    """BadCallback for what is not addressed to our corp and app; some events name no app (wecom.md 1.9)."""
    if incoming.to_user != settings.WECOM_CORP_ID:
        raise BadCallback("addressed to another corp")
    ours = ("", str(settings.WECOM_AGENT_ID))
    if incoming.agent_id not in ours:
        raise BadCallback("addressed to another app")
    if not is_for_all(incoming, settings.WECOM_CORP_ID, ours, ()):
        raise BadCallback("a field names another corp or app")


def store(
    incoming: Incoming, raw: str, channel: str, passive_reply: str = "", req_id: str = ""
) -> InboxMessage:
    """The stored row of a genuine callback: this one, or the one an earlier delivery left (with its reply).

    A message to the smart bot has its stream beside it; `req_id`: of its frame. A worker is woken once this
    transaction is committed; the sweeper finds a lost wake.
    """
    row = InboxMessage(
        channel=channel,
        dedup_key=incoming.dedup_key,
        from_user=incoming.from_user.lower(),
        msg_type=incoming.msg_type[:32],
        event=incoming.event[:64],
        content=incoming.content,
        raw=raw,
        passive_reply=passive_reply,
    )
    streams = channel in InboxMessage.BOTS and not incoming.is_event
    # A lone INSERT is a transaction, and saves the trips of BEGIN and COMMIT.
    alone = not streams and not connection.in_atomic_block
    try:
        with nullcontext() if alone else atomic():
            row.save(force_insert=True)
            if streams:
                Stream.objects.create(
                    stream_id=row.dedup_key,
                    inbox=row,
                    response_url=incoming.response_url,
                    req_id=req_id,
                )
            after_commit(lambda: task_queue.wake("wechat.tasks.process_inbox", row.pk))
    except IntegrityError:
        return InboxMessage.objects.get(dedup_key=row.dedup_key)
    return row


def quarantine(plain: bytes, error: Exception, channel: str, why: str = "") -> None:
    """Keep what we cannot read, or what is for others, for an operator, who is told.

    `why`: instead of the words of the error, which may repeat what it could not take.
    """
    alerts.sound(alerts.Code.NOT_UNDERSTOOD, type(error).__name__)
    row = InboxMessage(
        channel=channel,
        dedup_key=hashlib.sha256(b"quarantine" + plain).hexdigest(),
        msg_type="",
        raw=plain.decode(errors="replace"),
        status=InboxMessage.Status.QUARANTINED,
        error=(why or str(error))[:300],
        done_at=now(),
    )
    try:
        with atomic():
            row.save(force_insert=True)
    except IntegrityError:
        InboxMessage.objects.only("pk").get(dedup_key=row.dedup_key)  # an earlier delivery left it


def reply_to(incoming: Incoming, crypt: Crypt) -> str:
    """The encrypted "querying" for a member's question that starts a query, else a blank."""
    if not _starts_query(incoming):
        return ""
    timestamp = str(int(time.time()))
    plain = _TEXT.format(
        to=cdata(incoming.from_user),
        sender=cdata(incoming.to_user),
        timestamp=timestamp,
        content=cdata(QUERYING),
    )
    return seal(plain, crypt, timestamp, str(secrets.randbelow(10**10)))


def seal(plain: str, crypt: Crypt, timestamp: str, nonce: str) -> str:
    """The envelope with a signature over our own timestamp and nonce."""
    encrypted = crypt.encrypt(plain.encode())
    signature = crypt.sign(timestamp, nonce, encrypted)
    return _ENVELOPE.format(
        encrypted=encrypted, signature=signature, timestamp=timestamp, nonce=nonce
    )


def cdata(text: str) -> str:
    """`text` for a CDATA section: its end mark is split."""
    return text.replace("]]>", "]]]]><![CDATA[>")


def _starts_query(incoming: Incoming) -> bool:
    if incoming.msg_type not in ("text", "voice") or not incoming.content.strip():
        return False
    try:
        command = read_command(incoming.content)
        asked = command.asked if isinstance(command, Feedback) else ""
        if command is not None and not asked:
            return False
        found = detect(asked or incoming.content).intents
    except Exception as error:  # the acknowledgement never depends on the detector
        logger.error("intent detection failed: %s", type(error).__name__)
        return False
    asks = bool(QUERIES.intersection(found))
    return asks and Member.objects.active_of(incoming.from_user).exists()

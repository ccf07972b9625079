"""The first feedback: an encrypted reply in the callback's own response (wecom.md 1.8; seed 003, 7)."""

from __future__ import annotations

import logging
import secrets
import time

from core.integrations.wecom import Crypt
from engines.assistant.read.offline import detect
from projects.models import Member
from wechat.inbound.commands import read_command as read_command
from wechat.inbound.parse import Incoming
from wechat.texts import QUERYING

logger = logging.getLogger(__name__)

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
    if read_command(incoming.content) is not None:
        return False
    try:
        found = detect(incoming.content).intents
    except Exception as error:  # the acknowledgement never depends on the detector
        logger.error("intent detection failed: %s", type(error).__name__)
        return False
    asks = bool(QUERIES.intersection(found))
    return asks and Member.objects.active_of(incoming.from_user).exists()

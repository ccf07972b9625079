"""Whether the smart bot's long connection comes about: told in words, with what to do (docs/wecom.md)."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from django.conf import settings
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from core.integrations.wecom.socket import BotSocket, SocketDown, SocketRefused
from wechat.aibot import lease as leases
from wechat.aibot.lease import Lease
from wechat.aibot.link import Kicked, LeaseLost, Link, Timing
from wechat.models import Alert, BotConnection
from wechat.outbound import alerts

Code = Alert.Code
LISTEN_S = 2.0
"""A connection from elsewhere that fights for the bot comes back within a moment."""


@dataclass(frozen=True)
class Finding:
    """One line: what was looked at, whether it is well, what was seen, what to do if not."""

    name: str
    ok: bool
    seen: str = ""
    remedy: str = ""


def look() -> Finding:
    """How it stands, without connecting where a process of the house does: a second one would end the first."""
    name = _("long connection")
    if not leases.is_configured():
        missing = "WECOM_AIBOT_ID, WECOM_AIBOT_SECRET"
        remedy = _("Set them in the environment; the values stand in the WeCom console.")
        return Finding(name, False, missing, remedy)
    lease = Lease(beats=False)
    # A secret that was refused is not tried again, a bot that was taken over not taken back.
    if leases.blocked_until() or not lease.acquire():
        return _told(name, leases.row())
    try:
        return _tried(name, lease)
    except LeaseLost:
        return _told(name, leases.row())
    finally:
        lease.release()


def _told(name: str, row: BotConnection) -> Finding:
    """What the process that holds the connection says of it."""
    who = {"holder": row.holder.partition(":")[0]}
    if row.connected_at:
        since = {"since": f"{localtime(row.connected_at):%Y-%m-%d %H:%M}"}
        seen = _("Connected since %(since)s, by the process on %(holder)s.") % (who | since)
        return Finding(name, True, seen)
    if row.error_code:
        return _refused(name, f"{row.error_code} {row.error}")
    if leases.blocked_until():
        return _kicked(name)
    if row.error:
        return _down(name, row.error)
    return Finding(name, False, _("The process on %(holder)s is connecting just now.") % who)


def _tried(name: str, lease: Lease) -> Finding:
    stop = threading.Event()
    try:
        socket = BotSocket.open(
            settings.WECOM_AIBOT_SOCKET, settings.WECOM_AIBOT_ID, settings.WECOM_AIBOT_SECRET
        )
        lease.connected()
        timer = threading.Timer(LISTEN_S, stop.set)
        timer.start()
        try:
            # What comes meanwhile is a member's question: it is stored and answered as ever.
            Link(socket, lease, Timing()).run(stop)
        finally:
            timer.cancel()
    except SocketRefused as refused:
        lease.disconnected(refused.detail, refused.code)
        return _refused(name, str(refused))
    except Kicked:
        return _kicked(name)
    except SocketDown as down:
        lease.disconnected(str(down))
        return _down(name, str(down))
    alerts.clear(Code.BOT_SECRET, Code.BOT_DOWN)
    seen = _("WeCom takes id and secret. No process holds the connection: start wecom_socket.")
    return Finding(name, True, seen)


def _refused(name: str, what: str) -> Finding:
    seen = _("WeCom refuses id or secret (%(what)s).") % {"what": what}
    return Finding(name, False, seen, str(Alert.REMEDIES[Code.BOT_SECRET]))


def _kicked(name: str) -> Finding:
    seen = _("Another connection took the bot over.")
    return Finding(name, False, seen, str(Alert.REMEDIES[Code.BOT_KICKED]))


def _down(name: str, what: str) -> Finding:
    seen = _("No connection comes about (%(what)s).") % {"what": what}
    return Finding(name, False, seen, str(Alert.REMEDIES[Code.BOT_DOWN]))

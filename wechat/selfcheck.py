"""What `manage.py wecom_check` looks at, each finding with what to do (issue 5, Operations)."""

from __future__ import annotations

from collections.abc import Iterator

from django.conf import settings
from django.utils.translation import gettext as _

from core.integrations.wecom import Crypt, SendError, probe
from wechat.aibot import lease
from wechat.aibot import probe as link
from wechat.aibot.probe import Finding
from wechat.checks import wecom_settings
from wechat.models import Alert
from wechat.outbound import gateway

NEEDED = ("WECOM_CORP_ID", "WECOM_AGENT_ID", "WECOM_SECRET")
CALLBACK = ("WECOM_TOKEN", "WECOM_AES_KEY")
SAMPLE = "wecom_check 入组 🫡".encode()


def check_configuration() -> Iterator[Finding]:
    """All of them, the cheap ones first; nothing is asked of WeCom before the settings are well."""
    configured = list(_settings())
    yield from configured
    if not all(one.ok for one in configured):
        return
    pairs = _pairs()
    for name, crypt, _path in pairs:
        yield _keys(name, crypt)
    if pairs:
        yield _reachable()
    for name, crypt, path in pairs:
        yield _verified(name, crypt, path)
    if lease.is_configured():
        yield link.look()
    yield from _server()
    yield from _alerts()


def _settings() -> Iterator[Finding]:
    # With the long connection nothing has to reach us.
    callback = () if lease.is_configured() else CALLBACK
    needed = (*NEEDED, *callback, "PUBLIC_URL")
    missing = [name for name in needed if not getattr(settings, name)]
    remedy = _("Set them in the environment; the values stand in the WeCom console.")
    yield Finding(_("settings"), not missing, ", ".join(missing), remedy)
    for bad in wecom_settings():
        yield Finding(str(bad.id), False, str(bad.msg), str(bad.hint))


def _pairs() -> list[tuple[str, Crypt, str]]:
    """Name, keys and path of each callback that is configured."""
    names = [_("new keys"), _("old keys")]
    app = zip(names, gateway.crypts(), strict=False)
    found = [(name, crypt, "/wechat/callback/") for name, crypt in app]
    bot = zip(names, gateway.aibot_crypts(), strict=False)
    title = _("smart bot")
    return found + [(f"{title}, {name}", crypt, "/wechat/aibot/") for name, crypt in bot]


def _keys(name: str, crypt: Crypt) -> Finding:
    same = crypt.decrypt(crypt.encrypt(SAMPLE)) == SAMPLE
    return Finding(_("encryption, %(name)s") % {"name": name}, same)


def _reachable() -> Finding:
    answer = probe.reach(f"{settings.PUBLIC_URL}/wechat/callback/")
    seen = answer.error or f"HTTP {answer.status}"
    remedy = _(
        "PUBLIC_URL must lead to this server, also from outside: look at DNS, proxy, firewall."
    )
    return Finding(_("callback is reachable"), answer.status == 400, seen, remedy)


def _verified(name: str, crypt: Crypt, path: str) -> Finding:
    same, answer = probe.verify(f"{settings.PUBLIC_URL}{path}", crypt)
    seen = answer.error or f"HTTP {answer.status}, {answer.seconds * 1000:.0f} ms"
    remedy = _(
        "The server that answers has other keys or another clock, or a proxy changes the query; "
        "WeCom waits one second."
    )
    in_time = answer.seconds < probe.VERIFY_S
    return Finding(_("verification, %(name)s") % {"name": name}, same and in_time, seen, remedy)


def _server() -> Iterator[Finding]:
    """The token, then a call that WeCom refuses to strange addresses."""
    client = gateway.client()
    token = client.check_token()
    secret = _("Copy the secret of the app into WECOM_SECRET; wait an hour after repeated tries.")
    yield Finding(_("access token"), token is None, _seen(token), secret)
    if token is not None:
        return
    answer = client.getcallbackip()
    error = answer if isinstance(answer, SendError) else None
    yield Finding(
        _("our address is trusted"),
        error is None,
        _seen(error),
        _("Add the address named here to the trusted addresses of the app; it takes a minute."),
    )


def _seen(error: SendError | None) -> str:
    return f"{error.code} {error.detail}".strip() if error else ""


def _alerts() -> Iterator[Finding]:
    for alert in Alert.objects.filter(cleared_at=None):
        seen = f"{alert.get_code_display()} {alert.subject} ({alert.times}×) {alert.detail}"
        yield Finding(_("alert"), False, seen, alert.remedy)

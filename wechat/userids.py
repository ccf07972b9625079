"""Whether a userid is one that the app reaches, asked of WeCom and told in the reader's language."""

from __future__ import annotations

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from core.integrations.wecom import Kind, SendError, Standing
from projects.wecom_ids import Told
from wechat.models import Alert
from wechat.outbound import alerts, gateway

SAID: dict[Standing, Promise] = {
    Standing.ACTIVE: gettext_lazy("%(userid)s: WeCom knows this userid, and the app reaches it."),
    Standing.DISABLED: gettext_lazy("%(userid)s: this WeCom account is disabled."),
    Standing.NOT_ACTIVATED: gettext_lazy(
        "%(userid)s: this WeCom account was never activated; have the person log in to WeCom once."
    ),
    Standing.LEFT: gettext_lazy("%(userid)s: this person has left the company in WeCom."),
    Standing.UNKNOWN: gettext_lazy(
        "%(userid)s: WeCom has no such userid. It is the account in the WeCom address book, not the name."
    ),
    Standing.UNSEEN: gettext_lazy(
        "%(userid)s: outside of the app's visible range; add the person to it in the WeCom console."
    ),
}


def check_userid(userid: str) -> Told:
    """What WeCom says of a userid."""
    if not settings.WECOM_CORP_ID:
        return Told(False, _("WeCom is not configured."), was_asked=False)
    found = gateway.client().standing(userid)
    if isinstance(found, Standing):
        return Told(found is Standing.ACTIVE, str(SAID[found]) % {"userid": userid})
    return Told(False, _failed(found), was_asked=False)


def _failed(error: SendError) -> str:
    """What hinders the call; WeCom's own words are English and for operators: only its code is shown."""
    if code := alerts.code_of(error):
        return f"{code.label} {Alert.REMEDIES[code]}"
    if error.kind is Kind.PERMANENT:
        return _("WeCom refuses to say (error %(code)d).") % {"code": error.code}
    return _("WeCom could not be reached; please try again later.")

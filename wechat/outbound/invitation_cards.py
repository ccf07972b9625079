"""Asking a person whether they take part in a study, by card or in words; telling them that they do."""

from __future__ import annotations

from typing import Any

from django.utils import translation
from django.utils.timezone import localdate
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from projects import invitations
from projects.models import Member
from wechat.outbound import cards, formats, outbox
from wechat.outbound.cards import fit_card
from wechat.outbound.neutralise import neutralise
from wechat.texts import ACCEPT_WORDS, DECLINE_WORDS

KIND = "invitation"
ACCEPT, DECLINE = "accept", "decline"


def tell(member: Member) -> None:
    """Once a day and study, in the caller's transaction; nothing to who has no WeCom userid."""
    userid = member.wecom_userid
    if not userid:
        return
    ref = f"{member.pk}-{localdate():%Y%m%d}"
    with translation.override(member.language):
        if member.invited_at is None:
            text = _("You are a member of a study now: %(what)s.") % {
                "what": neutralise(invitations.describe_invitation(member))
            }
            outbox.enqueue_text(to_user=userid, project=None, content=text, key=f"member:{ref}")
        elif formats.reads_plain(userid, member.project):
            outbox.enqueue_text(
                to_user=userid, project=None, content=words(member), key=f"{KIND}:{ref}"
            )
        else:
            cards.send(
                kind=KIND,
                ref=ref,
                version=1,
                project=member.project,
                to=[userid],
                content=_content(member),
                fallback=words(member),
            )


def words(member: Member) -> str:
    """The invitation as text, with what to reply."""
    asked = _("You are invited to a study: %(what)s.") % {
        "what": neutralise(invitations.describe_invitation(member))
    }
    code = member.project.code
    how = _('Reply "%(accept)s" or "%(decline)s". Until you accept you have no part in it.') % {
        "accept": f"{ACCEPT_WORDS[0]} {code}",
        "decline": f"{DECLINE_WORDS[0]} {code}",
    }
    return f"{asked}\n{how}"


def _content(member: Member) -> dict[str, Any]:
    return {
        "card_type": "button_interaction",
        "main_title": {
            "title": fit_card(_("Invitation: %(code)s") % {"code": member.project.code}, "title"),
            "desc": fit_card(invitations.describe_invitation(member), "desc"),
        },
        "sub_title_text": fit_card(words(member), "sub_title"),
        "button_list": [
            {
                "text": fit_card(pgettext("invitation", "Accept"), "button"),
                "style": 1,
                "key": ACCEPT,
            },
            {"text": fit_card(_("Decline"), "button"), "style": 2, "key": DECLINE},
        ],
    }

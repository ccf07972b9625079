"""An invitation into a study: asked by card or in words, answered by a tap or "接受 CODE"."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from django.utils import translation
from django.utils.timezone import localdate
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from core.house.db import atomic
from projects import invitations
from projects.models import Member, Person
from wechat.inbound.job import Job
from wechat.models import Card
from wechat.outbound import cards, formats, outbox
from wechat.outbound.neutralise import neutralise
from wechat.texts import ACCEPT_WORDS, DECLINE_WORDS, INVITATION_WORDS

KIND = "invitation"
ACCEPT, DECLINE = "accept", "decline"
_SAID = re.compile(
    rf"(?P<word>{'|'.join(ACCEPT_WORDS + DECLINE_WORDS)})\s*(?:{'|'.join(INVITATION_WORDS)})?"
    r"[\s:,]*(?P<code>.*?)[.!。]*",
    re.DOTALL,
)


def invite(member: Member) -> None:
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
                to_user=userid, project=None, content=_words(member), key=f"{KIND}:{ref}"
            )
        else:
            cards.send(
                kind=KIND,
                ref=ref,
                version=1,
                project=member.project,
                to=[userid],
                content=_content(member),
                fallback=_words(member),
            )


def _words(member: Member) -> str:
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
    return cards.layout(
        _("Invitation: %(code)s") % {"code": member.project.code},
        [
            cards.button(pgettext("invitation", "Accept"), 1, key=ACCEPT),
            cards.button(_("Decline"), 2, key=DECLINE),
        ],
        desc=invitations.describe_invitation(member),
        text=_words(member),
    )


def answer_invitation(job: Job) -> bool:
    """Settle what a message answers; who is in no study yet is told of their invitations. False: neither."""
    waiting = [*invitations.waiting(Person.objects.by_userid(job.row.from_user))]
    if not waiting:
        return False
    language = job.speaker.language if job.speaker else waiting[0].language
    with translation.override(language), atomic():
        found = _said(job.incoming.content, waiting)
        if found is not None:
            job.finish(_settled(*found), found[0].project if found[1] else None)
        elif job.speaker is None:
            job.finish("\n\n".join(_words(one) for one in waiting))
        else:
            return False
    return True


def settle_by_card(job: Job, card: Card) -> None:
    """A tap on the card: its person's alone, and once."""
    accept = job.incoming.event_key == ACCEPT
    waiting = invitations.waiting(Person.objects.by_userid(job.row.from_user))
    member = waiting.filter(project=card.project).first()
    is_theirs = job.row.from_user.lower() in card.to_user.split("|")
    with atomic():
        if not is_theirs:
            job.finish(_("This card is meant for somebody else."))
            return
        told = _settled(member, accept) if member else _("This invitation does not wait any more.")
        cards.replace(
            job,
            card,
            note=told,
            button=_("Answered"),
        )
        job.finish(told, card.project if member and accept else None)


def _said(text: str, waiting: Sequence[Member]) -> tuple[Member, bool] | None:
    """The invitation that is answered and how; without the study's code only where there is one."""
    plain = unicodedata.normalize("NFKC", text).strip()
    found = _SAID.fullmatch(plain.casefold())
    if not found or not plain:
        return None
    code = found["code"].strip()
    named = [one for one in waiting if one.project.code.casefold() == code]
    if not code and any(word in plain.casefold() for word in INVITATION_WORDS):
        named = [*waiting]
    accept = found["word"] in ACCEPT_WORDS
    return (named[0], accept) if len(named) == 1 else None


def _settled(member: Member, accept: bool) -> str:
    study = f"{member.project.name} ({member.project.code})"
    if not invitations.settle(member=member, accept=accept, actor=member):
        return _("This invitation does not wait any more.")
    if accept:
        return _("You are a member of %(study)s now.") % {"study": study}
    return _("You have declined the invitation to %(study)s.") % {"study": study}

"""What the signals of lower layers become in WeCom: outbox rows with unique keys, nothing else (design.md 2).

Signals arrive inside the transaction of what happened, so a row exists exactly if it did.
"""

from __future__ import annotations

import uuid
from typing import Any

from django.conf import settings
from django.db.models import Value
from django.db.models.functions import Coalesce
from django.dispatch import receiver
from django.utils import translation
from django.utils.timezone import now
from django.utils.translation import gettext as _

from core.llm.models import LlmCanary
from engines.llm_canary import standing_changed
from memory.hot import injection
from memory.hot.prune import memory_over_cap
from memory.models import MemoryProposal, ProjectMemory
from projects.models import Member, Person, Role
from projects.signals import house_restored, login_moved, membership_offered
from study.blinding.services import code_broken
from study.models import CodeBreak
from wechat.inbound import invitations
from wechat.models import InboxMessage, OutboxMessage, Stream
from wechat.outbound import cards, outbox


@receiver(login_moved, dispatch_uid="wechat.login_moved")
def on_login_moved(*, person: Person, lost: str, gained: str, **_kwargs: Any) -> None:
    """Whose login was given or taken is told, where they have a WeCom userid."""
    if not person.wecom_userid:
        return
    member = person.memberships.filter(is_active=True).first()
    with translation.override(member.language if member else settings.LANGUAGE_CODE):
        said = [
            lost and _('The login "%(login)s" is no longer linked with you.') % {"login": lost},
            gained and _('The login "%(login)s" is now linked with you.') % {"login": gained},
            _("If that is not right, please tell the administrator of the house."),
        ]
        text = "\n".join(filter(None, said))
    key = f"login:{uuid.uuid4().hex}"
    outbox.enqueue_text(to_user=person.wecom_userid, project=None, content=text, key=key)


@receiver(membership_offered, dispatch_uid="wechat.membership_offered")
def on_membership_offered(*, member: Member, actor: object, **_kwargs: Any) -> None:
    """Who is invited into a study is asked; whom a superuser made a member is told."""
    invitations.invite(member)


@receiver(memory_over_cap, dispatch_uid="wechat.memory_over_cap")
def on_memory_over_cap(
    *, memory: ProjectMemory, tokens: int, proposal: MemoryProposal | None, **_kwargs: Any
) -> None:
    """The administrators are to be told, once for each text that is too long (seed 000, 5.1)."""
    people = Member.objects.filter(project=memory.project, role=Role.ADMIN, is_active=True)
    for member in people:
        with translation.override(member.language):
            text = _over_cap(memory, tokens, proposal)
        outbox.tell(
            to=member,
            content=text,
            key=f"over-cap:{memory.pk}@{memory.version}:{member.wecom_userid}",
        )


@receiver(code_broken, dispatch_uid="wechat.code_broken")
def on_code_broken(*, broken: CodeBreak, **_kwargs: Any) -> None:
    """The principal investigators are told who was shown whose arm and why; never the arm."""
    people = Member.objects.filter(project=broken.project, role=Role.PI, is_active=True)
    for member in people:
        with translation.override(member.language):
            text = _(
                "%(study)s: the code of %(subject)s was broken by %(who)s.\nReason: %(reason)s"
            ) % {
                "study": broken.project.code,
                "subject": broken.record_id,
                "who": broken.member.display_name or broken.member.identity,
                "reason": broken.reason,
            }
        outbox.tell(to=member, content=text, key=f"code-break:{broken.pk}:{member.wecom_userid}")


@receiver(standing_changed, dispatch_uid="wechat.model_standing")
def on_model_standing(*, canary: LlmCanary, is_down: bool, **_kwargs: Any) -> None:
    """The administrators are told that answers are plain from now on, or no longer, once each."""
    people = Member.objects.filter(project=canary.project, role=Role.ADMIN, is_active=True)
    for member in people:
        with translation.override(member.language):
            text = _model_standing(canary, is_down)
        key = f"canary:{canary.pk}:{is_down}:{member.wecom_userid}"
        outbox.tell(to=member, content=text, key=key)


def _model_standing(canary: LlmCanary, is_down: bool) -> str:
    if is_down:
        text = _(
            "%(study)s: the daily check of the language model got %(met)d of 10 right. Answers are plain and "
            "unclear questions are asked back until a check succeeds."
        )
    else:
        text = _(
            "%(study)s: the daily check of the language model got %(met)d of 10 right. Answers are as before."
        )
    said = text % {"study": canary.project.code, "met": canary.met or 0}
    return f"{said}\n{cards.link('/admin/llm/modelacceptance/')}"


def _over_cap(memory: ProjectMemory, tokens: int, proposal: MemoryProposal | None) -> str:
    """How much too long, what is proposed and where to decide; no line of the memory itself."""
    head = _(
        "The hot memory of %(study)s has %(tokens)s tokens; %(limit)s fit. What does not fit is left out"
        " of every answer."
    ) % {"study": memory.project.code, "tokens": tokens, "limit": injection.LIMIT}
    if proposal is None:
        what = _("Nothing can be proposed to leave out; please shorten it by hand.")
        path = f"/admin/memory/projectmemory/{memory.pk}/change/"
    else:
        what = _("Proposed: %(gone)s lines go, %(new)s shorter ones say what matters of them.") % {
            "gone": len(proposal.old.splitlines()),
            "new": len(proposal.new.splitlines()),
        }
        path = f"/admin/memory/memoryproposal/{proposal.pk}/change/"
    return "\n".join((head, what, cards.link(path)))


@receiver(house_restored, dispatch_uid="wechat.house_restored")
def on_house_restored(*, moved: bool, **_kwargs: Any) -> None:
    """What waited when the backup was made was sent and answered since: nobody gets it a second time."""
    if moved:
        return
    waiting = (*OutboxMessage.UNSENT, OutboxMessage.Status.HELD)
    rows = OutboxMessage.objects.filter(status__in=waiting)
    rows.update(status=OutboxMessage.Status.WITHDRAWN)
    unread = (InboxMessage.Status.NEW, InboxMessage.Status.PROCESSING)
    InboxMessage.objects.filter(status__in=unread).update(status=InboxMessage.Status.DONE)
    at = now()
    expired = Coalesce("expired_at", Value(at))
    Stream.objects.filter(finished_at=None).update(expired_at=expired, finished_at=at)
    Stream.objects.filter(delivered_at=None).update(delivered_at=at)

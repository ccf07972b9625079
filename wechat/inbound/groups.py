"""Questions in a group: the group is bound to one study, and each speaker is answered alone.

WeCom does not say who reads along in a group, and what one member may read (a site, what unblinds, what they
told of themselves) is not for everybody there. So the group hears only that an answer has gone to who asked.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from core.house.db import atomic
from projects import audit
from projects.models import Member, Project, Role
from wechat.inbound import commands, pending
from wechat.inbound.job import Job
from wechat.inbound.questions import ask
from wechat.models import GroupChat

BIND, FREE = ("绑定研究", "bind study"), ("解除绑定", "unbind study")
"""What an administrator writes to the bot in a group; behind the former stands the study's code."""
MENTIONED = 2
"""So many words of the bot's name may stand before a Chinese one; an English one could be in a sentence."""


def answer_in_group(job: Job) -> None:
    """Bind or free the group, or answer the speaker, a member of some study; ends in `job.finish`."""
    text = unicodedata.normalize("NFKC", job.incoming.content).strip()
    code, freed = _said_behind(text, BIND), _said_behind(text, FREE)
    found = GroupChat.objects.filter(chat_id=job.incoming.chat_id).select_related("project")
    group = found.first() if job.incoming.chat_id else None
    if code and job.incoming.chat_id and (admin := _binder(job, code)):
        _bind(job, admin)
    elif group is None:
        _refuse(
            job,
            _(
                "This group is not bound to a study, so I answer nothing here. An administrator of the "
                "whole study binds it by writing to me here: bind study CODE. In a single chat I answer you at "
                "any time."
            ),
        )
    elif freed is not None and freed.lower() in ("", group.project.code.lower()):
        _free(job, group)
    elif not Member.objects.active_of(job.row.from_user).filter(project=group.project).exists():
        _refuse(
            job,
            _("I answer only members of the study here. Please contact your administrator."),
            group.project,
        )
    elif commands.read_command(text) or pending.explain(job.row, text):
        _refuse(
            job,
            _("Reviews are decided and answers rated in a single chat with me, not in a group."),
            group.project,
        )
    else:
        job.is_private = True
        ask(job, job.incoming.content, group.project)


def free(group: GroupChat, actor: object) -> bool:
    """End a binding, audited; False where somebody else has ended it."""
    with atomic():
        row = GroupChat.objects.select_for_update().filter(pk=group.pk).first()
        if row is None:
            return False
        audit.record(
            "wechat.group_freed",
            actor=actor,
            project=row.project,
            subject=row,
            old={"group": row.chat_id},
        )
        row.delete()
        return True


def _said_behind(text: str, words: Sequence[str]) -> str | None:
    """What stands behind a command, "" for nothing; None where the text is no such command.

    In front of a Chinese one may be the rest of a mention: a bot's name with a blank in it is cut at the blank,
    and what is left of it is Latin.
    """
    plain = " ".join(one for one in text.replace(":", " ").split() if not one.startswith("@"))
    for word in words:
        before, found, _behind = plain.lower().partition(word)
        if found and (not before or (not word.isascii() and _is_of_mention(before))):
            return plain[len(before) + len(word) :].strip(" 。.!")
    return None


def _is_of_mention(before: str) -> bool:
    return before.isascii() and before.endswith(" ") and len(before.split()) <= MENTIONED


def _binder(job: Job, code: str) -> Member | None:
    """The speaker as an administrator of the whole study of this code.

    To everybody else a code that exists reads like one that does not.
    """
    named = [one for one in _admins(job) if one.project.code.lower() == code.lower()]
    exact = next((one for one in named if one.project.code == code), None)
    return exact or (named[0] if len(named) == 1 else None)


def _bind(job: Job, admin: Member) -> None:
    """Bind the group to a study at the word of an administrator of it."""
    with atomic():
        row, is_new = GroupChat.objects.get_or_create(
            chat_id=job.incoming.chat_id,
            defaults={"project": admin.project, "bound_by": job.row.from_user},
        )
        if is_new:
            audit.record(
                "wechat.group_bound",
                actor=admin,
                project=admin.project,
                subject=row,
                new={"group": row.chat_id},
            )
    if row.project_id != admin.project_id:
        _refuse(
            job,
            _("This group is bound to another study. Its administrator frees it by: unbind study."),
        )
        return
    _tell(
        job,
        _(
            "This group is now bound to %(code)s. Members of the study ask me here, and I answer each "
            "alone, because I cannot see who reads along. To end it, write: unbind study."
        )
        % {"code": admin.project.code},
    )


def _free(job: Job, group: GroupChat) -> None:
    admin = _admins(job).filter(project=group.project).first()
    if admin is None:
        _refuse(job, _("Only an administrator of the whole study frees the group."), group.project)
        return
    free(group, admin)
    _tell(job, _("This group is bound to no study any more. I answer nothing here from now on."))


def _admins(job: Job) -> QuerySet[Member]:
    """The speaker's memberships as an administrator of a whole study."""
    held = Member.objects.active_of(job.row.from_user).select_related("project")
    return held.filter(role=Role.ADMIN, site="")


def _refuse(job: Job, text: str, project: Project | None = None) -> None:
    with atomic():
        new = {"message": job.row.pk, "group": job.incoming.chat_id}
        audit.record("wechat.group_refused", actor=job.row.from_user, project=project, new=new)
        job.finish(text, project)


def _tell(job: Job, text: str) -> None:
    """Say something of the binding itself, in the group."""
    with atomic():
        job.finish(text)

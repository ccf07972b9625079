"""People who write and are in no study: refused, audited, and the administrators told (issue 5, Inbound)."""

from __future__ import annotations

from django.db.models import QuerySet
from django.utils import translation
from django.utils.timezone import localdate
from django.utils.translation import gettext as _

from core.house.db import atomic
from projects import audit
from projects.models import Member, Role
from wechat.inbound.job import Job
from wechat.outbound import outbox


def refuse_stranger(job: Job) -> None:
    """A polite refusal that says nothing of any study, audited once per message."""
    with atomic():
        audit.record("wechat.refused", actor=job.row.from_user, new={"message": job.row.pk})
        tell_administrators(job.row.from_user)
        job.finish(
            _("Sorry, you are not a member of a study here. Please contact your administrator.")
        )


def tell_administrators(userid: str) -> None:
    """Once a day and stranger: the administrators of the studies that they left, else of every study."""
    left = Member.objects.filter(wecom_userid=userid, is_active=False)
    for admin, mine in _administrators(left):
        codes = ", ".join(one.project.code for one in mine) if left else ""
        with translation.override(admin.language):
            outbox.enqueue_text(
                to_user=admin.wecom_userid,
                project=None,
                content=_text(userid, codes),
                key=f"stranger:{userid}:{localdate():%Y%m%d}:{admin.wecom_userid}",
            )


def _administrators(left: QuerySet[Member]) -> list[tuple[Member, list[Member]]]:
    """Each person once, with the memberships that concern them: nobody is told of another's study."""
    people = Member.objects.filter(role=Role.ADMIN, is_active=True).exclude(wecom_userid="")
    if left:
        people = people.filter(project__in=left.values("project"))
    found: dict[str, list[Member]] = {}
    for one in people.select_related("project").order_by("project__code"):
        found.setdefault(one.wecom_userid, []).append(one)
    return [(mine[0], mine) for mine in found.values()]


def _text(userid: str, codes: str) -> str:
    said = {"userid": userid, "codes": codes}
    if codes:
        who = _("%(userid)s, who left %(codes)s, wrote to the assistant and was refused.") % said
    else:
        who = _("%(userid)s is in no study, wrote to the assistant and was refused.") % said
    what = _("Add them as a member, or take them out of the app's visible range.")
    return f"{who} {what}"

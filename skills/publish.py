"""Draft and publication of a workflow: what is kept until somebody publishes it, or until its day.

Until then every run reads `Skill.config`, which is what was published last.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.timezone import now
from django.utils.translation import gettext as _

from core.house import clock
from core.house.db import atomic
from projects import audit
from projects.models import Project
from skills.models import Skill, SkillDraft
from skills.services import SkillChanged, save_skill
from skills.validation import MAX_BYTES


def check_draft(skill: Skill, seen: datetime | None) -> SkillDraft | None:
    """The workflow's draft, which nobody else changes until the running transaction ends.

    `seen`: when the draft that the writer read was saved, None for none. Raises SkillChanged where it is
    another one now.
    """
    held = Skill.objects.select_for_update().filter(pk=skill.pk).first()
    draft = SkillDraft.objects.filter(skill=skill.pk).first()
    if held is None or (draft and draft.saved_at) != seen:
        raise SkillChanged
    return draft


def check_size(config: Any) -> None:
    """Raise ValidationError for what is not even a draft."""
    if not isinstance(config, dict) or len(json.dumps(config).encode()) > MAX_BYTES:
        raise ValidationError({"config": _("The configuration is too large, or no object.")})


def keep_draft(
    *, skill: Skill, config: Any, effective_on: date | None, actor: object, seen: datetime | None
) -> SkillDraft:
    """Keep `config` beside what runs; with `effective_on` it is published on that day of the study's zone.

    A draft may be wrong; what has a day was checked by the caller (`services.check_skill`). `skill` and `seen`
    (`check_draft`) are what the writer read. Raises ValidationError for what is no configuration, SkillChanged.
    """
    check_size(config)
    with atomic():
        before = check_draft(skill, seen)
        values = {
            "config": config,
            "effective_on": effective_on,
            "base_version": skill.version,
            "author": audit.actor_name(actor),
            "saved_at": now(),
            "refused": "",
        }
        draft, _made = SkillDraft.objects.update_or_create(skill_id=skill.pk, defaults=values)
        _record(skill, actor, before, draft)
    return draft


def discard_draft(*, skill: Skill, actor: object, seen: datetime | None) -> None:
    """Forget the draft, and the day it was to take effect on; nothing where there is none.

    `seen` as of `check_draft`. Raises SkillChanged.
    """
    with atomic():
        if draft := check_draft(skill, seen):
            _record(skill, actor, draft, None)
            draft.delete()


def publish(
    *,
    skill: Skill,
    actor: object,
    seen: datetime | None,
    read: Mapping[str, Any] | None = None,
    reason: str = "",
) -> Skill:
    """`save_skill`, with which the draft that was `seen` (`check_draft`) has served.

    Raises ValidationError, SkillChanged.
    """
    with atomic():
        draft = None if skill._state.adding else check_draft(skill, seen)
        saved = save_skill(skill=skill, actor=actor, read=read, reason=reason)
        if draft:
            draft.delete()
    return saved


def due() -> list[SkillDraft]:
    """Drafts whose day has come in the zone of their study."""
    planned = SkillDraft.objects.filter(effective_on__isnull=False)
    rows = planned.select_related("skill__project").order_by("effective_on", "pk")
    return [one for one in rows if _is_due(one, one.skill.project)]


def publish_due(planned: SkillDraft) -> None:
    """Publish a draft whose day has come, in the name of who set the day; as it stands by now.

    What can no longer be published (the dictionary changed, another version came) stays a draft without a
    day, and says why.
    """
    with atomic():
        rows = Skill.objects.select_for_update(of=("self",)).select_related("project")
        skill = rows.filter(pk=planned.skill_id).first()
        draft = SkillDraft.objects.filter(skill=planned.skill_id).first()
        if skill is None or draft is None or not _is_due(draft, skill.project):
            return
        skill.config = draft.config
        read = {"version": draft.base_version}
        told = _("Takes effect on %s as planned.") % draft.effective_on
        try:
            publish(skill=skill, actor=draft.author, seen=draft.saved_at, read=read, reason=told)
        except (SkillChanged, ValidationError) as error:
            texts = error.messages if isinstance(error, ValidationError) else [str(error)]
            _refuse(skill, draft, " ".join(texts))


def _is_due(draft: SkillDraft, project: Project) -> bool:
    return (
        project.status != Project.Status.CLOSED
        and draft.effective_on is not None
        and draft.effective_on <= clock.today(project.timezone)
    )


def _refuse(skill: Skill, draft: SkillDraft, why: str) -> None:
    """Keep a draft that was not published on its day, without the day."""
    SkillDraft.objects.filter(pk=draft.pk).update(effective_on=None, refused=why)
    after = SkillDraft.objects.get(pk=draft.pk)
    _record(skill, draft.author, draft, after, why)


def _record(
    skill: Skill,
    actor: object,
    before: SkillDraft | None,
    after: SkillDraft | None,
    reason: str = "",
) -> None:
    audit.record(
        "skill.draft",
        actor=actor,
        project=skill.project,
        subject=skill,
        old=_summary(before),
        new=_summary(after),
        reason=reason,
    )


def _summary(draft: SkillDraft | None) -> dict[str, Any] | None:
    if draft is None:
        return None
    return {
        "version": draft.base_version,
        "effective_on": draft.effective_on and draft.effective_on.isoformat(),
        "config": draft.config,
    }

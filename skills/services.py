"""Saving skills: validated, versioned, audited, in step with beat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import F
from django.utils.timezone import now
from django.utils.translation import gettext as _

from core.house import cron
from core.house.db import atomic
from projects import audit
from projects.models import Project
from skills import beat, chat
from skills.graph import AE_FORM, EVENTS
from skills.models import FieldMapping, Skill, SkillVersion
from skills.validation import Problem, validate
from study.blinding.mask import unnamed_for_all
from study.dictionary import KnownNames, name_refusal


def check_skill(skill: Skill) -> None:
    """Raise ValidationError with everything that keeps `skill` from being saved."""
    is_chat = chat.is_chat(skill)
    found = chat.problems(skill.config) if is_chat else validate(skill.config, skill.project)
    problems = [problem for problem in found if not problem.is_warning]
    errors: dict[str, Any] = {}
    if problems:
        errors["config"] = [f"{problem.path}: {problem.message}" for problem in problems]
    for field, problem in trigger_problems(skill):
        told = f"{problem.path}: {problem.message}" if problem.path else problem.message
        errors.setdefault(field, []).append(told)
    if errors:
        raise ValidationError(errors)
    skill.full_clean(exclude=["config"])


def trigger_problems(skill: Skill) -> Iterator[tuple[str, Problem]]:
    """(column, problem) of what starts a skill; of one without a study yet names are not looked up."""
    if chat.is_chat(skill) and skill.trigger_type != Skill.Trigger.WEBHOOK:
        yield "trigger_type", Problem("", _("A chat skill has no schedule and no event."))
    if skill.trigger_type == Skill.Trigger.CRON or skill.cron_schedule:
        try:
            cron.parse_cron(skill.cron_schedule or "")
        except ValidationError as error:
            yield from (("cron_schedule", Problem("", one)) for one in error.messages)
    if skill.trigger_type == Skill.Trigger.EVENT:
        yield from (("config", one) for one in _event_problems(skill))


def _event_problems(skill: Skill) -> Iterator[Problem]:
    """What is wrong with the event that starts a skill, and with the form and field it is limited to."""
    config = skill.config if isinstance(skill.config, dict) else {}
    if config.get("event") not in EVENTS:
        told = _("An event skill names its event: %(events)s.") % {"events": ", ".join(EVENTS)}
        yield Problem("event", told)
    if not skill.project_id:
        return
    known = KnownNames.of(skill.project)
    form, field = (str(config.get(key) or "") for key in ("event_form", "event_field"))
    if config.get("event") == "ae_added" and not field:
        form = form or AE_FORM
    names = (("event_form", form, known.forms), ("event_field", field, known.fields))
    for key, name, there in names:
        unnamed = unnamed_for_all(skill.project)
        if why := name_refusal(name, there, unnamed=unnamed):
            yield Problem(key, why)
    if form and known.fields.get(field, form) != form:
        told = _("“%(field)s” is no field of “%(form)s”.") % {"field": field, "form": form}
        yield Problem("event_field", told)


class SkillChanged(Exception):
    """Somebody saved the skill since it was read."""

    def __str__(self) -> str:
        return _("Somebody has changed this workflow meanwhile; please look at it again.")


def save_skill(
    *, skill: Skill, actor: object, read: Mapping[str, Any] | None = None, reason: str = ""
) -> Skill:
    """Store a new or changed skill with a new version. Raises ValidationError, SkillChanged.

    `read`: columns as they stood when the writer read them (`version`, `updated_at`); another writer's change
    is not overwritten. A run that started keeps the version it started with.
    """
    check_skill(skill)
    with atomic():
        if read and not Skill.objects.filter(pk=skill.pk, **read).update(updated_at=now()):
            raise SkillChanged
        before = Skill.objects.filter(pk=skill.pk).first()
        if before:
            _next_version(skill, before)
        skill.save()
        SkillVersion.objects.get_or_create(
            skill=skill,
            version=skill.version,
            defaults={"config": skill.config, "author": audit.actor_name(actor)},
        )
        beat.sync(skill)
        audit.record(
            "skill.change" if before else "skill.create",
            actor=actor,
            project=skill.project,
            subject=skill,
            old=_summary(before) if before else None,
            new=_summary(skill),
            reason=reason,
        )
    return skill


def switch(*, skill: Skill, is_active: bool, actor: object) -> None:
    """Pause a skill, or let it go on. Raises ValidationError where one that is to go on cannot be saved.

    Pausing asks for nothing: what is wrong with a configuration keeps nobody from stopping it.
    """
    if is_active:
        check_skill(skill)
    with atomic():
        if not Skill.objects.filter(pk=skill.pk, is_active=not is_active).update(
            is_active=is_active, updated_at=now()
        ):
            return
        skill.is_active = is_active
        beat.sync(skill)
        audit.record(
            "skill.change",
            actor=actor,
            project=skill.project,
            subject=skill,
            old={"is_active": not is_active},
            new={"is_active": is_active},
        )


def _next_version(skill: Skill, before: Skill) -> None:
    if skill.config == before.config:
        skill.version = before.version
        return
    Skill.objects.filter(pk=skill.pk).update(version=F("version") + 1)
    skill.version = Skill.objects.values_list("version", flat=True).get(pk=skill.pk)


def delete_skill(*, skill: Skill, actor: object) -> None:
    """Remove a skill that never ran. Raises django.db.models.ProtectedError when it did."""
    with atomic():
        audit.record(
            "skill.delete", actor=actor, project=skill.project, subject=skill, old=_summary(skill)
        )
        beat.remove(skill)
        skill.delete()


def _summary(skill: Skill) -> dict[str, Any]:
    return {
        "skill_type": skill.skill_type,
        "name": skill.name,
        "version": skill.version,
        "is_active": skill.is_active,
        "trigger_type": skill.trigger_type,
        "cron_schedule": skill.cron_schedule,
        "config": skill.config,
    }


def pick_qc_skill(project: Project, text: str) -> Skill | None:
    """The QC skill an order means: the one whose `config.match` keywords occur in it, else `qc_process`.

    Source: decisions.md, "several QC forms".
    """
    active = Skill.objects.filter(
        project=project, is_active=True, trigger_type=Skill.Trigger.WEBHOOK
    )
    lowered = text.lower()
    best: tuple[int, Skill] | None = None
    for skill in active.filter(skill_type__startswith="qc_process:").order_by("skill_type"):
        hits = [word for word in skill.config.get("match", []) if word.lower() in lowered]
        length = max(map(len, hits), default=0)
        if length and (best is None or length > best[0]):
            best = (length, skill)
    return best[1] if best else active.filter(skill_type="qc_process").first()


def save_mapping(*, mapping: FieldMapping, actor: object) -> FieldMapping:
    """Store a new or changed field mapping. Raises ValidationError."""
    mapping.full_clean()
    with atomic():
        before = FieldMapping.objects.filter(pk=mapping.pk).first()
        mapping.save()
        audit.record(
            "mapping.change",
            actor=actor,
            project=mapping.project,
            subject=mapping,
            old=before and {"alias": before.alias_name, "field": before.actual_name},
            new={"alias": mapping.alias_name, "field": mapping.actual_name},
        )
    return mapping

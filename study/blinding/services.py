"""Switching blinding on and off, who is unblinded, and breaking the code of one subject; each in the trail."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import ValidationError
from django.dispatch import Signal
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from core.house.db import atomic
from projects import audit
from projects import members as rights
from projects.models import Member, Project
from study.blinding.mask import telling_fields
from study.design import design_of
from study.dictionary import KnownNames, load, name_refusal, stored
from study.metadata import StudyMetadata
from study.models import BlindedField, CodeBreak, Subject, VisitPlanEntry

BY_ARM = gettext_lazy("The visit plan differs by arm: visits and their windows tell it.")


def switch_on(*, project: Project, fields: Sequence[BlindedField], actor: object) -> None:
    """Blind the study: `fields` (not saved) in place of those before.

    What was made before may tell an arm and is hidden from the blinded, so a field or a word more moves
    `blinded_since`. Raises ValidationError with each reason why not; RedcapError without a dictionary.
    """
    _check(project, fields)
    before = [*BlindedField.objects.filter(project=project)]
    with atomic():
        BlindedField.objects.filter(project=project).delete()
        for row in fields:
            row.project = project
        BlindedField.objects.bulk_create(fields)
        if project.blinded_since is None or _told(fields) != _told(before):
            _set(project, now())
            study_blinded.send(sender=Project, project=project)
            # Once more: what the receivers replaced stands in their versions and entries of the trail.
            _set(project, now())
        audit.record(
            "blinding.on",
            actor=actor,
            project=project,
            subject=project,
            old=_told(before),
            new=_told(fields),
        )


def switch_off(*, project: Project, actor: object, reason: str) -> None:
    """Open the study: everybody sees everything of it, what was hidden too. Raises ValidationError."""
    if not reason.strip():
        raise ValidationError(_("Please say why."))
    with atomic():
        _set(project, None)
        audit.record(
            "blinding.off", actor=actor, project=project, subject=project, reason=reason.strip()
        )


def choose_unblinded(
    *, project: Project, unblinded: Collection[str], actor: User | AnonymousUser
) -> None:
    """Let exactly these active members (keys) see what unblinds; each change is an entry of the trail.

    Nobody unblinds themselves: raises ValidationError.
    """
    members = Member.objects.filter(project=project, is_active=True)
    for member in members.select_related("person", "project"):
        wanted = str(member.pk) in unblinded
        if wanted == member.is_unblinded:
            continue
        if why := rights.refusal(actor, member):
            raise ValidationError(why)
        with atomic():
            values: dict[str, Any] = {"is_unblinded": wanted}
            if wanted and member.unblinded_at is None:
                values["unblinded_at"] = now()
            members.filter(pk=member.pk).update(**values)
            audit.record(
                "blinding.member",
                actor=actor,
                project=project,
                subject=member,
                old={"unblinded": member.is_unblinded},
                new={"unblinded": wanted},
            )


def break_code(*, member: Member, record_id: str, reason: str, actor: object) -> CodeBreak:
    """Open one subject to one member, for good; done again it is the same one.

    Raises ValidationError, for a subject that the member may not see as for one that does not exist.
    """
    project = member.project
    if project.blinded_since is None:
        raise ValidationError(_("The study is not blinded."))
    if not reason.strip():
        raise ValidationError(_("Please say why."))
    mine = Subject.objects.for_member(member).filter(is_present=True, record_id=record_id)
    if not mine.exists():
        raise ValidationError(_("There is no such subject."))
    with atomic():
        broken, is_new = CodeBreak.objects.get_or_create(
            project=project, member=member, record_id=record_id, defaults={"reason": reason.strip()}
        )
        audit.record(
            "blinding.break",
            actor=actor,
            project=project,
            subject=broken,
            record_id=record_id,
            new={"for": member.identity},
            reason=reason.strip(),
        )
        if is_new:
            code_broken.send(sender=CodeBreak, broken=broken)
    return broken


def _check(project: Project, fields: Sequence[BlindedField]) -> None:
    if not fields:
        raise ValidationError(_("Please name the fields that unblind."))
    known = KnownNames.of(project)
    errors = [why for row in fields if (why := name_refusal(row.field, known.fields))]
    if not errors:
        metadata = load(project)
        names = telling_fields(metadata, frozenset(row.field for row in fields))
        errors += obstacles(project, metadata, names)
    if errors:
        raise ValidationError(errors)


def _set(project: Project, since: Any) -> None:
    Project.objects.filter(pk=project.pk).update(blinded_since=since)
    project.blinded_since = since


def _told(rows: Sequence[BlindedField]) -> dict[str, Any]:
    return {row.field: {"kind": row.kind, "words": row.words.split("\n")} for row in rows}


def broken_by(project: Project) -> list[str]:
    """Why a blinded study tells its arms by itself: what REDCap, the plan or the settings became since."""
    if project.blinded_since is None or stored(project) is None:
        return []
    metadata = load(project)
    rows = BlindedField.objects.filter(project=project)
    names = telling_fields(metadata, frozenset(rows.values_list("field", flat=True)))
    return [*obstacles(project, metadata, names)]


def obstacles(project: Project, metadata: StudyMetadata, fields: Collection[str]) -> Iterator[str]:
    """Each reason in the reader's language. `fields`: those to be blinded, with what tells them."""
    if len({*metadata.arms.values()}) > 1:
        yield _("REDCap keeps its subjects in several arms: the events of a subject tell its arm.")
    plan = [*VisitPlanEntry.objects.filter(project=project)]
    if any(entry.arm for entry in plan):
        yield str(BY_ARM)
    design = design_of(project)
    used = {
        _("visit plan"): {name for one in plan for name in (one.anchor_field, one.date_field)},
        _("enrolment date"): {design.enrolment_field},
        _("withdrawal date"): {project.withdraw_field},
        _("record id"): {metadata.record_id_field},
    }
    for what, names in used.items():
        for name in sorted(names & set(fields)):
            told = _("“%(field)s” is needed for everybody (%(what)s) and can't be blinded.")
            yield told % {"field": name, "what": what}


code_broken = Signal()
study_blinded = Signal()

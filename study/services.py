"""Writes to the settings of a study: each in the audit trail with what it was before."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeAlias

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from core.house.db import atomic
from projects import services
from projects.models import Project
from study import proposals
from study.blinding.mask import unnamed_for_all
from study.design import age_fields, design_of
from study.dictionary import KnownNames, load, name_refusal, store_date_answers
from study.identity import Answer
from study.models import FieldRole, ReferenceLimit, Synonym

Setting: TypeAlias = FieldRole | ReferenceLimit | Synonym
ACTION = "study.setting"
_FIELDS = ("field", "low_field", "high_field")


def save_setting(*, setting: Setting, actor: object) -> Setting:
    """Store a new or changed setting. Raises ValidationError, with the nearest names for one REDCap lacks."""
    check_setting(setting)
    with atomic():
        services.save(setting, setting.project, actor, ACTION, ACTION)
        if isinstance(setting, FieldRole) and setting.role == FieldRole.Role.BIRTH:
            answers = {setting.field: Answer.BIRTH}
            store_date_answers(project=setting.project, answers=answers, actor=actor)
    return setting


def check_setting(setting: Setting) -> None:
    """Raises ValidationError for a contradiction and for names that the study's REDCap does not know."""
    setting.full_clean()
    known, unnamed = KnownNames.of(setting.project), unnamed_for_all(setting.project)
    is_birth = isinstance(setting, FieldRole) and setting.role == FieldRole.Role.BIRTH
    closed = () if is_birth else known.closed
    errors = {
        name: why
        for name in _FIELDS
        if (why := name_refusal(getattr(setting, name, "") or "", known.fields, closed, unnamed))
    }
    if isinstance(setting, FieldRole) and (
        why := name_refusal(setting.of, _of_what(setting, known), unnamed=unnamed)
    ):
        errors["of"] = why
    if isinstance(setting, FieldRole) and _lacks_codes(setting, known):
        errors.setdefault("field", _("This field has no codes."))
    if isinstance(setting, Synonym):
        field, _equals, _code = setting.meaning.partition("=")
        names = {*known.fields, *known.forms} if known.fields else ()
        if why := name_refusal(field, names, unnamed=unnamed):
            errors["meaning"] = why
    if errors:
        raise ValidationError(errors)


def _of_what(setting: FieldRole, known: KnownNames) -> Collection[str]:
    """What a part may be of: a form, a field, or a code of the field itself."""
    if setting.role == FieldRole.Role.COMPLETED:
        return load(setting.project).choices(setting.field) if known.fields else ()
    return known.forms if setting.role == FieldRole.Role.FORM_DATE else known.fields


def _lacks_codes(setting: FieldRole, known: KnownNames) -> bool:
    is_of_code = setting.role == FieldRole.Role.COMPLETED and bool(known.fields)
    return is_of_code and not load(setting.project).choices(setting.field)


def proposed_settings(project: Project, model: type[Setting]) -> list[Setting]:
    """What the dictionary suggests and nobody has stored. Raises RedcapError, NotConfiguredError."""
    offered = {FieldRole: _roles, ReferenceLimit: _limits}.get(model)
    return offered(project) if offered else []


def _roles(project: Project) -> list[Any]:
    design, metadata = design_of(project), load(project)
    birth, consent = age_fields(project, metadata)
    part = FieldRole.Role
    named = {
        (part.STATUS, ""): design.status_field,
        (part.SEX, ""): design.sex_field,
        (part.BIRTH, ""): birth,
        (part.CONSENT, ""): consent,
        **{(part.FORM_DATE, form): field for form, field in design.form_dates.items()},
        **{(part.UNIT, lab): field for lab, field in design.unit_fields.items()},
        **dict.fromkeys(
            (
                (part.COMPLETED, code)
                for code in sorted(proposals.completed(metadata, design.status_field))
            ),
            design.status_field,
        ),
    }
    stored = set(FieldRole.objects.filter(project=project).values_list("role", "of"))
    return [
        FieldRole(project=project, role=role, of=of, field=field)
        for (role, of), field in named.items()
        if field and (role, of) not in stored
    ]


def _limits(project: Project) -> list[Any]:
    stored = set(ReferenceLimit.objects.filter(project=project).values_list("field", flat=True))
    return [
        ReferenceLimit(
            project=project,
            field=row.field,
            unit=row.unit,
            low=None if isinstance(row.low, str) else row.low,
            high=None if isinstance(row.high, str) else row.high,
            low_field=row.low if isinstance(row.low, str) else "",
            high_field=row.high if isinstance(row.high, str) else "",
        )
        for rows in proposals.ranges(load(project)).values()
        for row in rows
        if row.field not in stored
    ]

"""Form templates: kept with versions, matched by keywords, drafted from the data dictionary (seed 002, 6.1)."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import F
from django.utils.translation import gettext as _

from core.house.db import atomic
from projects import audit
from projects.models import Project
from skills.models import FormTemplate, FormTemplateVersion
from study import dictionary
from study.metadata import StudyMetadata

MOST_WORDS = 40
_VALIDATION = "text_validation_type_or_show_slider_number"
MOST_KEYWORDS = 200
KEPT = ("form_name", "field_schema", "keywords")


@dataclass(frozen=True, slots=True)
class Draft:
    """A form that something knows: its REDCap name, its label, its structure and the words printed on it."""

    form_name: str
    label: str
    field_schema: dict[str, Any]
    keywords: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """A template that a text may be a page of, and which of its keywords stand there."""

    template: FormTemplate
    hits: tuple[str, ...]


def drafts(project: Project, hidden: Collection[str] = ()) -> list[Draft]:
    """What the data dictionary drafts for forms without a template, a form once. Raises as its read does.

    `hidden`: columns that the reader is not told of (`study.blinding.mask.unnamed_for`).
    """
    taken = set(FormTemplate.objects.filter(project=project).values_list("form_name", flat=True))
    found: dict[str, Draft] = {}
    for draft in _of_dictionary(project, hidden):
        if draft.form_name not in taken:
            found.setdefault(draft.form_name, draft)
    return list(found.values())


def _of_dictionary(project: Project, hidden: Collection[str]) -> Iterator[Draft]:
    """A draft a form. Raises RedcapError, NotConfiguredError where no dictionary was ever read."""
    metadata = dictionary.load(project)
    for row in metadata.instruments:
        form = str(row["instrument_name"])
        of_form = (name for name, one in metadata.fields.items() if one["form_name"] == form)
        fields = [name for name in of_form if name not in hidden]
        if fields:
            label = str(row["instrument_label"])
            words = dict.fromkeys([label, *(metadata.label(name) for name in fields)])
            told = tuple(word for word in words if len(word.strip()) > 1)[:MOST_WORDS]
            yield Draft(form, label, {name: _field(metadata, name) for name in fields}, told)


def _field(metadata: StudyMetadata, name: str) -> dict[str, Any]:
    row = metadata.fields[name]
    told = {
        "label": metadata.label(name),
        "type": str(row["field_type"]),
        "validation": str(row.get(_VALIDATION) or ""),
        "choices": dict(metadata.choices(name) or {}),
        "required": str(row.get("required_field") or "") == "y",
    }
    return {key: value for key, value in told.items() if value}


def matching_templates(project: Project, text: str) -> list[Match]:
    """The templates whose keywords stand in `text`, the one with most of them first.

    Width, case and spaces do not count. Of equal ones the one with the longer words comes first.
    """
    page = _folded(text)
    rows = (
        Match(one, tuple(word for word in one.keywords if _folded(word) in page))
        for one in FormTemplate.objects.filter(project=project).order_by("form_name", "pk")
    )
    found = [row for row in rows if row.hits]
    return sorted(found, key=lambda row: (-len(row.hits), -sum(map(len, row.hits))))


def _folded(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def changed() -> ValidationError:
    """What is said where somebody else wrote a version meanwhile."""
    return ValidationError(_("This has changed meanwhile; please look again."))


def save_template(
    *, template: FormTemplate, actor: object, base_version: int | None = None
) -> FormTemplate:
    """Store a new or changed form template as its next version. Raises ValidationError.

    `base_version`: the one that its writer read; another writer's is not overwritten.
    """
    template.full_clean(exclude=["field_schema"])
    check_template(template)
    with atomic():
        before = FormTemplate.objects.filter(pk=template.pk).first()
        if before and base_version not in (None, before.version):
            raise changed()
        if before:
            _next_version(template, before)
        template.save()
        _keep(template, actor)
        audit.record(
            "template.change",
            actor=actor,
            project=template.project,
            subject=template,
            old=structure(before) if before else None,
            new=structure(template),
        )
    return template


def _next_version(template: FormTemplate, before: FormTemplate) -> None:
    if all(getattr(template, name) == getattr(before, name) for name in KEPT):
        template.version = before.version
        return
    there = FormTemplate.objects.filter(pk=template.pk, version=before.version)
    if there.update(version=F("version") + 1) != 1:
        raise changed()
    template.version = FormTemplate.objects.values_list("version", flat=True).get(pk=template.pk)


def _keep(template: FormTemplate, actor: object) -> None:
    content = {name: getattr(template, name) for name in KEPT}
    FormTemplateVersion.objects.get_or_create(
        template=template,
        version=template.version,
        defaults=content | {"author": audit.actor_name(actor)},
    )


def restore_version(
    *, version: FormTemplateVersion, actor: object, base_version: int
) -> FormTemplate:
    """An older version again, as a new one on top of `base_version`. Raises ValidationError."""
    template = version.template
    for name in KEPT:
        setattr(template, name, getattr(version, name))
    return save_template(template=template, actor=actor, base_version=base_version)


def delete_template(*, template: FormTemplate, actor: object) -> None:
    """Remove a template with its versions."""
    with atomic():
        audit.record(
            "template.change",
            actor=actor,
            project=template.project,
            subject=template,
            old=structure(template),
        )
        template.delete()


def check_template(template: FormTemplate) -> None:
    """Raises ValidationError unless the structure is an object and each keyword says something."""
    if not isinstance(template.field_schema, dict):
        raise ValidationError({"field_schema": _("This must be a JSON object.")})
    words = template.keywords
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ValidationError({"keywords": _("This must be a list of texts.")})
    if any(not _folded(word) for word in words):
        raise ValidationError(
            {"keywords": _("A keyword cannot be blank: it would match every page.")}
        )
    if len(words) > MOST_KEYWORDS:
        raise ValidationError({"keywords": _("At most %d keywords are kept.") % MOST_KEYWORDS})


def structure(template: FormTemplate) -> dict[str, Any]:
    """For the audit trail."""
    return {
        "form": template.form_name,
        "fields": template.field_schema,
        "keywords": template.keywords,
    }

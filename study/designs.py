"""A study's design as stored: dictionary, plan, settings of the console, proposals where nothing was said."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from house.asked_once import once
from privacy.identifying_fields import identifies, is_gene
from projects.models import Project
from rules.context import StudyContext
from study import proposals, registry
from study.caches import cache_by_dictionary
from study.design import ReferenceRange, StudyDesign
from study.dictionary import load
from study.metadata import StudyMetadata
from study.models import FieldRole, ReferenceLimit, Synonym
from study.visits.window import plan_of


def design_of(project: Project, blinded: Collection[str] = ()) -> StudyDesign:
    """What a query of one reader needs to know. Raises RedcapError or NotConfiguredError before the first read.

    `blinded`: fields that unblind, where the reader must not learn of them.
    """
    key = ("design", project.pk, frozenset(blinded))
    return once(key, lambda: _design_of(project, blinded))


def _design_of(project: Project, blinded: Collection[str]) -> StudyDesign:
    metadata = load(project)
    roles, proposed = _roles(project), _proposed(metadata)
    return StudyDesign(
        metadata=metadata,
        context=_context(metadata, project.timezone, project.anchor_is_day),
        plan=plan_of(project),
        start=project.start_date,
        target=project.target_enrolment,
        enrolment_field=project.enrolment_field,
        status_field=roles.get((FieldRole.Role.STATUS, "")) or proposed.status,
        sex_field=roles.get((FieldRole.Role.SEX, "")) or proposed.sex,
        unscheduled_field=roles.get((FieldRole.Role.UNSCHEDULED, "")) or "",
        mapped=registry.aliases(project),
        synonyms=dict(Synonym.objects.filter(project=project).values_list("word", "meaning")),
        form_dates=dict(proposed.form_dates) | _of(roles, FieldRole.Role.FORM_DATE),
        unit_fields=dict(proposed.unit_fields) | _of(roles, FieldRole.Role.UNIT),
        ranges=dict(proposed.ranges) | _ranges(project),
        hidden=proposed.identifying | frozenset(blinded),
    )


def identifying(metadata: StudyMetadata) -> frozenset[str]:
    """Fields that identify a person, marked so or named so; the record id only names a subject."""
    return _proposed(metadata).identifying


def genes(metadata: StudyMetadata) -> frozenset[str]:
    """Fields of genes: nothing the assistant says tells them (redcap_dify.md 5.2)."""
    return frozenset(n for n in metadata.fields if is_gene(n, metadata.label(n)))


def age_fields(project: Project, metadata: StudyMetadata) -> tuple[str, str]:
    """The dates of birth and of consent, that `@age` is worked out from; "" where there is none."""
    roles, proposed = _roles(project), _proposed(metadata)
    birth = roles.get((FieldRole.Role.BIRTH, "")) or proposed.birth
    return birth, roles.get((FieldRole.Role.CONSENT, "")) or proposed.consent


def _roles(project: Project) -> dict[tuple[str, str], str]:
    rows = FieldRole.objects.filter(project=project)
    return {(row.role, row.of): row.field for row in rows}


def _of(roles: Mapping[tuple[str, str], str], role: str) -> dict[str, str]:
    return {of: field for (known, of), field in roles.items() if known == role}


def _ranges(project: Project) -> dict[str, tuple[ReferenceRange, ...]]:
    found: defaultdict[str, list[ReferenceRange]] = defaultdict(list)
    for row in ReferenceLimit.objects.filter(project=project):
        low, high = row.low_field or row.low, row.high_field or row.high
        found[row.field].append(ReferenceRange(row.field, row.unit, row.sex, low, high))
    return {field: tuple(rows) for field, rows in found.items()}


@dataclass(frozen=True)
class _Proposed:
    """All that follows from a dictionary alone, worked out once for each content of it."""

    status: str
    sex: str
    birth: str
    consent: str
    form_dates: Mapping[str, str]
    unit_fields: Mapping[str, str]
    ranges: Mapping[str, tuple[ReferenceRange, ...]]
    identifying: frozenset[str]


@cache_by_dictionary
def _proposed(metadata: StudyMetadata) -> _Proposed:
    named = {name for name in metadata.fields if identifies(name, metadata.label(name))}
    return _Proposed(
        proposals.status_field(metadata),
        proposals.sex_field(metadata),
        proposals.birth_field(metadata),
        proposals.consent_field(metadata),
        proposals.form_dates(metadata),
        proposals.unit_fields(metadata),
        proposals.ranges(metadata),
        (metadata.identifier_fields | named) - {metadata.record_id_field},
    )


@cache_by_dictionary
def _context(metadata: StudyMetadata, zone: str, anchor_is_day: int) -> StudyContext:
    project = {
        "missing_data_codes": metadata.project.get("missing_data_codes"),
        "timezone": zone,
        "form_event_mapping": metadata.mapping,
        "repeating": metadata.repeating,
        "anchors": {"anchor_is_day": anchor_is_day},
    }
    return StudyContext.build(metadata.metadata, project)

"""What a query needs to know of a study besides its data; immutable, made once from the stored settings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import TypeVar, cast
from uuid import UUID

from django.utils.functional import SimpleLazyObject

from core.house.request_cache import once, once_each
from core.privacy.identifying_fields import is_gene
from core.rules.context import StudyContext
from projects.models import Project
from study import proposals, registry
from study.dictionary import load
from study.metadata import StudyMetadata, cache_by_dictionary
from study.models import FieldRole, ReferenceLimit, Synonym
from study.proposals import ReferenceRange
from study.visits.calendar import VisitPlanSpec
from study.visits.window import field_roles, plan_of

T = TypeVar("T")


@dataclass(frozen=True)
class StudyDesign:
    """Dictionary, visit plan and the settings of a study's console pages.

    `mapped`: alias -> field (iit_field_mapping). `synonyms`: the study's own word -> field, form or
    `field=code`. `form_dates`: form -> its date field; `unit_fields`: lab field -> the field that holds its
    unit; `hidden`: fields that the reader must not learn of (identifiers and what is blinded for them).
    `age_fields`: what the age is worked out from. `serious_set`: what the settings of serious events say, as
    `serious`; `completed_set`: the same of who completed the study, as `completed`.
    """

    metadata: StudyMetadata
    context: StudyContext
    plan: VisitPlanSpec
    start: date
    target: int
    enrolment_field: str
    status_field: str = ""
    sex_field: str = ""
    age_fields: tuple[str, ...] = ()
    unscheduled_field: str = ""
    mapped: Mapping[str, str] = field(default_factory=dict)
    synonyms: Mapping[str, str] = field(default_factory=dict)
    form_dates: Mapping[str, str] = field(default_factory=dict)
    unit_fields: Mapping[str, str] = field(default_factory=dict)
    ranges: Mapping[str, tuple[ReferenceRange, ...]] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()
    serious_set: tuple[str, str] = ("", "")
    completed_set: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @cached_property
    def serious(self) -> tuple[str, str]:
        """The field that says whether an event is serious, and its code for it; "" where that is not known.

        As it was set, else as the labels say. A code that the field has no more says nothing.
        """
        is_set = bool(self.serious_set[0])
        field, code = self.serious_set if is_set else proposals.serious_field(self.metadata)
        known = self.metadata.choices(field)
        return (field, code) if code and (not known or code in known) else ("", "")

    @cached_property
    def completed(self) -> Mapping[str, frozenset[str]]:
        """Field -> its codes that say that a subject completed the study: as set, else as the labels say.

        A code that the field has no more says nothing.
        """
        proposed = {self.status_field: proposals.completed(self.metadata, self.status_field)}
        kept = {
            name: codes.intersection(self.metadata.choices(name))
            for name, codes in (self.completed_set or proposed).items()
        }
        return {name: codes for name, codes in kept.items() if codes}

    @cached_property
    def event_order(self) -> Mapping[str, int]:
        """Unique event name -> its place in the order of the study; a classic project has ""."""
        return {name: number for number, name in enumerate(self.metadata.arms or [""])}

    @cached_property
    def repeating_forms(self) -> frozenset[str]:
        """Forms that repeat as such (not events that repeat as a whole)."""
        return frozenset(form for _event, form in self.context.repeating)

    @cached_property
    def shown_forms(self) -> tuple[str, ...]:
        """The forms of which the reader may know something, in the order of the study."""
        shown = {self.form_of(name) for name in self.metadata.fields.keys() - self.hidden}
        forms = (str(row["instrument_name"]) for row in self.metadata.instruments)
        return tuple(form for form in forms if form in shown)

    @cached_property
    def measured(self) -> tuple[str, ...]:
        """The reader's fields that hold a measurement: a number that is typed in, or one with limits.

        Limits of other fields are no measurements; neither is what is not a column of the export.
        """
        shown = self.context.columns.keys() - self.hidden
        ends = {
            end for name in self.ranges for one in self.ranges[name] for end in (one.low, one.high)
        }
        return tuple(
            name
            for name, row in self.metadata.fields.items()
            if name in shown
            and name not in ends
            and (name in self.ranges or proposals.is_typed_number(row))
        )

    def form_of(self, name: str) -> str:
        """The form of a field; "" for none."""
        return self.metadata.form_of(name)


def design_of(project: Project, blinded: Collection[str] = ()) -> StudyDesign:
    """What a query of one reader needs to know. Raises RedcapError or NotConfiguredError before the first read.

    `blinded`: fields that unblind, where the reader must not learn of them.
    """
    key = ("design", project.pk, frozenset(blinded))
    return once(key, lambda: _design_of(project, blinded))


def _design_of(project: Project, blinded: Collection[str]) -> StudyDesign:
    metadata = load(project)
    roles, closed = field_roles(project), identifying(metadata)
    return StudyDesign(
        metadata=metadata,
        context=context_of(metadata, project.timezone, project.anchor_is_day),
        plan=plan_of(project),
        start=project.start_date,
        target=project.target_enrolment,
        enrolment_field=project.enrolment_field,
        status_field=roles.get((FieldRole.Role.STATUS, "")) or proposals.status_field(metadata),
        age_fields=age_fields(project, metadata),
        sex_field=roles.get((FieldRole.Role.SEX, "")) or proposals.sex_field(metadata),
        unscheduled_field=roles.get((FieldRole.Role.UNSCHEDULED, "")) or "",
        mapped=registry.aliases(project),
        synonyms=_later(lambda: _synonyms(project)),
        form_dates=dict(proposals.form_dates(metadata))
        | {
            form: field
            for form, field in _fields_of_role(roles, FieldRole.Role.FORM_DATE).items()
            if field not in closed
        },
        unit_fields=dict(proposals.unit_fields(metadata))
        | _fields_of_role(roles, FieldRole.Role.UNIT),
        ranges=dict(proposals.ranges(metadata)) | _ranges(project),
        hidden=closed | frozenset(blinded),
        serious_set=_later(lambda: registry.serious(project)),
        completed_set=_completed(roles),
    )


def _later(read: Callable[[], T]) -> T:
    """What is read where somebody asks for it: most pages do not."""
    return cast("T", SimpleLazyObject(read))


def _synonyms(project: Project) -> dict[str, str]:
    return dict(Synonym.objects.filter(project=project).values_list("word", "meaning"))


def identifying(metadata: StudyMetadata) -> frozenset[str]:
    """Fields that identify a person (study.identity); the record id only names a subject."""
    return metadata.identifier_fields - {metadata.record_id_field}


def genes(metadata: StudyMetadata) -> frozenset[str]:
    """Fields of genes: nothing the assistant says tells them (redcap_dify.md 5.2)."""
    return frozenset(n for n in metadata.fields if is_gene(n, metadata.label(n)))


def age_fields(project: Project, metadata: StudyMetadata) -> tuple[str, str]:
    """The dates of birth and of consent, that `@age` is worked out from; "" where there is none."""
    roles = field_roles(project)
    birth = roles.get((FieldRole.Role.BIRTH, "")) or proposals.birth_field(metadata)
    return birth, roles.get((FieldRole.Role.CONSENT, "")) or proposals.consent_field(metadata)


def _fields_of_role(roles: Mapping[tuple[str, str], str], role: str) -> dict[str, str]:
    return {of: field for (known, of), field in roles.items() if known == role}


def _completed(roles: Mapping[tuple[str, str], str]) -> dict[str, frozenset[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for code, name in _fields_of_role(roles, FieldRole.Role.COMPLETED).items():
        found[name].add(code)
    return {name: frozenset(codes) for name, codes in found.items()}


def _limits(keys: Collection[UUID]) -> dict[UUID, list[ReferenceLimit]]:
    found: dict[UUID, list[ReferenceLimit]] = {key: [] for key in keys}
    for row in ReferenceLimit.objects.filter(project__in=keys):
        found[row.project_id].append(row)
    return found


def _ranges(project: Project) -> dict[str, tuple[ReferenceRange, ...]]:
    found: defaultdict[str, list[ReferenceRange]] = defaultdict(list)
    for row in once_each("reference limits", project.pk, _limits):
        low, high = row.low_field or row.low, row.high_field or row.high
        found[row.field].append(ReferenceRange(row.field, row.unit, row.sex, low, high))
    return {field: tuple(rows) for field, rows in found.items()}


@cache_by_dictionary
def context_of(metadata: StudyMetadata, zone: str, anchor_is_day: int) -> StudyContext:
    """The rule engine's view of a dictionary (contracts.md, check_rules, "Project file")."""
    project = {
        "missing_data_codes": metadata.project.get("missing_data_codes"),
        "timezone": zone,
        "events": metadata.events,
        "form_event_mapping": metadata.mapping,
        "repeating": metadata.repeating,
        "anchors": {"anchor_is_day": anchor_is_day},
    }
    return StudyContext.build(metadata.metadata, project)

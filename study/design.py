"""What a query needs to know of a study besides its data; immutable, made once from the stored settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import cached_property

from rules.context import StudyContext
from study.metadata import StudyMetadata
from study.visits.plan import VisitPlanSpec


@dataclass(frozen=True, slots=True)
class ReferenceRange:
    """Limits of a lab field; `sex`: a choice code, "" for both; a limit: a number or a field that holds it."""

    field: str
    unit: str = ""
    sex: str = ""
    low: Decimal | str | None = None
    high: Decimal | str | None = None


@dataclass(frozen=True)
class StudyDesign:
    """Dictionary, visit plan and the settings of a study's console pages.

    `mapped`: alias -> field (iit_field_mapping). `synonyms`: the study's own word -> field, form or
    `field=code`. `form_dates`: form -> its date field; `unit_fields`: lab field -> the field that holds its
    unit; `hidden`: fields that the reader must not learn of (identifiers and what is blinded for them).
    """

    metadata: StudyMetadata
    context: StudyContext
    plan: VisitPlanSpec
    start: date
    target: int
    enrolment_field: str
    status_field: str = ""
    sex_field: str = ""
    unscheduled_field: str = ""
    mapped: Mapping[str, str] = field(default_factory=dict)
    synonyms: Mapping[str, str] = field(default_factory=dict)
    form_dates: Mapping[str, str] = field(default_factory=dict)
    unit_fields: Mapping[str, str] = field(default_factory=dict)
    ranges: Mapping[str, tuple[ReferenceRange, ...]] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()

    @cached_property
    def event_order(self) -> Mapping[str, int]:
        """Unique event name -> its place in the order of the study; a classic project has ""."""
        names = [str(row["unique_event_name"]) for row in self.metadata.events]
        return {name: number for number, name in enumerate(names or [""])}

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

    def form_of(self, name: str) -> str:
        """The form of a field; "" for none."""
        row = self.metadata.fields.get(name)
        return str(row["form_name"]) if row else name.removesuffix("_complete")

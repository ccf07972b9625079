"""Where a subject of a study stands in its visit plan: the plan and the values from our tables
and REDCap, the arithmetic from study.visits.calendar.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import date
from uuid import UUID
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from core.house import clock
from core.house.request_cache import once_each
from core.integrations.redcap import Row
from core.privacy.veiled_words import MARK
from core.rules.values import Reason
from projects.models import Project
from study import dictionary
from study.dates import Reading, read_date
from study.models import FieldRole, VisitPlanEntry
from study.records import RecordData
from study.visits.calendar import VisitPlanSpec, VisitSpec, VisitState, states_of


def plan_of(project: Project) -> VisitPlanSpec:
    """The study's stored plan. Raises pydantic.ValidationError for a plan nobody could follow."""
    entries = once_each("visit plan", project.pk, _entries)
    has_arms = any(entry.arm for entry in entries)
    roles, stored = field_roles(project), dictionary.stored(project)
    metadata = dictionary.parsed(project.pk, stored.digest) if stored else None
    return VisitPlanSpec(
        timezone=project.timezone,
        anchor_is_day=project.anchor_is_day,
        withdraw_field=project.withdraw_field or None,
        arm_field=(has_arms and roles.get((FieldRole.Role.ARM, ""))) or None,
        arms=metadata.arms if metadata and has_arms else {},
        is_blinded=project.blinded_since is not None,
        missing_codes=frozenset(metadata.missing_codes if metadata else ()),
        visits=[VisitSpec.model_validate(entry, from_attributes=True) for entry in entries],
    )


def _entries(keys: Collection[UUID]) -> dict[UUID, list[VisitPlanEntry]]:
    found: dict[UUID, list[VisitPlanEntry]] = {key: [] for key in keys}
    for row in VisitPlanEntry.objects.filter(project__in=keys):
        found[row.project_id].append(row)
    return found


def field_roles(project: Project) -> Mapping[tuple[str, str], str]:
    """(role, of what) -> the field that was named for it in the console."""

    def read(keys: Collection[UUID]) -> dict[UUID, dict[tuple[str, str], str]]:
        found: dict[UUID, dict[tuple[str, str], str]] = {key: {} for key in keys}
        for row in FieldRole.objects.filter(project__in=keys).order_by("of", "field"):
            found[row.project_id][row.role, row.of] = row.field
        return found

    return once_each("field roles", project.pk, read)


def visit_states(
    project: Project,
    record: RecordData,
    today: date | None = None,
    plan: VisitPlanSpec | None = None,
) -> list[VisitState]:
    """The states of the visits that are planned for this subject's arm.

    `today` defaults to now in the study's time zone; `plan` spares the look-up for many subjects.
    A date or an arm that the token may not see is a reason for unknown, never a blank.
    """
    plan = plan or plan_of(project)
    today = today or clock.today(plan.timezone)
    return [state for _visit, state in planned_states(plan, record, today)]


def planned_states(
    plan: VisitPlanSpec, record: RecordData, today: date
) -> list[tuple[VisitSpec, VisitState]]:
    """As `visit_states`, each with the visit of the plan that it is the state of."""
    reader = _Reader(record, plan)
    visits = reader.own(plan)
    states = states_of(visits, plan, reader.read, today, reader.doubt)
    return [*zip(visits, states, strict=True)]


class _Reader:
    """Dates of one subject by field, across its rows."""

    def __init__(self, record: RecordData, plan: VisitPlanSpec) -> None:
        self._record = record
        self._missing_codes = plan.missing_codes
        self._is_blinded = plan.is_blinded
        self._zone = ZoneInfo(plan.timezone)
        self._read: dict[tuple[str, str], Reading] = {}
        self._numbers = frozenset(f"arm_{number}" for number in plan.arms.values())
        self.arms = _names_of_arms(record.rows, plan)
        self._no_arm = self._doubted_arm(plan)
        self._open = {v.visit for v in plan.visits if self._no_arm and self._is_by_field(v)}

    def read(self, name: str, event: str = "") -> Reading:
        """The one date `name` holds (in `event`); several different ones are a problem."""
        known = self._read.get((name, event))
        if known is None:
            known = self._read[name, event] = self._found(name, event)
        return known

    def _found(self, name: str, event: str) -> Reading:
        if not name:
            return Reading()
        if name in self._record.missing_columns:
            problem = _("%(field)s is not exported by REDCap") % {"field": name}
            return Reading(problem=problem, reason=Reason.NOT_EXPORTED)
        rows = [row for row in self._record.rows if not event or row.get(_EVENT) == event]
        values = [row[name] for row in rows if name in row]
        if rows and not values:
            return self._not_there(name)
        found = {text for value in values if (text := str(value).strip())}
        if any(MARK in text for text in found):
            return _not_shown()
        if len(found) > 1:
            return Reading(problem=_("%(field)s holds several dates") % {"field": name})
        text = found.pop() if found else ""
        if text in self._missing_codes:
            problem = _("%(field)s is missing: %(code)s") % {"field": name, "code": text}
            return Reading(problem=problem, reason=Reason.MISSING_CODE)
        return read_date(name, text, self._zone)

    def _not_there(self, name: str) -> Reading:
        """Of a field without a column: in a blinded study it may be one that nobody must name."""
        if self._is_blinded:
            return _not_shown()
        problem = _("REDCap has no field %(field)s") % {"field": name}
        return Reading(problem=problem, reason=Reason.NOT_EXPORTED)

    def own(self, plan: VisitPlanSpec) -> list[VisitSpec]:
        """The visits planned for the subject's arm; what is planned for all gives way to the arm's own.

        Where nobody can tell the arm, a visit that it decides is there once, at no event and of no arm.
        """
        of_arm = {visit.visit for visit in plan.visits if visit.arm in self.arms}
        first = {visit.visit: visit for visit in reversed(plan.visits)}
        own = []
        for visit in plan.visits:
            if visit.visit in self._open:
                if visit is first[visit.visit]:
                    own.append(visit.model_copy(update={"event": "", "arm": ""}))
            elif visit.arm in self.arms if visit.arm else visit.visit not in of_arm:
                own.append(visit)
        return own

    def doubt(self, visit: VisitSpec) -> Reading | None:
        """That nobody can tell whether a visit is planned for the subject's arm; None where that is decided."""
        return self._no_arm if visit.visit in self._open else None

    def _is_by_field(self, visit: VisitSpec) -> bool:
        """Whether the arm field decides for whom the visit is planned, and not the event's arm in REDCap."""
        return bool(visit.arm) and visit.arm not in self._numbers

    def _doubted_arm(self, plan: VisitPlanSpec) -> Reading | None:
        """Why the arm field tells nothing; None where it does, or is blank. No text tells what it holds."""
        rows, field = self._record.rows, plan.arm_field
        if not field or not rows:
            return None
        values = {str(row[field]).strip() for row in rows if field in row} - {""}
        if field in self._record.missing_columns or not any(field in row for row in rows):
            problem = _("the arm is not exported by REDCap")
            return Reading(problem=problem, reason=Reason.NOT_EXPORTED)
        if values and values <= plan.missing_codes:
            return Reading(problem=_("the arm is not known"), reason=Reason.MISSING_CODE)
        return None


def _not_shown() -> Reading:
    """Of a date that is masked, or of a field that may be hidden."""
    return Reading(problem=_("a date of the plan is not shown"), reason=Reason.NOT_EXPORTED)


_EVENT = "redcap_event_name"


def _names_of_arms(rows: Iterable[Row], plan: VisitPlanSpec) -> set[str]:
    """Names a plan may give to this subject's arm: "arm_1" and "1" for events of REDCap's arm 1.

    Where a field says the arm, a bare code is the field's.
    """
    field = plan.arm_field
    numbers = {plan.arms.get(str(row.get(_EVENT, "")), "") for row in rows} - {""}
    codes = {str(row.get(field, "")).strip() for row in rows} - {""} if field else numbers
    return codes | {f"arm_{number}" for number in numbers}

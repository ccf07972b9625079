"""The one door to a study's data: scoped to the reader, blinded, three-valued (design.md 5a.2).

Questions about few subjects are read live, and what was read is kept; questions about many are answered
from readings not older than the project's `fresh_minutes`, about an earlier time from their versions. In an
outage the stored readings answer, with the time they were read.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.core.cache import cache
from django.utils.timezone import now
from django.utils.translation import gettext as _

from core.house import clock
from core.integrations.redcap import RedcapError
from projects.models import Member, Project
from projects.scoping import User
from study import readings, registry, sync, versions
from study.blinding import mask
from study.client import NotConfiguredError
from study.design import StudyDesign, design_of
from study.facts import Answer
from study.identifier_filter import IdentifierFilter
from study.metadata import StudyMetadata
from study.models import ReadingState, Subject
from study.query.errors import QueryError
from study.query.run import Asked
from study.query.schema import StudyQuery, parse_query
from study.records import EmptyRosterError, RecordData, noting_failure, read_records, visible_to

logger = logging.getLogger(__name__)

Questions = Sequence[Mapping[str, object] | StudyQuery]

LIVE = 3
"""Up to so many named subjects are read live."""
PAUSE_S = 15
"""While one process reads what has changed, others answer from what is stored for this long."""


def ask_one(
    project: Project,
    member: Member | None,
    question: Mapping[str, object] | StudyQuery,
    *,
    blinded: Collection[str] = (),
) -> Answer:
    """Answer a StudyQuery as `member` may see it; None: the house itself (rules, jobs), unscoped.

    `blinded`: fields that the reader must not learn of, besides those of a blinded study. Raises
    study.query.schema.QueryError for a query that can't be asked; RedcapError or
    NotConfiguredError where nothing was ever read.
    """
    return ask_all(project, member, [question], blinded=blinded)[0]


def ask_all(
    project: Project,
    member: Member | None,
    questions: Questions | Callable[[StudyDesign], Questions],
    *,
    blinded: Collection[str] = (),
    fresh: bool = True,
    user: User | None = None,
) -> list[Answer]:
    """Answer several queries from one read of the subjects that they name, as `ask` does.

    `fresh`: REDCap is asked where the readings are too old, else they are taken as they are.
    `user`: of the console, who is blinded without a membership, too.

    `questions` may be made of what the reader can know of the study: its design without what is hidden.
    """
    hidden = _mask(project, member, user)
    design = design_of(project, hidden.fields.union(blinded))
    given = questions(design) if callable(questions) else questions
    queries = [one if isinstance(one, StudyQuery) else parse_query(one) for one in given]
    named = {subject for query in queries for subject in query.subjects or ()}
    read: dict[tuple[bool, datetime | None], list[RecordData]] = {}
    asked: dict[tuple[frozenset[str] | None, datetime | None], Asked] = {}
    answers = []
    for query in queries:
        own = None if query.subjects is None else frozenset(query.subjects)
        at = versions.time_of(project, query.as_of)
        if (own is None, at) not in read:
            wanted = None if own is None else sorted(named)
            found = _records(project, member, design.metadata, wanted, at, fresh=fresh)
            # Made anew: the numbers to be masked in texts are known when the subjects were read.
            own_mask = _mask(project, member, user)
            read[own is None, at] = [own_mask.record(data) for data in found]
        if (own, at) not in asked:
            records = [d for d in read[own is None, at] if own is None or d.record_id in own]
            opened = own is not None and not hidden.hidden(own) and bool(hidden.fields)
            told = design_of(project, blinded) if opened else design
            zone = ZoneInfo(project.timezone)
            today = at.astimezone(zone).date() if at else clock.today(project.timezone)
            work = _work(project, member, user, told, hidden, at)
            asked[own, at] = Asked(told, records, today=today, work=work)
        answers.append(asked[own, at].answer(query))
    return answers


def records_for(
    project: Project, member: Member, metadata: StudyMetadata, record_ids: Sequence[str]
) -> list[RecordData]:
    """The subjects a question is about, without what is not the reader's; an unknown one is not there."""
    own_mask = mask.mask_of_member(project, member)
    return [own_mask.record(data) for data in _records(project, member, metadata, record_ids)]


def _mask(project: Project, member: Member | None, user: User | None) -> mask.Mask:
    return mask.mask_of_user(project, user) if user else mask.mask_of_member(project, member)


def _records(
    project: Project,
    member: Member | None,
    metadata: StudyMetadata,
    record_ids: Sequence[str] | None,
    at: datetime | None = None,
    *,
    fresh: bool = True,
) -> list[RecordData]:
    """The subjects of the reader as they were known `at` a time, None: as they are now."""
    if member is not None and not member.is_active:
        return []
    if at is not None:
        return versions.records_at(project, metadata, member, record_ids, at)
    if fresh and record_ids is not None and len(record_ids) <= LIVE:
        live = _live(project, member, metadata, record_ids)
        if live is not None:
            return live
    elif fresh:
        ensure_fresh(project)
    return readings.of_members(project, metadata, member, record_ids)


def ensure_fresh(project: Project) -> bool:
    """Read what has changed where the readings are older than the project allows; True when they are fresh.

    Raises RedcapError or NotConfiguredError where there are none.
    """
    read_at = _read_at(project)
    if read_at and now() - read_at <= timedelta(minutes=project.fresh_minutes):
        return True
    if read_at is None:
        # Where another process reads all of it just now, this one cannot wait for it.
        return sync.sweep(project) or bool(readings.read_all(project))
    if not cache.add(f"readings:{project.pk}", 1, PAUSE_S):
        return False
    try:
        return sync.poll(project)
    except (RedcapError, NotConfiguredError) as error:
        logger.warning("The readings of %s stay as they were: %s", project.code, error)
        return False


def _read_at(project: Project) -> datetime | None:
    states = ReadingState.objects.filter(project=project)
    return states.values_list("read_at", flat=True).first()


def _live(
    project: Project, member: Member | None, metadata: StudyMetadata, record_ids: Sequence[str]
) -> list[RecordData] | None:
    """The subjects as REDCap has them now; None in an outage where stored readings can answer."""
    try:
        with noting_failure(project):
            read = read_records(project=project, record_ids=record_ids)
            known = Subject.objects.filter(project=project, record_id__in=record_ids)
            if not read and known.filter(is_present=True).exists():
                # That they are gone is for the sync to find out.
                raise EmptyRosterError(200, "no record", "record")
    except (RedcapError, NotConfiguredError):
        if _read_at(project) is None:
            raise
        return None
    read = visible_to(read, member) if member else read
    readings.keep_readings(project, read)
    return [*map(IdentifierFilter(project, metadata).record, read)]


def _work(
    project: Project,
    member: Member | None,
    user: User | None,
    design: StudyDesign,
    hidden: mask.Mask,
    at: datetime | None,
) -> Callable[[str], registry.Rows]:
    def rows(kind: str) -> registry.Rows:
        if kind == "changes":
            return versions.change_rows(project, design, hidden, at)
        if at is not None:
            told = _("How “%(name)s” stood at an earlier time cannot be asked.")
            raise QueryError("as_of", told % {"name": f"@{kind}"})
        return registry.work_rows(kind, project, member, user)

    return rows

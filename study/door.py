"""The one door to a study's data: scoped to the reader, blinded, three-valued (design.md 5a.2).

Questions about few subjects are read live, and what was read is kept; questions about many are answered
from readings not older than the project's `fresh_minutes`. In an outage the stored readings answer, with the
time they were read.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from django.core.cache import cache
from django.utils.timezone import now

from house import clock
from integrations.redcap import RedcapError
from projects.models import Member, Project
from study import readings, registry, sync
from study.blinding import veil
from study.client import NotConfiguredError
from study.design import StudyDesign
from study.designs import design_of
from study.facts import Answer
from study.metadata import StudyMetadata
from study.models import ReadingState
from study.query.run import Asked
from study.query.schema import StudyQuery, parse
from study.records import RecordData, read_records
from study.stripping import Stripper

logger = logging.getLogger(__name__)

Questions = Sequence[Mapping[str, object] | StudyQuery]

LIVE = 3
"""Up to so many named subjects are read live."""
PAUSE_S = 15
"""While one process reads what has changed, others answer from what is stored for this long."""


def ask(
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
) -> list[Answer]:
    """Answer several queries from one read of the subjects that they name, as `ask` does.

    `questions` may be made of what the reader can know of the study: its design without what is hidden.
    """
    hidden = veil.of_member(project, member)
    design = design_of(project, hidden.fields.union(blinded))
    given = questions(design) if callable(questions) else questions
    queries = [one if isinstance(one, StudyQuery) else parse(one) for one in given]
    named = {subject for query in queries for subject in query.subjects or ()}
    read: dict[bool, list[RecordData]] = {}
    for query in queries:
        of_all = query.subjects is None
        if of_all not in read:
            wanted = None if of_all else sorted(named)
            read[of_all] = records_for(project, member, design.metadata, wanted)
    today, work = clock.today(project.timezone), _work(project, member)
    asked: dict[frozenset[str] | None, Asked] = {}
    answers = []
    for query in queries:
        own = None if query.subjects is None else frozenset(query.subjects)
        if own not in asked:
            records = [data for data in read[own is None] if own is None or data.record_id in own]
            opened = own is not None and not hidden.hidden(own) and bool(hidden.fields)
            told = design_of(project, blinded) if opened else design
            asked[own] = Asked(told, records, today=today, work=work)
        answers.append(asked[own].answer(query))
    return answers


def records_for(
    project: Project,
    member: Member | None,
    metadata: StudyMetadata,
    record_ids: Sequence[str] | None,
) -> list[RecordData]:
    """The subjects a question is about, without what is not the reader's; an unknown one is not there."""
    if member is not None and not member.is_active:
        return []
    read = _read(project, member, metadata, record_ids)
    return veil.of_member(project, member).records(read)


def _read(
    project: Project,
    member: Member | None,
    metadata: StudyMetadata,
    record_ids: Sequence[str] | None,
) -> list[RecordData]:
    if record_ids is not None and len(record_ids) <= LIVE:
        live = _live(project, member, metadata, record_ids)
        if live is not None:
            return live
    else:
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
        return sync.sweep(project) or bool(readings.refresh(project))
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
    project: Project,
    member: Member | None,
    metadata: StudyMetadata,
    record_ids: Sequence[str],
) -> list[RecordData] | None:
    """The subjects as REDCap has them now; None in an outage where stored readings can answer."""
    try:
        read = read_records(project=project, member=member, record_ids=record_ids)
    except (RedcapError, NotConfiguredError):
        if _read_at(project) is None:
            raise
        return None
    readings.keep(project, read)
    stripper = Stripper(project, metadata)
    return [replace(data, rows=tuple(stripper.rows(data))) for data in read]


def _work(project: Project, member: Member | None) -> Callable[[str], registry.Rows]:
    return lambda kind: registry.work(kind, project, member)

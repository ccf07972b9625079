"""What happened to a run: a row in its transaction, which a worker tells to those who read such rows.

A reader (`read`) only writes rows of its own, in the transaction that marks the event as told: killed anywhere,
nothing is lost and nothing told twice. Whom it concerns and in which words is read when it is told: the run
waits for none of that. The events of a run are a lane, so each finds what the ones before it have made.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import translation
from django.utils.timezone import now

from core.house import task_queue
from core.house.db import after_commit, atomic, later
from engines.models import Batch, PendingAction, Review, RunEvent, TaskRun

log = logging.getLogger(__name__)

Kind = RunEvent.Kind
Reader = Callable[[RunEvent], None]
MOST_TRIALS = 12
"""An event that failed so often is passed by what comes after it, and tried once an hour for ever."""
LONGEST_WAIT_S = 3600.0
KEPT = timedelta(days=7)
_readers: dict[str, list[Reader]] = defaultdict(list)


def register_reader(reader: Reader, *kinds: Kind) -> None:
    """Let `reader` be told of events of these kinds, each inside of a transaction (`hooks.py`)."""
    for kind in kinds:
        _readers[kind].append(reader)


def keep_event(
    kind: Kind, run: TaskRun, review: Review | None = None, payload: dict[str, Any] | None = None
) -> None:
    """Note what happened to a run, in the transaction in which it did."""
    if run.batch_id:  # it ended or waits for a person: perhaps the next may start
        batch = str(run.batch_id)
        after_commit(lambda: task_queue.wake("engines.tasks.advance_batch", batch))
    _keep(
        RunEvent(
            project_id=run.project_id,
            run_id=run.pk,
            review_id=review.pk if review else None,
            version=review.version if review else None,
            kind=kind,
            payload=payload,
        )
    )


def keep_queried(finding: PendingAction) -> None:
    """Note that the site is asked about a finding, and which time it is; before the finding's own event."""
    number = finding.events.filter(what="query").count() + 1
    about = {"finding": str(finding.pk), "number": number}
    keep_event(Kind.FINDING_QUERIED, finding.task_run, payload=about)


def keep_settled(finding: PendingAction) -> None:
    """Note that nobody has to answer the query about a finding any more."""
    about = {"finding": str(finding.pk)}
    keep_event(Kind.FINDING_SETTLED, finding.task_run, payload=about)


def keep_end(batch: Batch) -> None:
    """Note that nothing of a batch is left to start or runs any more."""
    kind = Kind.BATCH_FINISHED
    _keep(RunEvent(project_id=batch.project_id, batch_id=batch.pk, kind=kind))


def _keep(event: RunEvent) -> None:
    later(event)
    task_queue.wake_later("engines.tasks.tell_events", str(event.lane))


def tell_lane(lane: UUID) -> None:
    """Tell what waits of a run or a batch, in its order; ends at what cannot be told now."""
    while (head := _waiting().filter(Q(run=lane) | Q(batch=lane)).first()) and _told(head):
        pass


def lanes_due(most: int) -> Iterable[UUID]:
    """Runs and batches with an event that can be told now (the sweeper's question)."""
    lanes = _waiting().filter(available_at__lte=now()).order_by()
    return lanes.values_list(Coalesce("run_id", "batch_id"), flat=True).distinct()[:most]


def forget() -> None:
    """Delete what was told long ago."""
    RunEvent.objects.filter(told_at__lt=now() - KEPT).delete()


def _waiting() -> QuerySet[RunEvent]:
    """What is to be told; of what failed often, only what is due: nobody waits behind it."""
    tried = Q(attempts__lt=MOST_TRIALS) | Q(available_at__lte=now())
    return RunEvent.objects.filter(tried, told_at__isnull=True).order_by("pk")


def _told(event: RunEvent) -> bool:
    """False where it could not be told now, or another worker was faster."""
    if event.available_at > now():
        return False
    try:
        with atomic(), translation.override(settings.LANGUAGE_CODE):  # what no reader's decides
            if not _set(event, told_at=now(), error=""):
                return False
            for reader in _readers[event.kind]:
                reader(event)
    except Exception as error:  # whatever it is, a lane does not stand still for ever
        # Its text can quote a patient.
        log.error("run event %s could not be told: %s", event.pk, type(error).__name__)
        _put_off(event, type(error).__name__)
        return False
    return True


def _put_off(event: RunEvent, error: str) -> None:
    if event.attempts + 1 == MOST_TRIALS:
        log.error("ALERT run event %s not told after %s attempts", event.pk, MOST_TRIALS)
    wait = min(2.0 ** (event.attempts + 1), LONGEST_WAIT_S)
    at: datetime = now() + timedelta(seconds=wait)
    _set(event, available_at=at, error=error)


def _set(event: RunEvent, **values: Any) -> bool:
    """Change the event if nobody tried it since it was read."""
    same = RunEvent.objects.filter(pk=event.pk, told_at__isnull=True, attempts=event.attempts)
    return same.update(attempts=event.attempts + 1, **values) == 1

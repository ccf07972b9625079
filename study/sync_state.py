"""What a reading of a study's REDCap leaves behind: until when all is known, or why it failed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from django.utils import timezone

from house.db import atomic
from integrations.redcap import (
    RedcapError,
    RedcapPermissionError,
    RedcapProtocolError,
    RedcapUnavailable,
)
from projects.models import Project
from study.client import NotConfiguredError
from study.models import SyncState
from study.records import EmptyRosterError

Cause = SyncState.Cause


@contextmanager
def noted(project: Project) -> Iterator[None]:
    """A reading of the study's REDCap: why it failed is kept, then raised."""
    try:
        yield
    except (RedcapError, NotConfiguredError) as error:
        with atomic():
            SyncState.objects.update_or_create(
                project=project,
                defaults={
                    "cause": cause_of(error),
                    "error": str(error),
                    "failed_at": timezone.now(),
                },
            )
        raise


def outage(project: Project) -> tuple[datetime, str] | None:
    """When REDCap failed last and why, in the reader's language; None where it was read since."""
    state = SyncState.objects.filter(project=project).first()
    if state is None or not state.is_failing or state.failed_at is None:
        return None
    return state.failed_at, str(state.get_cause_display())


def note_roster(project: Project, at: datetime, missing: Sequence[str], records: int) -> None:
    """Who is in the study was read; a token that hides `missing` columns leaves the state failing."""
    told = f"not exported: {', '.join(missing)}" if missing else ""
    SyncState.objects.update_or_create(
        project=project,
        defaults={
            "roster_at": at,
            "records": records,
            "cause": Cause.COLUMNS if missing else "",
            "error": told,
        },
    )


def cause_of(error: RedcapError | NotConfiguredError) -> str:
    """One of SyncState.Cause."""
    if isinstance(error, NotConfiguredError):
        return Cause.SETUP
    if isinstance(error, EmptyRosterError):
        return Cause.EMPTY
    if isinstance(error, RedcapPermissionError):
        return Cause.REFUSED
    if isinstance(error, RedcapProtocolError):
        return Cause.UNREADABLE
    if isinstance(error, RedcapUnavailable) and not error.status:
        return Cause.TIMEOUT if "Timeout" in error.text else Cause.NETWORK
    return Cause.SERVER

"""What is not kept of readings: old versions after a project's `reading_days`, and what identifies people."""

from __future__ import annotations

import json
from datetime import timedelta

from house import clock, crypto
from house.db import atomic
from projects.models import Project
from study.metadata import StudyMetadata
from study.models import Reading, ReadingState
from study.stripping import hidden_columns

CHUNK = 400


def forget_versions(project: Project) -> int:
    """Delete versions that ended before the project keeps them; how many. A current one always stays.

    From then on no earlier time can be asked for.
    """
    horizon = clock.now() - timedelta(days=project.reading_days)
    ended = Reading.objects.filter(project=project, is_current=False, last_seen__lt=horizon)
    earlier = ReadingState.objects.filter(project=project, whole_since__lt=horizon)
    with atomic():
        earlier.update(whole_since=horizon)
        gone, _of_models = ended.filter(is_followed=True).delete()
    return gone


def forget_identifiers(project: Project, metadata: StudyMetadata) -> None:
    """Take fields that identify a person by now out of the versions of before."""
    hidden = hidden_columns(metadata)
    rows = Reading.objects.filter(project=project, is_current=False)
    changed = []
    for row in rows.iterator(CHUNK):
        values = json.loads(row.values)
        if hidden.isdisjoint(values):
            continue
        kept = {name: value for name, value in values.items() if name not in hidden}
        row.values = json.dumps(kept, ensure_ascii=False, sort_keys=True)
        row.digest = crypto.digest(row.values)
        changed.append(row)
    Reading.objects.bulk_update(changed, ["values", "digest"], CHUNK)

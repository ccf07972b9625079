"""Keeps the last data dictionary read from REDCap, so that an outage leaves labels known."""

import hashlib
import json
import logging
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.core.cache import cache
from django.db.models import OuterRef, QuerySet, Subquery
from django.utils import timezone

from house.db import atomic
from integrations.redcap import (
    RedcapClient,
    RedcapError,
    RedcapProtocolError,
    RedcapUnavailable,
)
from projects import audit
from projects.models import Project
from study.client import redcap_client
from study.metadata import StudyMetadata
from study.models import Dictionary, SyncState

__all__ = ["StudyMetadata", "ensure_fresh", "load", "parsed", "refresh", "stored"]

logger = logging.getLogger(__name__)

PAUSE_S = 60
"""After one try to read the dictionary again, others leave REDCap alone for this long."""


def load(project: Project, known: Dictionary | None = None) -> StudyMetadata:
    """The stored dictionary, whatever its age; read from REDCap only when there is none yet.

    `known`: what `stored` gave this request. Raises RedcapError or NotConfiguredError in that case only.
    """
    found = known or stored(project)
    return parsed(project.pk, found.digest) if found else refresh(project)


def refresh(project: Project) -> StudyMetadata:
    """Read the dictionary from REDCap and keep it. Raises RedcapError, NotConfiguredError."""
    content = _read(project)
    digest = _digest(content)
    with atomic():
        known = Dictionary.objects.filter(project=project, digest=digest)
        if not known.update(read_at=timezone.now()):
            _store(project, content, digest)
    return StudyMetadata(**content)


def ensure_fresh(project: Project, max_age_s: float = 600) -> StudyMetadata:
    """Not older than `max_age_s` where REDCap answers, else the stored one.

    Raises RedcapError or NotConfiguredError only where nothing is stored.
    """
    found = stored(project)
    if found is None:
        return refresh(project)
    age = (timezone.now() - found.read_at).total_seconds() if found.read_at else max_age_s + 1
    if age > max_age_s and cache.add(f"dictionary-refresh:{project.pk}", 1, PAUSE_S):
        try:
            return refresh(project)
        except RedcapError as error:
            logger.warning("The dictionary of %s stays as it was: %s", project.code, error)
    return load(project)


def _store(project: Project, content: dict[str, Any], digest: str) -> None:
    before = Dictionary.objects.filter(project=project).values_list("digest", flat=True).first()
    Dictionary.objects.update_or_create(
        project=project,
        defaults={"content": content, "digest": digest, "read_at": timezone.now()},
    )
    audit.record(
        "dictionary.read",
        actor="system",
        project=project,
        old=before and {"digest": before},
        new={"digest": digest, "fields": len(content["metadata"])},
    )


def stored(project: Project) -> Dictionary | None:
    """Which dictionary is stored, without its content, and beside it when the roster was read (`roster_at`)."""
    found = _row(project.pk).first()
    return found if found and found.digest else None


def _row(project: UUID) -> QuerySet[Dictionary]:
    at = SyncState.objects.filter(pk=OuterRef("pk")).values("roster_at")
    return Dictionary.objects.filter(pk=project).defer("content").annotate(roster_at=Subquery(at))


@lru_cache(maxsize=64)
def parsed(project_id: UUID, digest: str) -> StudyMetadata:
    """Parsed once per process and content; the digest in the key makes a change visible."""
    return StudyMetadata(**Dictionary.objects.get(project_id=project_id).content)


def _digest(content: dict[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _read(project: Project) -> dict[str, Any]:
    client = redcap_client(project)
    return {
        "project": client.project(),
        "metadata": client.metadata(),
        "events": client.events(),
        "mapping": client.form_event_mapping(),
        "repeating": client.repeating(),
        "export_field_names": client.export_field_names(),
        "instruments": client.instruments(),
        "dags": _groups(client),
    }


def _groups(client: RedcapClient) -> list[dict[str, Any]]:
    """[] for a token without the right to see data access groups: the rest of the dictionary stands."""
    try:
        return client.dags()
    except (RedcapUnavailable, RedcapProtocolError):
        raise
    except RedcapError:
        return []

"""Keeps the last data dictionary read from REDCap, so that an outage leaves labels known."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.core.cache import cache
from django.db.models import OuterRef, Subquery
from django.utils import timezone
from django.utils.translation import gettext as _

from core.house.db import atomic
from core.house.request_cache import once_each
from core.integrations.redcap import (
    RedcapClient,
    RedcapError,
    RedcapProtocolError,
    RedcapUnavailable,
)
from projects import audit
from projects.models import Project
from study.client import (
    NotConfiguredError,
    OtherProjectError,
    check_project,
    new_client,
    redcap_client,
)
from study.identity import Answer
from study.metadata import StudyMetadata
from study.models import Dictionary, Subject, SyncState

logger = logging.getLogger(__name__)

PAUSE_S = 60
"""After one try to read the dictionary again, others leave REDCap alone for this long."""


class AnsweredMeanwhileError(Exception):
    """The dictionary or its answers are others than those that were looked at."""


def load(project: Project, known: Dictionary | None = None) -> StudyMetadata:
    """The stored dictionary, whatever its age; read from REDCap only when there is none yet.

    `known`: what `stored` gave this request. Raises RedcapError or NotConfiguredError in that case only.
    """
    found = known or stored(project)
    return parsed(project.pk, found.digest) if found else refresh(project)


def refresh(project: Project) -> StudyMetadata:
    """Read the dictionary from REDCap and keep it. Raises RedcapError, NotConfiguredError."""
    content = _read(redcap_client(project))
    check_project(project, content["project"])
    return _keep(project, content)


def accept_other_project(*, project: Project, found: str, actor: object) -> None:
    """Go on with another REDCap project, `found` by its id: somebody without a site has confirmed it.

    Raises RedcapError, NotConfiguredError; OtherProjectError where it is yet another one.
    """
    content = _read(new_client(project))
    if str(content["project"].get("project_id") or "") != found:
        raise OtherProjectError(str(content["project"].get("project_id") or ""))
    with atomic():
        Project.objects.filter(pk=project.pk).update(redcap_is_new=False)
        audit.record("redcap.accept", actor=actor, project=project, new={"project_id": found})
        _keep(project, content)
    project.redcap_is_new = False


def other_project(project: Project) -> str | None:
    """The REDCap project that the token opens now, where it is another one than was accepted; else None.

    Also None where REDCap cannot be asked.
    """
    try:
        redcap_client(project).project()
    except OtherProjectError as error:
        return error.found
    except (RedcapError, NotConfiguredError):
        return None
    return None


def _keep(project: Project, content: dict[str, Any]) -> StudyMetadata:
    with atomic():
        found = stored(project)
        answers = found.answers if found else {}
        digest = _digest(content, answers)
        known = Dictionary.objects.filter(project=project, digest=digest)
        if not known.update(read_at=timezone.now()):
            values = {"content": content, "digest": digest, "read_at": timezone.now()}
            rows = Dictionary.objects.filter(project=project)
            before = rows.values_list("digest", flat=True).first()
            Dictionary.objects.update_or_create(project=project, defaults=values)
            audit.record(
                "dictionary.read",
                actor="system",
                project=project,
                old=before and {"digest": before},
                new={"digest": digest, "fields": len(content["metadata"])},
            )
    return StudyMetadata(**content, answers=answers)


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


def read_again(project: Project, unknown: Collection[str]) -> StudyMetadata:
    """The dictionary read now, because data hold names `unknown` to the stored one, whatever its age.

    Where REDCap's dictionary did not know them either, it is left alone for a while: the stored one.
    Raises RedcapError, NotConfiguredError.
    """
    names = hashlib.sha256("\n".join(sorted(unknown)).encode()).hexdigest()
    key = f"dictionary-without:{project.pk}:{names}"
    if cache.get(key):
        return load(project)
    found = refresh(project)
    if not found.known_names.issuperset(unknown):
        cache.set(key, 1, PAUSE_S)
    return found


def stored(project: Project) -> Dictionary | None:
    """Which dictionary is stored, without its content, and beside it when the roster was read (`roster_at`)."""

    def read(keys: Collection[UUID]) -> dict[UUID, Dictionary | None]:
        at = SyncState.objects.filter(pk=OuterRef("pk")).values("roster_at")
        rows = Dictionary.objects.filter(pk__in=keys).defer("content")
        found = {row.pk: row for row in rows.annotate(roster_at=Subquery(at))}
        return {key: found.get(key) for key in keys}

    found = once_each("dictionary", project.pk, read)
    return found if found and found.digest else None


@lru_cache(maxsize=64)
def parsed(project_id: UUID, digest: str) -> StudyMetadata:
    """Parsed once per process and content; the digest in the key makes a change visible."""
    row = Dictionary.objects.get(project_id=project_id)
    return StudyMetadata(**row.content, answers=row.answers)


def store_date_answers(*, project: Project, answers: Mapping[str, str], actor: object) -> None:
    """Store what an administrator says of dates that may identify (field -> study.identity.Answer), audited.

    Readings and roster follow with the next reading. Raises ValueError for what is no answer, and
    AnsweredMeanwhileError.
    """
    told = {name: Answer(said).value for name, said in answers.items()}
    with atomic():
        row = Dictionary.objects.filter(project=project).first()
        if row is None or row.answers | told == row.answers:
            return
        old = {name: row.answers.get(name, "") for name in told}
        answers = row.answers | told
        claimed = Dictionary.objects.filter(project=project, digest=row.digest)
        if not claimed.update(answers=answers, digest=_digest(row.content, answers)):
            raise AnsweredMeanwhileError(
                _("Somebody else has answered meanwhile; please look again.")
            )
        audit.record("dictionary.answers", actor=actor, project=project, old=old, new=told)


def _digest(content: dict[str, Any], answers: Mapping[str, str]) -> str:
    text = json.dumps(
        [content, answers] if answers else content, sort_keys=True, ensure_ascii=False
    )
    return hashlib.sha256(text.encode()).hexdigest()


def _read(client: RedcapClient) -> dict[str, Any]:
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


NEAREST = 3


@dataclass(frozen=True)
class KnownNames:
    """Fields, forms, unique event names and sites of a study; an empty set is not known and refuses nothing.

    `fields`: field -> its form. `closed`: those that identify a person, or may: what dates a row, a visit or an
    enrolment is told.
    """

    fields: Mapping[str, str] = field(default_factory=dict)
    forms: Collection[str] = ()
    events: Collection[str] = ()
    sites: Collection[str] = ()
    closed: Collection[str] = ()

    @classmethod
    def of(cls, project: Project) -> KnownNames:
        """What the last reading of the study's REDCap gave; nothing where it was never read."""
        if project.pk is None or stored(project) is None:
            return cls()
        metadata = load(project)
        used = Subject.objects.filter(project=project).exclude(site="").order_by()
        return cls(
            fields={name: metadata.form_of(name) for name in metadata.fields},
            forms=[str(row["instrument_name"]) for row in metadata.instruments],
            events=[str(row["unique_event_name"]) for row in metadata.events],
            sites={*metadata.sites, *used.values_list("site", flat=True).distinct()},
            closed=metadata.identifier_fields,
        )


def name_refusal(
    name: str,
    known: Collection[str],
    closed: Collection[str] = (),
    unnamed: Collection[str] = (),
) -> str:
    """Why a name is wrong, with the nearest right ones; "" for a known or blank one.

    `unnamed`: known ones that are not told (`study.blinding.mask.unnamed_for_all`).
    """
    if name in closed:
        told = _(
            "“%(name)s” identifies a person, or may: say in the set-up of the study what it dates."
        )
        return told % {"name": name}
    if not name or not known or name in known:
        return ""
    told_of = sorted({*known} - {*unnamed})
    near = get_close_matches(name, told_of, NEAREST, 0.4) or told_of[:NEAREST]
    told = _("REDCap knows no “%(name)s”. Nearest: %(near)s")
    return told % {"name": name, "near": "、".join(near)}

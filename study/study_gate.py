"""The privacy gate of a study: what must be masked in everything that one request sends out."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from django.conf import settings

from house import clock
from privacy.gate import Gate
from privacy.identifier_index import Known
from privacy.identifying_fields import birth_fields
from privacy.strangers import Strangers
from study import identities, roster
from study.request_cache import Reader


def gate_for(reader: Reader) -> Gate:
    """A fresh gate for one request of the reader's member (None: a job of the house).

    Subjects of other sites are masked like identifiers, and so is what only looks like one: nobody's request
    may name them, nobody's reply tell that they exist (design.md 9.7).
    No transaction may be open. Raises integrations.redcap.RedcapError, study.client.NotConfiguredError
    where the study was never read: without its roster no identifier could be recognised.
    """
    roster.ensure_fresh(reader.project, settings.ROSTER_MAX_AGE_S, reader.stored)
    metadata = reader.metadata
    known, strangers = identities.known_identifiers(reader), None
    if reader.member is not None and reader.member.site:
        known, strangers = _of_site(known, reader.roster.ids, reader.roster.mine)
    return Gate(
        known,
        identifier_fields=metadata.identifier_fields - {metadata.record_id_field},
        birth_fields=birth_fields(metadata.labels),
        labels=metadata.labels,
        today=clock.today(reader.project.timezone),
        digest_key=settings.SECRET_KEY.encode(),
        strangers=strangers,
    )


@lru_cache(maxsize=64)
def _of_site(known: Known, ids: tuple[str, ...], mine: frozenset[str]) -> tuple[Known, Strangers]:
    """For a member with a site: record ids that stay are the site's own, all others are strangers."""
    kept = Known.of({}, keep=mine).kept
    return replace(known, kept=kept), Strangers.of(ids, mine)

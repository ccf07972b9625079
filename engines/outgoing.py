"""The privacy gate of a study: what must be masked in everything that one request sends out."""

from __future__ import annotations

from functools import lru_cache

from django.conf import settings

from integrations.privacy import Gate, Known, birth_fields
from projects import identities, roster
from projects.reader import Reader
from projects.windows import today_in


def gate_for(reader: Reader) -> Gate:
    """A fresh gate for one request of the reader's member (None: a job of the house).

    Subjects of other sites are masked like identifiers: nobody's request may name them (design.md 9.7).
    No transaction may be open. Raises integrations.redcap.RedcapError, projects.client.NotConfiguredError
    where the study was never read: without its roster no identifier could be recognised.
    """
    roster.ensure_fresh(reader.project, settings.ROSTER_MAX_AGE_S, reader.stored)
    metadata = reader.metadata
    return Gate(
        (identities.known_identifiers(reader), _hidden(_of_other_sites(reader))),
        identifier_fields=metadata.identifier_fields - {metadata.record_id_field},
        birth_fields=birth_fields(metadata.labels),
        labels=metadata.labels,
        today=today_in(reader.project.timezone),
        digest_key=settings.SECRET_KEY.encode(),
    )


def _of_other_sites(reader: Reader) -> tuple[str, ...]:
    """Subjects that a member with a site may not see."""
    if reader.member is None or not reader.member.site:
        return ()
    return tuple(record for record in reader.roster.ids if record not in reader.roster.mine)


@lru_cache(maxsize=64)
def _hidden(ids: tuple[str, ...]) -> Known:
    return Known.of({"受试者": ids})

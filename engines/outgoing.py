"""The privacy gate of a study: what must be masked in everything that one request sends out."""

from __future__ import annotations

from functools import lru_cache

from django.conf import settings

from integrations.privacy import Gate, Known, birth_fields
from projects import dictionary, identities
from projects.models import Member, Project, Subject
from projects.windows import today_in


def gate_for(project: Project, member: Member | None = None) -> Gate:
    """A fresh gate for one request of `member` (None: a job of the house).

    Subjects of other sites are masked like identifiers: nobody's request may name them (design.md 9.7).
    Raises integrations.redcap.RedcapError where no dictionary was ever read.
    """
    metadata = dictionary.load(project)
    labels = {name: metadata.label(name) for name in metadata.fields}
    return Gate(
        (identities.known_identifiers(project), _hidden(hidden_ids(project, member))),
        identifier_fields=metadata.identifier_fields - {metadata.record_id_field},
        birth_fields=birth_fields(labels),
        labels=labels,
        today=today_in(project.timezone),
        digest_key=settings.SECRET_KEY.encode(),
    )


def hidden_ids(project: Project, member: Member | None) -> tuple[str, ...]:
    """Subjects that a member with a site may not see."""
    if member is None or not member.site:
        return ()
    subjects = Subject.objects.filter(project=project)
    return tuple(subjects.exclude(site=member.site).values_list("record_id", flat=True))


@lru_cache(maxsize=64)
def _hidden(ids: tuple[str, ...]) -> Known:
    return Known.of({"受试者": ids})

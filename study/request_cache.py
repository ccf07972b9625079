"""What one request reads of a study's own tables: each at most once, and never kept beyond it.

Who may see what is read anew with every request; only what was computed from content (a parsed
dictionary, decrypted names) lives longer, under a key that changes with the content.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

from django.db.models import BooleanField, Case, TextField, Value, When
from django.db.models.functions import Cast

from projects.models import Member, Project
from study import dictionary
from study.metadata import StudyMetadata
from study.models import Dictionary, Subject


@dataclass(frozen=True, slots=True)
class Roster:
    """The stored roster in the order of the ids; `mine` are those of the member's scope.

    `present`: those of `mine` that REDCap still has; `state`: when the rows were read, another one
    after every reading that changed something; `sites`: of all of them, whoever reads.
    """

    ids: tuple[str, ...] = ()
    mine: frozenset[str] = frozenset()
    present: frozenset[str] = frozenset()
    state: frozenset[str] = frozenset()
    sites: frozenset[str] = frozenset()


def roster_of(project_id: UUID, member: Member | None = None) -> Roster:
    """Read the roster; without a member (a job of the house) every subject is in scope."""
    # The condition of `projects.access` as a column: one query tells who exists and who is visible.
    is_mine: Case | Value = Value(member is None, output_field=BooleanField())
    if member is not None and member.is_active:
        own = When(Subject.objects.all().scope(member), then=Value(True))
        is_mine = Case(own, default=Value(False), output_field=BooleanField())
    rows: Any = Subject.objects.filter(project_id=project_id)
    rows = rows.annotate(mine=is_mine, at=Cast("synced_at", TextField()))
    listed = [*rows.values_list("record_id", "is_present", "site", "mine", "at", named=True)]
    return Roster(
        ids=tuple(row.record_id for row in listed),
        mine=frozenset(row.record_id for row in listed if row.mine),
        present=frozenset(row.record_id for row in listed if row.is_present and row.mine),
        state=frozenset(row.at for row in listed),
        sites=frozenset(row.site for row in listed if row.site),
    )


@dataclass
class Reader:
    """One request of a member (None: a job of the house) and what it has read so far."""

    project: Project
    member: Member | None = None

    @cached_property
    def stored(self) -> Dictionary | None:
        """Which dictionary is stored, and when the roster was read (`roster_at`); None before the first."""
        return dictionary.stored(self.project)

    @cached_property
    def metadata(self) -> StudyMetadata:
        """The dictionary. Raises RedcapError or NotConfiguredError where none was ever read."""
        return dictionary.load(self.project, self.stored)

    @cached_property
    def sites(self) -> Mapping[str, str]:
        """Site -> its label, as far as the stored dictionary tells; outside systems are not asked."""
        found = self.stored
        return dictionary.parsed(self.project.pk, found.digest).sites if found else {}

    @cached_property
    def roster(self) -> Roster:
        """The stored roster."""
        return roster_of(self.project.pk, self.member)

"""Whose site a subject belongs to, beside the people who ask."""

from __future__ import annotations

from typing import Any, TypeVar

from django.db.models import Model, OuterRef, QuerySet, Subquery, TextField

from projects.models import Member
from study.models import Subject

M = TypeVar("M", bound=Model)


def with_site(rows: QuerySet[M], record_id: str | OuterRef | None) -> QuerySet[M]:
    """Rows of a project, each with `subject_site`: the subject's there, None where there is none."""
    same = Subject.objects.filter(project=OuterRef("project"), record_id=record_id).order_by()
    with_it: QuerySet[Any] = rows.annotate(subject_site=Subquery(same.values("site")))
    return with_it


def with_identifiers(members: QuerySet[Member], record_id: str | None) -> QuerySet[Member]:
    """`with_site`, and the subject's identifiers as they are stored: encrypted, the same for everybody."""
    same = Subject.objects.filter(project=OuterRef("project"), record_id=record_id).order_by()
    stored = Subquery(same.values("identifiers"), output_field=TextField())
    return with_site(members, record_id).annotate(subject_identifiers=stored)

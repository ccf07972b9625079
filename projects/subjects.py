"""Whose site a subject belongs to, beside the people who ask."""

from __future__ import annotations

from django.db.models import OuterRef, QuerySet, Subquery, TextField

from projects.models import Member, Subject


def with_site(members: QuerySet[Member], record_id: str | None) -> QuerySet[Member]:
    """The members, each with `subject_site`: the subject's in their project, None where there is none."""
    same = Subject.objects.filter(project=OuterRef("project"), record_id=record_id).order_by()
    return members.annotate(subject_site=Subquery(same.values("site")))


def with_identifiers(members: QuerySet[Member], record_id: str | None) -> QuerySet[Member]:
    """`with_site`, and the subject's identifiers as they are stored: encrypted, the same for everybody."""
    same = Subject.objects.filter(project=OuterRef("project"), record_id=record_id).order_by()
    stored = Subquery(same.values("identifiers"), output_field=TextField())
    return with_site(members, record_id).annotate(subject_identifiers=stored)

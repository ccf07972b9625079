"""The subjects that the count of those enrolled counts."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

from django.contrib.admin import SimpleListFilter
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from core.integrations.redcap import RedcapError
from projects.access import member_in
from projects.models import Project
from study.client import NotConfiguredError
from study.enrolment_stats import enrolled_subjects
from study.models import Subject
from study.query.errors import QueryError


class Enrolled(SimpleListFilter):
    """Enrolled or not, as the reader may know it from what was read last."""

    title = pgettext_lazy("subjects", "enrolled")
    parameter_name = "enrolled"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, Any]]:
        """Yes and no."""
        return [("yes", _("Yes")), ("no", _("No"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Subject]) -> QuerySet[Subject]:
        """By the same query as the count."""
        if self.value() not in ("yes", "no"):
            return queryset
        condition = Q(pk__in=[])
        for project in Project.objects.for_user(request.user):
            with suppress(RedcapError, NotConfiguredError, QueryError):
                enrolled = enrolled_subjects(project, member_in(request.user, project.pk))
                condition |= Q(project=project, record_id__in=enrolled)
        return queryset.filter(condition if self.value() == "yes" else ~condition)


def enrolled_link(project: Any) -> str:
    """How many are enrolled, with the list of them; `project.reader`: who reads, None for a superuser."""
    try:
        count = len(enrolled_subjects(project, project.reader))
    except (RedcapError, NotConfiguredError, QueryError):
        return "-"
    query = urlencode({"project__id__exact": project.pk, "enrolled": "yes"})
    address = f"{reverse('admin:study_subject_changelist')}?{query}"
    return format_html('<a class="iit-link" href="{}" data-test="enrolled">{}</a>', address, count)

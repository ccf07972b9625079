"""Console page of the questions that got no answer, with what the study's words are missing."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from engines.models import OpenQuestion
from projects.admin_base import BY_PROJECT, ScopedAdmin
from projects.long_lists import LongList, period
from projects.models import Role


@admin.register(OpenQuestion)
class OpenQuestionAdmin(LongList, ScopedAdmin):
    """Asked back, not collected here, or failed; de-identified. For administrators who see all sites."""

    view_roles = (Role.ADMIN,)
    whole_study = True
    list_display = ("created_at", "query", "is_open", "show_words", "show_project")
    list_filter = (BY_PROJECT, period("created_at"), "is_open")
    list_select_related = ("project",)
    fields = (("project", "created_at"), "query", "is_open", "show_words")
    readonly_fields = ("show_words",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Without what was answered, and what could not be read at all."""
        rows = super().get_queryset(request)
        return rows.filter(Q(is_open=True) | Q(success=False))

    @admin.display(description=_("add as a synonym"))
    def show_words(self, obj: OpenQuestion) -> SafeString:
        """A prefilled page for each word that was not understood, or a blank one."""
        page = reverse("admin:study_synonym_add")
        rows = [
            (
                page,
                urlencode({"project": obj.project_id} | ({"word": word} if word else {})),
                word or gettext("another word"),
            )
            for word in [*obj.words, ""]
        ]
        return format_html("{}", format_html_join(" · ", '<a href="{}?{}">{}</a>', rows))

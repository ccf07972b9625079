from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action

from house.db import atomic
from projects import audit
from projects.admin_base import BY_PROJECT, ScopedAdmin
from skills import mapping_page, services
from skills.admin.base import ADMIN, administered
from skills.models import FieldMapping


@admin.register(FieldMapping)
class FieldMappingAdmin(ScopedAdmin):
    edit_roles = add_roles = delete_roles = ADMIN
    list_display = ("alias_name", "actual_name", "show_project")
    list_filter = (BY_PROJECT,)
    search_fields = ("alias_name", "actual_name")
    fields = ("project", "alias_name", "actual_name")
    actions_list = ("propose",)

    @action(
        description=_("Propose from the REDCap dictionary"),
        url_path="propose",
        permissions=["propose"],
        icon="auto_awesome",
    )
    def propose(self, request: HttpRequest) -> HttpResponse:
        """Choose among the names that the data dictionary suggests."""
        return mapping_page.propose_view(request, self, administered(self, request))

    def has_propose_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_add_permission(request)

    def save_model(self, request: HttpRequest, obj: FieldMapping, form: Any, change: bool) -> None:
        services.save_mapping(mapping=obj, actor=request.user)

    def delete_model(self, request: HttpRequest, obj: FieldMapping) -> None:
        with atomic():
            old = {"alias": obj.alias_name, "field": obj.actual_name}
            audit.record(
                "mapping.change", actor=request.user, project=obj.project, subject=obj, old=old
            )
            obj.delete()

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        for mapping in queryset:
            self.delete_model(request, mapping)

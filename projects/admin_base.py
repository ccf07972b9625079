"""Base of the console's pages: rows by membership, rights by role, writes by services.

Django's own permissions are not used for study data: what a person may see and do follows from the
memberships alone (design.md 9.7), as in chat and API.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from django.contrib import admin
from django.core.exceptions import FieldDoesNotExist
from django.db import models
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.admin import TabularInline

from core.house.admin_json import JsonTextarea, PrettyJsonField, readable
from core.house.admin_text import coded
from projects import reads
from projects.access import has_role
from projects.admin_lists import DeclaredAdmin, OwnRows
from projects.models import Member, Project, Role
from projects.scoping import held, memberships
from projects.switcher import chosen, has_several

EVERYONE = tuple(Role.values)
STUDY = "show_project"
JSON_BOX: dict[Any, dict[str, Any]] = {
    models.JSONField: {"form_class": PrettyJsonField, "widget": JsonTextarea}
}
BY_PROJECT = ("project", OwnRows)


def roles(request: HttpRequest, *, whole_study: bool = False) -> set[str]:
    """Roles the user holds in any study (`whole_study`: without a site); a superuser holds all."""
    if request.user.is_superuser:
        return set(EVERYONE)
    return {one.role for one in held(request.user) if not (whole_study and one.site)}


def administers(request: HttpRequest) -> bool:
    """Whether the menu shows the house's own tables."""
    return request.user.is_superuser


class ScopedAdmin(DeclaredAdmin):
    """Shows rows of the user's studies; `edit_roles` may change them.

    `whole_study`: rows that speak of all sites, so a membership with a site does not open them.
    `of_site`: what is written here concerns a site alone; everything else takes a membership without a site
    (`projects.access.has_role`).
    """

    view_roles: ClassVar[tuple[str, ...]] = EVERYONE
    edit_roles: ClassVar[tuple[str, ...]] = ()
    add_roles: ClassVar[tuple[str, ...]] = ()
    delete_roles: ClassVar[tuple[str, ...]] = ()
    whole_study: ClassVar[bool] = False
    of_site: ClassVar[bool] = False
    project_path: ClassVar[str] = "project_id"
    formfield_overrides = JSON_BOX
    # Names of columns whose model gives none.
    labels: ClassVar[dict[str, Any]] = {}
    list_per_page = 50
    list_select_related: bool | tuple[str, ...] = True
    show_full_result_count = False
    warn_unsaved_form = True
    compressed_fields = True

    def holders(self, request: HttpRequest, wanted: tuple[str, ...]) -> QuerySet[Member]:
        """The user's memberships that write here in one of the wanted roles."""
        held = memberships(request.user).filter(role__in=wanted)
        return held if self.of_site else held.filter(site="")

    def readers(self, request: HttpRequest) -> QuerySet[Member]:
        """The user's memberships that open this page."""
        held = memberships(request.user).filter(role__in=self.view_roles)
        return held.filter(site="") if self.whole_study else held

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Rows of the user's scope, in studies where the user's role opens this page."""
        rows: QuerySet[Any] = self.model._default_manager.all()
        if hasattr(rows, "for_user"):
            rows = rows.for_user(request.user)
        if not request.user.is_superuser:
            projects = self.readers(request).values("project_id")
            rows = rows.filter(**{f"{self.project_path}__in": projects})
        return rows.order_by(*self.get_ordering(request) or self.model._meta.ordering or ["pk"])

    def _has(self, request: HttpRequest, wanted: tuple[str, ...], obj: Model | None) -> bool:
        project = self._project_of(obj) if obj is not None else None
        return has_role(request.user, project, *wanted, of_site=self.of_site)

    def _opens(self, request: HttpRequest, obj: Model | None) -> bool:
        project = self._project_of(obj) if obj is not None else None
        return has_role(request.user, project, *self.view_roles, of_site=not self.whole_study)

    def _project_of(self, obj: Model) -> Any:
        value: Any = obj
        for name in self.project_path.split("__"):
            value = getattr(value, name)
        return value

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Whether the menu shows the page."""
        return self._opens(request, None)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """A view role in the row's study."""
        return self._opens(request, obj)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """An edit role in the row's study."""
        return self._has(request, self.edit_roles, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """An add role in any study; the form offers those studies only."""
        return self._has(request, self.add_roles, None)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """A delete role in the row's study."""
        return self._has(request, self.delete_roles, obj)

    def render_change_form(
        self, request: HttpRequest, context: Any, *args: Any, obj: Any = None, **kwargs: Any
    ) -> Any:
        """The page of one row; who it is about is noted (`projects.reads`)."""
        if record_id := getattr(obj, "record_id", None):
            reads.note(
                actor=request.user, project=obj.project_id, record_ids=[record_id], door="console"
            )
        return super().render_change_form(request, context, *args, obj=obj, **kwargs)

    def get_list_display(self, request: HttpRequest) -> Any:
        """The columns, with the study where the reader has several and without it where there is one."""
        return self.with_study(super().get_list_display(request), request)

    def with_study(self, columns: Iterable[Any], request: HttpRequest) -> list[Any]:
        """`columns` with the study where it has to be said; a first column stays, it is the row's link."""
        first, *others = columns
        if self.project_path == "pk" or "project" in (first, *others):
            return [first, *others]
        if has_several(request.user):
            return [first, *others, *({STUDY} - {first, *others})]
        return [first, *(name for name in others if name != STUDY)]

    @admin.display(description=_("project"), ordering="project")
    def show_project(self, obj: Any) -> str:
        """The study's code: the full name would fill the list."""
        return obj.project.code if obj.project else "-"

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """A new row is of the study that the reader has turned to, unless the address names one."""
        study = chosen(request)
        return ({"project": str(study.pk)} if study else {}) | dict(
            super().get_changeform_initial_data(request)
        )

    def get_form(
        self, request: HttpRequest, obj: Model | None = None, change: bool = False, **kwargs: Any
    ) -> Any:
        """The form with the names of `labels`; Django shows these beside read-only values, too."""
        names = {"project": _("Project"), **self.labels}
        return super().get_form(request, obj, change, labels=names, **kwargs)

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        """A row stays in the study it was made in."""
        fields = [*super().get_readonly_fields(request, obj)]
        return [*fields, "project"] if obj and self.project_path == "project_id" else fields

    def get_fieldsets(self, request: HttpRequest, obj: Model | None = None) -> Any:
        """JSON columns are shown indented to those who only read, codes as such."""
        given = super().get_fieldsets(request, obj)
        if self._writes(request, obj):
            return given
        return [
            (name, {**options, "fields": [self._readable(item) for item in options["fields"]]})
            for name, options in given
        ]

    def _writes(self, request: HttpRequest, obj: Model | None) -> bool:
        if obj is None:
            return self.has_add_permission(request)
        return self.has_change_permission(request, obj)

    def _readable(self, item: Any) -> Any:
        if isinstance(item, list | tuple):
            return tuple(self._readable(part) for part in item)
        if item in self.codes:
            return coded(self.model, item)
        try:
            field = self.model._meta.get_field(item)
        except (FieldDoesNotExist, TypeError):
            return item
        if not isinstance(field, models.JSONField):
            return item
        return readable(item, str(field.verbose_name))

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Choices of a foreign key are the user's rows, too; projects: those the user may write in."""
        manager: Any = db_field.remote_field.model._default_manager
        if "queryset" not in kwargs and hasattr(manager.all(), "for_user"):
            rows = manager.for_user(request.user)
            if db_field.remote_field.model is Project and not request.user.is_superuser:
                rows = rows.filter(pk__in=self.holders(request, self.add_roles).values("project"))
            kwargs["queryset"] = rows
        return super().formfield_for_foreignkey(db_field, request, **kwargs)


class ReadOnlyInline(TabularInline):  # type: ignore[misc]
    """Rows that are only looked at; who sees the parent sees them."""

    extra = 0
    max_num = 0
    can_delete = False
    hide_title = True

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """The parent's page decides."""
        return True

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Never."""
        return False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Never."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Never."""
        return False


class HouseAdmin(DeclaredAdmin):
    """Tables of the house: superusers look at them, nobody edits."""

    formfield_overrides = JSON_BOX
    list_per_page = 50
    show_full_result_count = False
    compressed_fields = True

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Superusers."""
        return request.user.is_superuser

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Superusers."""
        return request.user.is_superuser

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Never."""
        return False

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Never."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Never."""
        return False

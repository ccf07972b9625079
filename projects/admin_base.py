"""Base of the console's pages: rows by membership, rights by role, writes by services.

Django's own permissions are not used for study data: what a person may see and do follows from the
memberships alone (design.md 9.7), as in chat and API.
"""

from __future__ import annotations

from typing import Any, ClassVar

from django.db.models import Model, QuerySet
from django.http import HttpRequest
from unfold.admin import ModelAdmin, TabularInline

from projects.access import memberships
from projects.models import Role

EVERYONE = tuple(Role.values)


def roles(request: HttpRequest) -> set[str]:
    """Roles the user holds in any study; a superuser holds all."""
    if request.user.is_superuser:
        return set(EVERYONE)
    cached: set[str] | None = getattr(request, "_iit_roles", None)
    if cached is None:
        cached = set(memberships(request.user).values_list("role", flat=True))
        request._iit_roles = cached  # type: ignore[attr-defined]
    return cached


def supervises(request: HttpRequest) -> bool:
    """Whether the menu shows what only administrators and auditors look after."""
    return bool({Role.ADMIN, Role.AUDITOR} & roles(request))


def administers(request: HttpRequest) -> bool:
    """Whether the menu shows the house's own tables."""
    return request.user.is_superuser


class ScopedAdmin(ModelAdmin):
    """Shows rows of the user's studies; `edit_roles` may change them."""

    view_roles: ClassVar[tuple[str, ...]] = EVERYONE
    edit_roles: ClassVar[tuple[str, ...]] = ()
    add_roles: ClassVar[tuple[str, ...]] = ()
    delete_roles: ClassVar[tuple[str, ...]] = ()
    project_path: ClassVar[str] = "project_id"
    list_per_page = 50
    show_full_result_count = False
    warn_unsaved_form = True
    compressed_fields = True

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = self.model._default_manager.for_user(request.user)  # type: ignore[attr-defined]
        return rows.order_by(*self.get_ordering(request) or self.model._meta.ordering or ["pk"])

    def _has(self, request: HttpRequest, wanted: tuple[str, ...], obj: Model | None) -> bool:
        if request.user.is_superuser:
            return bool(wanted)
        if obj is None:
            return bool(set(wanted) & roles(request))
        project = self._project_of(obj)
        return memberships(request.user).filter(project_id=project, role__in=wanted).exists()

    def _project_of(self, obj: Model) -> Any:
        value: Any = obj
        for name in self.project_path.split("__"):
            value = getattr(value, name)
        return value

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self._has(request, self.view_roles, None)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self._has(request, self.view_roles, obj)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self._has(request, self.edit_roles, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self._has(request, self.add_roles, None)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self._has(request, self.delete_roles, obj)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Choices of a foreign key are the user's rows, too."""
        manager: Any = db_field.remote_field.model._default_manager
        if "queryset" not in kwargs and hasattr(manager.all(), "for_user"):
            kwargs["queryset"] = manager.for_user(request.user)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)


class ReadOnlyInline(TabularInline):
    """Rows that are only looked at; who sees the parent sees them."""

    extra = 0
    max_num = 0
    can_delete = False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class HouseAdmin(ModelAdmin):
    """Tables of the house: superusers look at them, nobody edits."""

    list_per_page = 50
    show_full_result_count = False

    def has_module_permission(self, request: HttpRequest) -> bool:
        return request.user.is_superuser

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return request.user.is_superuser

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

"""The page of a text with versions: what each changed, an older one again, two writers at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import path
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from memory.hot import save
from projects import actors
from projects.admin_base import ScopedAdmin
from projects.models import Role
from projects.scoping import User, held
from study.blinding import veil

EDITORS = (Role.ADMIN, Role.PI)
_VERSIONS = 20


def edits(user: User, project_id: Any = None) -> bool:
    """Whether the user may change a study's (any study's) texts: administrators and PIs of all its sites."""
    if getattr(user, "is_superuser", False):
        return True
    editing = (one for one in held(user) if one.role in EDITORS and not one.site)
    return any(not project_id or str(one.project_id) == str(project_id) for one in editing)


def posted_version(request: HttpRequest) -> int:
    """The version that the sender had read; 0 for what is none."""
    sent = request.POST.get("version", "")
    return int(sent) if sent.isdecimal() and len(sent) < 10 else 0


def changes(row: Any, user: User) -> list[dict[str, Any]]:
    """The newest versions of a text that the user may see, each with what it changed."""
    versions = row.versions.order_by("-version")
    if veil.of_user(row.project, user).fields:
        versions = versions.filter(created_at__gte=row.project.blinded_since)
    newest = list(versions[: _VERSIONS + 1])
    before = [*(version.content for version in newest[1:]), ""]
    return [
        {
            "row": version,
            "author": actors.told(version.author),
            "diff": save.diff(old, version.content),
        }
        for version, old in zip(newest, before, strict=False)
    ][:_VERSIONS]


class VersionedAdmin(ScopedAdmin):
    """Goes with `versioned_form.VersionedTextForm` and `memory/_versions.html`.

    `restore` takes version, actor and base_version; it raises `conflict` or `too_long`.
    """

    edit_roles = EDITORS
    restore: ClassVar[Callable[..., Any]]
    conflict: ClassVar[type[Exception]]
    too_long: ClassVar[type[Exception]]

    def get_urls(self) -> Any:
        """With the address that restores a version."""
        view = self.admin_site.admin_view(self.restore_view)
        name = f"{self.opts.app_label}_{self.opts.model_name}_restore"
        return [path("<uuid:pk>/restore/<int:number>/", view, name=name), *super().get_urls()]

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Editors see every line they save: a membership with a site does not edit."""
        may = super().has_change_permission(request, obj)
        return may and edits(request.user, obj.project_id if obj else None)

    def beside(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        """What the page shows beside its form; nothing of it for those who only read."""
        return (
            {"text_versions": changes(row, request.user)}
            if edits(request.user, row.project_id)
            else {}
        )

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: Any = None,
    ) -> Any:
        """Somebody may save between our check and our write: the second try shows both texts."""
        row = self.get_object(request, object_id) if object_id else None
        extra = (extra_context or {}) | (self.beside(request, row) if row else {})
        try:
            return super().changeform_view(request, object_id, form_url, extra)
        except self.conflict:
            return super().changeform_view(request, object_id, form_url, extra)

    @method_decorator(require_POST)
    def restore_view(self, request: HttpRequest, pk: UUID, number: int) -> HttpResponse:
        """An older version again, as a new one."""
        row = get_object_or_404(self.model._default_manager.for_user(request.user), pk=pk)
        if not edits(request.user, row.project_id):
            raise Http404
        version = get_object_or_404(row.versions, version=number)
        try:
            self.restore(version=version, actor=request.user, base_version=posted_version(request))
        except (self.conflict, self.too_long) as error:
            messages.error(request, str(error))
        else:
            messages.success(request, _("Version %(number)d is back.") % {"number": number})
        return redirect(f"admin:{self.opts.app_label}_{self.opts.model_name}_change", pk)

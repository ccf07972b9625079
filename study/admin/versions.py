"""The page of a row that keeps its versions: what each changed, and an older one again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import path
from django.utils.decorators import method_decorator
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from core.house.admin_json import pretty
from core.house.line_diff import changed_lines
from projects import actors
from projects.admin_base import ReadOnlyInline, ScopedAdmin

_SHOWN = 20


class VersionInline(ReadOnlyInline):
    """All versions of a row, each as a whole; `kept` is the column that holds it."""

    kept = "content"
    fields = ("version", "show_author", "created_at", "show_kept")
    readonly_fields = fields
    tab = True
    per_page = 10

    show_author = actors.column("author", _("author"))

    @admin.display(description=_("content"))
    def show_kept(self, obj: Any) -> SafeString:
        """Text as it stands, JSON indented."""
        value = getattr(obj, self.kept)
        return format_html(
            '<details class="iit-folded"><summary>{}</summary>'
            '<pre class="iit-json" tabindex="0">{}</pre></details>',
            _("Show"),
            value if isinstance(value, str) else pretty(value),
        )


class VersionedAdmin(ScopedAdmin):
    """Shows `versions` of a row (with version, author and `kept` columns) and restores one.

    `restore` takes version, actor and base_version (what its sender had read) and raises one of `refused`.
    """

    change_form_template = "study/versioned.html"
    kept: ClassVar[tuple[str, ...]] = ("content",)
    restore: ClassVar[Callable[..., Any]]
    refused: ClassVar[tuple[type[Exception], ...]] = (ValidationError,)

    def get_urls(self) -> Any:
        """With the address that restores a version."""
        view = self.admin_site.admin_view(self.restore_view)
        name = f"{self.opts.app_label}_{self.opts.model_name}_restore"
        return [path("<uuid:pk>/restore/<int:number>/", view, name=name), *super().get_urls()]

    def versions_of(self, request: HttpRequest, row: Any) -> QuerySet[Any]:
        """The versions whose changes this reader is shown."""
        versions: QuerySet[Any] = row.versions.order_by("-version")
        return versions

    def beside(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        """What the page shows beside its form."""
        newest = list(self.versions_of(request, row)[: _SHOWN + 1])
        texts = [*map(self._written, newest), ""]
        shown = zip(newest, texts[1:], texts[:-1], strict=True)
        changes = [
            {
                "row": version,
                "author": actors.describe_actor(version.author),
                "diff": changed_lines(before, after),
            }
            for version, before, after in shown
        ]
        may = self.has_change_permission(request, row)
        return {"versions": changes[:_SHOWN], "may_restore": may}

    def _written(self, version: Any) -> str:
        values = {name: getattr(version, name) for name in self.kept}
        only = next(iter(values.values()))
        return only if isinstance(only, str) and len(values) == 1 else pretty(values)

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: Any = None,
    ) -> Any:
        """Somebody may save between our check and our write: the second try shows what they wrote."""
        row = self.get_object(request, object_id) if object_id else None
        extra = (extra_context or {}) | (self.beside(request, row) if row else {})
        try:
            return super().changeform_view(request, object_id, form_url, extra)
        except self.refused:
            return super().changeform_view(request, object_id, form_url, extra)

    def row_to_edit(self, request: HttpRequest, pk: UUID) -> Any:
        """The row where the user may change it. Raises Http404."""
        row = get_object_or_404(self.get_queryset(request), pk=pk)
        if not self.has_change_permission(request, row):
            raise Http404
        return row

    def written(
        self, request: HttpRequest, row: Any, done: str, write: Callable[[int], Any]
    ) -> HttpResponse:
        """Back to the page once `write` was called with the version that the sender had read, with `done`."""
        try:
            write(version_number(request.POST.get("version", "")))
        except self.refused as error:
            told = error.messages if isinstance(error, ValidationError) else [str(error)]
            messages.error(request, " ".join(told))
        else:
            messages.success(request, done)
        return redirect(f"admin:{self.opts.app_label}_{self.opts.model_name}_change", row.pk)

    @method_decorator(require_POST)
    def restore_view(self, request: HttpRequest, pk: UUID, number: int) -> HttpResponse:
        """An older version again, as a new one."""
        row = self.row_to_edit(request, pk)
        version = get_object_or_404(row.versions, version=number)

        def again(base: int) -> None:
            self.restore(version=version, actor=request.user, base_version=base)

        done = gettext("Version %(number)d is back.") % {"number": number}
        return self.written(request, row, done, again)


def version_number(sent: str) -> int:
    """A version's number as it was sent; 0 for what is none."""
    return int(sent) if sent.isdecimal() and len(sent) < 10 else 0

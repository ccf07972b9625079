"""The study's documents: added from a file or a pasted text, searched at once, replaced by a new version."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action
from unfold.widgets import UnfoldAdminFileFieldWidget, UnfoldAdminTextareaWidget

from core.house.admin_text import rendered
from projects.admin_base import BY_PROJECT, ReadOnlyInline, ScopedAdmin
from projects.models import Project, Role
from study.admin import uploads
from study.models import ProtocolChunk, ProtocolDocument
from study.protocol import index
from study.protocol.index import DocumentError
from study.protocol.rules import rule_lines


class DocumentForm(forms.ModelForm):
    """A text, from a file or from the box; one of the same name becomes the version before."""

    file = forms.FileField(
        label=_("file"),
        required=False,
        widget=UnfoldAdminFileFieldWidget,
        help_text=_(
            "Text or Markdown, UTF-8 or GB18030, at most 1 MB. PDF and Word: “Upload files” on the list."
        ),
    )
    pasted = forms.CharField(
        label=_("or the text itself"),
        required=False,
        strip=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 20}),
    )

    class Meta:
        model = ProtocolDocument
        fields = ("project", "name", "version")
        help_texts = {
            "name": _("A document of the same name is replaced; its old version is kept.")
        }

    def validate_constraints(self) -> None:
        """The active document of this name makes room: it is no reason to refuse."""

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        file, pasted = cleaned.get("file"), cleaned.get("pasted") or ""
        if self.errors:
            return cleaned
        if bool(file) == bool(pasted.strip()):
            raise ValidationError(_("Give a file or a text, one of the two."))
        try:
            raw = file.read(index.MAX_BYTES + 1) if file else b""
            self.instance.text = (
                index.decoded_document(raw) if file else index.checked_document(pasted)
            )
        except DocumentError as error:
            self.add_error("file" if file else "pasted", str(error))
        return cleaned


class ChunkInline(ReadOnlyInline):
    model = ProtocolChunk
    fields = ("position", "heading", "content")
    readonly_fields = fields
    tab = True
    per_page = 20


@admin.register(ProtocolDocument)
class ProtocolDocumentAdmin(ScopedAdmin):
    empty = _(
        "No document yet: questions about the protocol are answered from those uploaded here."
    )
    form = DocumentForm
    add_roles = delete_roles = (Role.ADMIN,)
    list_display = (
        *("name", "version", "is_active", "effective_on"),
        *("show_sections", "show_project", "updated_at"),
    )
    list_filter = (BY_PROJECT, "is_active")
    search_fields = ("name", "text")
    fields = (
        "project",
        ("name", "version"),
        ("is_active", "effective_on", "updated_at"),
        "show_touched",
        "show_text",
    )
    add_fields = ("project", ("name", "version"), "file", "pasted")
    readonly_fields = ("is_active", "effective_on", "updated_at", "show_touched", "show_text")
    inlines = (ChunkInline,)
    actions_list = ("upload_files", "try_search")

    def get_urls(self) -> Any:
        """With the pages of uploaded files."""
        wrap, name = self.admin_site.admin_view, "study_protocoldocument"
        own = [
            path("upload/", wrap(uploads.upload_view), name=f"{name}_upload"),
            path(
                "upload/<int:protocolupload>/", wrap(uploads.preview_view), name=f"{name}_preview"
            ),
        ]
        return [*own, *super().get_urls()]

    @action(
        description=_("Upload files"),
        url_path="upload-files",
        icon="upload_file",
        permissions=["add"],
    )
    def upload_files(self, request: HttpRequest) -> HttpResponse:
        """To the page where PDF, Word and text files are dropped."""
        return redirect("admin:study_protocoldocument_upload")

    @action(description=_("Try a search"), url_path="search", icon="search")
    def try_search(self, request: HttpRequest) -> HttpResponse:
        """What a question finds in the study's documents, as the assistant searches them."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        held = Project.objects.for_user(request.user).order_by("code")
        asked, code = request.GET.get("q", "").strip()[:500], request.GET.get("project", "")
        project = held.filter(code=code).first() or held.first()
        context = self.admin_site.each_context(request) | {
            "title": _("Try a search"),
            "opts": self.opts,
            "projects": held,
            "project": project,
            "asked": asked,
        }
        if project and asked:
            told = index.find_rules(project, asked).quoted
            context |= {"rules": rule_lines(told), "first": next(iter(told), None)}
            context["found"] = [
                {
                    "passage": one,
                    "heading": one.content.partition("\n")[0],
                    "share": round(100 * (one.score or 0)),
                }
                for one in index.search(project, asked)
            ]
        return render(request, "study/search.html", context)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request)
        counted: QuerySet[Any] = rows.annotate(sections=Count("chunks"))
        return counted

    def get_fields(self, request: HttpRequest, obj: ProtocolDocument | None = None) -> Any:
        return self.fields if obj else self.add_fields

    def get_inlines(self, request: HttpRequest, obj: ProtocolDocument | None) -> Any:
        return self.inlines if obj else ()

    @admin.display(description=_("rules and windows"))
    def show_touched(self, obj: ProtocolDocument) -> Any:
        return format_html(
            '<a class="iit-link" href="{}">{}</a>',
            reverse("amendment_flags", args=[obj.pk]),
            _("What this version touches: rules, visit windows, subjects, findings"),
        )

    @admin.display(description=_("text"))
    def show_text(self, obj: ProtocolDocument) -> Any:
        return rendered(obj.text)

    @admin.display(description=_("sections"), ordering="sections")
    def show_sections(self, obj: Any) -> int:
        return int(obj.sections)

    def save_model(
        self, request: HttpRequest, obj: ProtocolDocument, form: Any, change: bool
    ) -> None:
        stored = index.add_document(
            project=obj.project,
            name=obj.name,
            text=obj.text,
            version=obj.version,
            actor=request.user,
        )
        obj.pk = stored.pk

    def delete_model(self, request: HttpRequest, obj: ProtocolDocument) -> None:
        index.delete_document(document=obj, actor=request.user)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for document in queryset:
            self.delete_model(request, document)

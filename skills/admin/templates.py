from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import path
from django.utils.decorators import method_decorator
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST
from unfold.decorators import action

from projects.admin_base import BY_PROJECT, ScopedAdmin
from skills import form_templates
from skills.admin import match_page
from skills.admin.base import ADMIN, administered
from skills.models import FormTemplate

_SHOWN = 20


class FormTemplateForm(forms.ModelForm):
    """Saved only when both columns are of their kind; an empty box holds no keywords."""

    class Meta:
        model = FormTemplate
        fields = ("project", "form_name", "field_schema", "keywords")

    def clean_keywords(self) -> Any:
        given = self.cleaned_data["keywords"]
        return [] if given is None else given

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if not self.errors:
            form_templates.check_template(FormTemplate(**cleaned))
        return cleaned


@admin.register(FormTemplate)
class FormTemplateAdmin(ScopedAdmin):
    empty = _("No form template yet: draft them from the data dictionary.")
    form = FormTemplateForm
    edit_roles = add_roles = delete_roles = ADMIN
    change_form_template = "skills/form_template.html"
    list_display = ("form_name", "show_fields", "version", "show_project", "created_at")
    list_filter = (BY_PROJECT,)
    search_fields = ("form_name",)
    fields = ("project", "form_name", "field_schema", "keywords")
    actions_list = ("match_text",)

    @admin.display(description=_("fields"))
    def show_fields(self, obj: FormTemplate) -> int:
        return len(obj.field_schema)

    @action(
        description=_("Try a text, propose forms"),
        url_path="match",
        permissions=["match"],
        icon="document_scanner",
    )
    def match_text(self, request: HttpRequest) -> HttpResponse:
        """Which template a text belongs to, and forms that have none yet."""
        return match_page.match_view(request, self, administered(self, request))

    def has_match_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_add_permission(request)

    def get_urls(self) -> Any:
        view = self.admin_site.admin_view(self.restore_view)
        name = "skills_formtemplate_restore"
        return [path("<uuid:pk>/restore/<int:number>/", view, name=name), *super().get_urls()]

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: Any = None,
    ) -> Any:
        """With what each version changed."""
        row = self.get_object(request, object_id) if object_id else None
        told = {}
        if row is not None:
            newest = list(row.versions.order_by("-version")[:_SHOWN])
            told = {
                "form_versions": form_templates.changes(newest),
                "may_restore": self.has_change_permission(request, row),
            }
        return super().changeform_view(request, object_id, form_url, (extra_context or {}) | told)

    @method_decorator(require_POST)
    def restore_view(self, request: HttpRequest, pk: Any, number: int) -> HttpResponse:
        """An older version again, as a new one."""
        row = get_object_or_404(self.get_queryset(request), pk=pk)
        if not self.has_change_permission(request, row):
            raise PermissionDenied
        version = get_object_or_404(
            row.versions.select_related("template__project"), version=number
        )
        try:
            form_templates.restore_version(version=version, actor=request.user)
        except ValidationError as error:
            messages.error(request, " ".join(error.messages))
        else:
            told = gettext("Version %(number)d is back.") % {"number": number}
            messages.success(request, told)
        return redirect("admin:skills_formtemplate_change", pk)

    def save_model(self, request: HttpRequest, obj: FormTemplate, form: Any, change: bool) -> None:
        form_templates.save_template(template=obj, actor=request.user)

    def delete_model(self, request: HttpRequest, obj: FormTemplate) -> None:
        form_templates.delete_template(template=obj, actor=request.user)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        for template in queryset:
            self.delete_model(request, template)

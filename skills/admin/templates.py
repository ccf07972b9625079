from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from house.db import atomic
from projects import audit
from projects.admin_base import BY_PROJECT, ScopedAdmin
from skills import services
from skills.admin.base import ADMIN
from skills.models import FormTemplate


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
            services.check_template(FormTemplate(**cleaned))
        return cleaned


@admin.register(FormTemplate)
class FormTemplateAdmin(ScopedAdmin):
    form = FormTemplateForm
    edit_roles = add_roles = delete_roles = ADMIN
    list_display = ("form_name", "show_project", "created_at")
    list_filter = (BY_PROJECT,)
    search_fields = ("form_name",)
    fields = ("project", "form_name", "field_schema", "keywords")

    def save_model(self, request: HttpRequest, obj: FormTemplate, form: Any, change: bool) -> None:
        services.save_template(template=obj, actor=request.user)

    def delete_model(self, request: HttpRequest, obj: FormTemplate) -> None:
        with atomic():
            old = {"form": obj.form_name, "fields": obj.field_schema, "keywords": obj.keywords}
            audit.record(
                "template.change", actor=request.user, project=obj.project, subject=obj, old=old
            )
            obj.delete()

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        for template in queryset:
            self.delete_model(request, template)

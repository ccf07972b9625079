from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action

from projects.admin_base import BY_PROJECT
from skills import form_templates
from skills.admin import match_page
from skills.admin.base import ADMIN, confirm_page
from skills.models import FormTemplate
from study.admin.versions import VersionedAdmin


class FormTemplateForm(forms.ModelForm):
    """Saved only when both columns are of their kind; an empty box holds no keywords."""

    base_version = forms.IntegerField(widget=forms.HiddenInput, required=False, label="")

    class Meta:
        model = FormTemplate
        fields = ("project", "form_name", "field_schema", "keywords")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.stands = None if self.instance._state.adding else self.instance.version
        self.initial["base_version"] = self.stands

    def clean_keywords(self) -> Any:
        given = self.cleaned_data["keywords"]
        return [] if given is None else given

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.pop("base_version", None) != self.stands:
            self.add_error(None, form_templates.changed())
        if not self.errors:
            form_templates.check_template(FormTemplate(**cleaned))
        return cleaned


@admin.register(FormTemplate)
class FormTemplateAdmin(VersionedAdmin):
    empty = _("No form template yet: draft them from the data dictionary.")
    form = FormTemplateForm
    edit_roles = add_roles = delete_roles = ADMIN
    kept = form_templates.KEPT
    restore = staticmethod(form_templates.restore_version)
    list_display = ("form_name", "show_fields", "version", "show_project", "created_at")
    list_filter = (BY_PROJECT,)
    search_fields = ("form_name",)
    fields = ("project", "form_name", "field_schema", "keywords", "base_version")
    actions_list = ("match_text",)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """What was read is for writers."""
        names = super().get_fields(request, obj)
        return [one for one in names if one != "base_version" or self._writes(request, obj)]

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
        return confirm_page(
            self,
            request,
            name="admin:skills_formtemplate_match_text",
            title=gettext("Try a text, propose forms"),
            template="skills/match.html",
            offer=match_page.offer,
            apply=match_page.apply_chosen,
            confirms="take",
        )

    def has_match_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_add_permission(request)

    def save_model(self, request: HttpRequest, obj: FormTemplate, form: Any, change: bool) -> None:
        base = form.stands if change else None
        form_templates.save_template(template=obj, actor=request.user, base_version=base)

    def delete_model(self, request: HttpRequest, obj: FormTemplate) -> None:
        form_templates.delete_template(template=obj, actor=request.user)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        for template in queryset:
            self.delete_model(request, template)

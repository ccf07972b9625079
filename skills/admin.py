from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from projects import audit
from projects.admin_base import BY_PROJECT, ReadOnlyInline, ScopedAdmin
from projects.admin_json import JsonTextarea, folded
from projects.db import atomic
from projects.models import Role
from skills import services
from skills.models import FieldMapping, FormTemplate, Skill, SkillVersion
from skills.validation import validate

ADMIN = (Role.ADMIN,)


class SkillForm(forms.ModelForm):
    """Saved only when the graph is a workflow."""

    class Meta:
        model = Skill
        fields = (
            "project",
            "skill_type",
            "name",
            "is_active",
            "trigger_type",
            "cron_schedule",
            "config",
        )
        widgets = {"config": JsonTextarea(attrs={"rows": 32})}

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if self.errors:
            return cleaned
        for name, value in cleaned.items():
            setattr(self.instance, name, value)
        try:
            services.check_skill(self.instance)
        except ValidationError as error:
            for name, texts in error.message_dict.items():
                self.add_error(name if name in self.fields else None, texts)
        return cleaned


class VersionInline(ReadOnlyInline):
    model = SkillVersion
    fields = ("version", "author", "created_at", "show_config")
    readonly_fields = fields
    tab = True
    per_page = 10

    @admin.display(description=_("configuration"))
    def show_config(self, obj: SkillVersion) -> SafeString:
        return folded(_("Show"), obj.config)


@admin.register(Skill)
class SkillAdmin(ScopedAdmin):
    form = SkillForm
    edit_roles = add_roles = delete_roles = ADMIN
    list_display = ("name", "skill_type", "show_trigger", "cron_schedule", "version", "is_active")
    list_filter = (BY_PROJECT, "trigger_type", "is_active")
    search_fields = ("name", "skill_type")
    fields = (
        ("project", "skill_type"),
        ("name", "is_active"),
        ("trigger_type", "cron_schedule"),
        ("version", "updated_at"),
        "show_problems",
        "config",
    )
    readonly_fields = ("version", "updated_at", "show_problems")
    inlines = (VersionInline,)

    @display(
        description=_("trigger"),
        ordering="trigger_type",
        label={"webhook": "info", "cron": "success", "event": "warning"},
    )
    def show_trigger(self, obj: Skill) -> tuple[str, str]:
        return obj.trigger_type, obj.get_trigger_type_display()

    @admin.display(description=_("problems"))
    def show_problems(self, obj: Skill) -> SafeString | str:
        """What the check says about the saved configuration, warnings too."""
        problems = validate(obj.config, obj.project) if obj.config else []
        if not problems:
            return str(_("None")) if obj.config else "-"
        rows = (
            ("warning" if found.is_warning else "error", found.path, found.message)
            for found in problems
        )
        lines = format_html_join("", '<li class="iit-{}"><code>{}</code> {}</li>', rows)
        return format_html('<ul class="iit-problems">{}</ul>', lines)

    def save_model(self, request: HttpRequest, obj: Skill, form: Any, change: bool) -> None:
        services.save_skill(skill=obj, actor=request.user)

    def delete_model(self, request: HttpRequest, obj: Skill) -> None:
        services.delete_skill(skill=obj, actor=request.user)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        for skill in queryset:
            services.delete_skill(skill=skill, actor=request.user)


@admin.register(FieldMapping)
class FieldMappingAdmin(ScopedAdmin):
    edit_roles = add_roles = delete_roles = ADMIN
    list_display = ("alias_name", "actual_name", "show_project")
    list_filter = (BY_PROJECT,)
    search_fields = ("alias_name", "actual_name")
    fields = ("project", "alias_name", "actual_name")

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


@admin.register(FormTemplate)
class FormTemplateAdmin(ScopedAdmin):
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

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from projects.admin_base import ReadOnlyInline, ScopedAdmin
from projects.models import Role
from skills import services
from skills.models import FieldMapping, FormTemplate, Skill, SkillVersion

ADMIN = (Role.ADMIN,)


class SkillForm(forms.ModelForm):
    """Saved only when the graph is a workflow."""

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if self.errors:
            return cleaned
        for name, value in cleaned.items():
            setattr(self.instance, name, value)
        try:
            services.check_skill(self.instance)
        except ValidationError as error:
            self.add_error(None, [text for texts in error.message_dict.values() for text in texts])
        return cleaned


class VersionInline(ReadOnlyInline):
    model = SkillVersion
    fields = ("version", "author", "created_at")
    readonly_fields = fields
    tab = True


@admin.register(Skill)
class SkillAdmin(ScopedAdmin):
    form = SkillForm
    edit_roles = add_roles = delete_roles = ADMIN
    list_display = ("name", "skill_type", "show_trigger", "cron_schedule", "version", "is_active")
    list_filter = ("trigger_type", "is_active")
    search_fields = ("name", "skill_type")
    fields = (
        ("project", "skill_type"),
        ("name", "is_active"),
        ("trigger_type", "cron_schedule"),
        "version",
        "config",
    )
    readonly_fields = ("version",)
    inlines = (VersionInline,)

    @display(
        description=_("trigger"),
        ordering="trigger_type",
        label={"webhook": "info", "cron": "success", "event": "warning"},
    )
    def show_trigger(self, obj: Skill) -> tuple[str, str]:
        return obj.trigger_type, obj.get_trigger_type_display()

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
    list_display = ("alias_name", "actual_name", "project")
    search_fields = ("alias_name", "actual_name")
    fields = ("project", "alias_name", "actual_name")

    def save_model(self, request: HttpRequest, obj: FieldMapping, form: Any, change: bool) -> None:
        services.save_mapping(mapping=obj, actor=request.user)


@admin.register(FormTemplate)
class FormTemplateAdmin(ScopedAdmin):
    edit_roles = add_roles = delete_roles = ADMIN
    list_display = ("form_name", "project", "created_at")
    search_fields = ("form_name",)
    fields = ("project", "form_name", "field_schema", "keywords")

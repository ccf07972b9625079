from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import path
from django.utils.http import content_disposition_header
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action, display

from core.house.admin_json import JsonTextarea
from projects.admin_base import BY_PROJECT, ScopedAdmin
from skills import editor, outline, services, skill_exchange
from skills.admin import import_page
from skills.admin.base import ADMIN, administered
from skills.models import Skill, SkillVersion
from study.admin.versions import VersionInline


def starter() -> dict[str, Any]:
    """What the box of a new workflow opens with: the smallest one that can be saved."""
    ask = {
        "type": "human_review",
        "description": gettext("What is to be decided?"),
        "on_approve": "end_success",
        "on_reject": "end_rejected",
    }
    return {"start_node": "ask", "nodes": {"ask": ask}}


def _stamp(skill: Skill) -> str:
    return "" if skill._state.adding else skill.updated_at.isoformat()


class SkillForm(forms.ModelForm):
    """Saved only when the graph is a workflow, and nobody else saved it since the page was opened."""

    read_at = forms.CharField(widget=forms.HiddenInput, required=False, label="")

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

    class Media:
        js = (
            "iit/vendor/cytoscape.min.js",
            "iit/vendor/dagre.min.js",
            "iit/vendor/cytoscape-dagre.js",
            "iit/skill.js",
            "iit/sop.js",
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.instance.config:
            self.initial["config"] = starter()
        self.initial["read_at"] = _stamp(self.instance)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.pop("read_at", "") != _stamp(self.instance):
            self.add_error(None, str(services.SkillChanged()))
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


class SkillVersionInline(VersionInline):
    model = SkillVersion
    kept = "config"


@admin.register(Skill)
class SkillAdmin(ScopedAdmin):
    empty = _("No workflow yet: take over the standard ones or import your own.")
    form = SkillForm
    edit_roles = add_roles = delete_roles = ADMIN
    list_display = ("name", "skill_type", "show_trigger", "cron_schedule", "version", "is_active")
    codes = ("skill_type", "cron_schedule")
    list_filter = (BY_PROJECT, "trigger_type", "is_active")
    search_fields = ("name", "skill_type")
    fields = (
        ("project", "skill_type"),
        ("name", "is_active"),
        ("trigger_type", "cron_schedule"),
        ("version", "updated_at"),
        "config",
        "read_at",
        "show_check",
    )
    readonly_fields = ("version", "updated_at", "show_check")
    inlines = (SkillVersionInline,)
    actions_list = ("import_skills",)
    actions_detail = ("export_skill",)

    @action(description=_("Import"), url_path="import", permissions=["import"], icon="upload_file")
    def import_skills(self, request: HttpRequest) -> HttpResponse:
        """Take skills from a JSON text, or standard ones."""
        return import_page.import_view(request, self, administered(self, request))

    def has_import_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_add_permission(request)

    @action(description=_("Save as a file"), url_path="export", icon="download")
    def export_skill(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """The skill as a file that can be imported again."""
        skill = self.get_object(request, object_id)
        if skill is None or not self.has_view_permission(request, skill):
            raise PermissionDenied
        name = f"{skill.project.code}-{skill.skill_type.replace(':', '-')}.json"
        options = {"ensure_ascii": False, "indent": 2}
        answer = JsonResponse(skill_exchange.exported(skill), json_dumps_params=options)
        answer["Content-Disposition"] = content_disposition_header(True, name) or ""
        return answer

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """What the database counts is not there before the first saving; the stamp is for writers."""
        absent: set[Any] = {"read_at"} if not self._writes(request, obj) else set()
        if obj is None:
            absent.add(("version", "updated_at"))
        return [one for one in super().get_fields(request, obj) if one not in absent]

    @display(
        description=_("trigger"),
        ordering="trigger_type",
        label={"webhook": "info", "cron": "success", "event": "warning"},
    )
    def show_trigger(self, obj: Skill) -> tuple[str, str]:
        return obj.trigger_type, obj.get_trigger_type_display()

    @admin.display(description=_("check"))
    def show_check(self, obj: Skill) -> SafeString:
        """What is wrong with the configuration, and its drawing."""
        project = obj.project if obj.project_id else None
        shown = editor.check_panel(obj.config, project) if obj.config else ""
        context = {
            "shown": shown,
            "project": project,
            "kinds": editor.kinds(),
            "outline": outline.outline(),
            "fields": outline.fields(project),
        }
        return render_to_string("skills/editor.html", context)

    def get_urls(self) -> Any:
        check = self.admin_site.admin_view(self.check_text)
        schema = self.admin_site.admin_view(self.schema)
        own = [
            path("check/", check, name="skills_skill_check"),
            path("schema/", schema, name="skills_skill_schema"),
        ]
        return own + super().get_urls()

    def check_text(self, request: HttpRequest) -> HttpResponse:
        """Check a text that is being written."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        return editor.check_view(request, administered(self, request))

    def schema(self, request: HttpRequest) -> HttpResponse:
        """The JSON Schema of a configuration."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        return editor.schema_view(request)

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Somebody may save between our check and our write."""
        try:
            return super().changeform_view(request, *args, **kwargs)
        except services.SkillChanged as error:
            messages.error(request, str(error))
            return redirect(request.path)

    def save_model(self, request: HttpRequest, obj: Skill, form: Any, change: bool) -> None:
        read = {"updated_at": form.instance.updated_at} if change else None
        services.save_skill(skill=obj, actor=request.user, read=read)

    def delete_model(self, request: HttpRequest, obj: Skill) -> None:
        services.delete_skill(skill=obj, actor=request.user)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        for skill in queryset:
            services.delete_skill(skill=skill, actor=request.user)

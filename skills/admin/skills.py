from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import path
from django.utils.http import content_disposition_header
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action, display

from projects import actors
from projects.admin_base import BY_PROJECT, ScopedAdmin
from skills import editor, outline, publish, rule_views, services, skill_exchange
from skills.admin import import_page
from skills.admin.base import ADMIN, administered
from skills.admin.skill_form import SkillForm, draft_of, stamp
from skills.changes import changes
from skills.models import Skill, SkillDraft, SkillVersion
from study.admin.versions import VersionInline, version_number
from study.blinding.mask import mask_of_user


class SkillVersionInline(VersionInline):
    model = SkillVersion
    kept = "config"
    is_edited = is_blinded = False

    def get_formset(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        """Known from here on: whether the reader of the page may change the workflow."""
        self.is_edited = bool(obj and obj.is_edited)
        self.is_blinded = bool(obj and obj.is_blinded)
        return super().get_formset(request, obj, **kwargs)

    def get_queryset(self, request: HttpRequest) -> QuerySet[SkillVersion]:
        """Each with the version before it."""
        older = SkillVersion.objects.filter(
            skill=OuterRef("skill"), version__lt=OuterRef("version")
        )
        before = Subquery(older.order_by("-version").values("config")[:1])
        rows: QuerySet[SkillVersion] = super().get_queryset(request)
        return rows.select_related("skill__project").annotate(before=before)

    @admin.display(description=_("content"))
    def show_kept(self, obj: Any) -> SafeString:
        """What it changed, the whole of it, and the way back to it."""
        project, is_blinded = obj.skill.project, self.is_blinded
        made = changes(obj.before, obj.config, project, is_blinded=is_blinded) if obj.before else []
        context = {
            "changes": made,
            "whole": super().show_kept(obj),
            "version": obj,
            "is_edited": self.is_edited,
        }
        return render_to_string("skills/version.html", context)


@admin.register(Skill)
class SkillAdmin(ScopedAdmin):
    change_form_template = "study/flagged_page.html"
    empty = _("No workflow yet: take over the standard ones or import your own.")
    form = SkillForm
    edit_roles = add_roles = delete_roles = ADMIN
    list_select_related = ("project", "draft")
    list_display = (
        *("name", "skill_type", "show_trigger", "cron_schedule"),
        *("version", "show_draft", "is_active"),
    )
    codes = ("skill_type", "cron_schedule")
    list_filter = (BY_PROJECT, "trigger_type", "is_active")
    search_fields = ("name", "skill_type")
    fields = (
        ("project", "skill_type"),
        ("name", "is_active"),
        ("trigger_type", "cron_schedule"),
        ("version", "updated_at"),
        "show_check",
        "effective_on",
        "config",
        "read_at",
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
        absent: set[Any] = set()
        if not self._writes(request, obj):
            absent |= {"read_at", "effective_on"}
        if obj is None:
            absent |= {("version", "updated_at"), "effective_on"}
        return [one for one in super().get_fields(request, obj) if one not in absent]

    @display(
        description=_("trigger"),
        ordering="trigger_type",
        label={"webhook": "info", "cron": "success", "event": "warning"},
    )
    def show_trigger(self, obj: Skill) -> tuple[str, str]:
        return obj.trigger_type, obj.get_trigger_type_display()

    @display(
        description=_("draft"),
        label={"draft": "info", "planned": "success", "refused": "danger"},
    )
    def show_draft(self, obj: Skill) -> tuple[str, str] | None:
        draft = draft_of(obj)
        if draft is None:
            return None
        if draft.effective_on:
            return "planned", gettext("takes effect on %s") % draft.effective_on
        return (
            ("refused", gettext("not published")) if draft.refused else ("draft", gettext("draft"))
        )

    def get_object(self, request: HttpRequest, object_id: str, from_field: Any = None) -> Any:
        """With what its page opens with: a version that was asked for, the draft, or what runs."""
        skill = super().get_object(request, object_id, from_field)
        if skill is None:
            return None
        skill.is_edited = self._writes(request, skill)
        skill.is_blinded = bool(mask_of_user(skill.project, request.user).hidden())
        if skill.is_edited and request.method == "GET":
            number = version_number(request.GET.get("version", ""))
            version = skill.versions.filter(version=number).first()
            skill.is_older = version is not None
            skill.shown = version.config if version else getattr(draft_of(skill), "config", None)
        return skill

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """A new workflow from a template (`?template=`) or from another workflow (`?copy=`)."""
        of = request.GET.get("copy", "")
        source = self.get_object(request, of) if of else None
        name = request.GET.get("template", "")
        taken = {*self.get_queryset(request).values_list("skill_type", flat=True)}
        if source is not None:
            found = skill_exchange.copied(source, taken)
            return found | {"project": source.project_id}
        if name in skill_exchange.TITLES:
            return skill_exchange.started(name, taken)
        return super().get_changeform_initial_data(request)

    @admin.display(description=_("Workflow"))
    def show_check(self, obj: Skill) -> SafeString:
        """What is wrong with the configuration, what it changes, and its drawing."""
        project = obj.project if obj.project_id else None
        config = getattr(obj, "shown", None) or obj.config
        runs = None if obj._state.adding else obj
        is_edited = obj._state.adding or getattr(obj, "is_edited", False)
        is_blinded = getattr(obj, "is_blinded", False)
        starts = {name: getattr(obj, name) for name in editor.STARTS}
        written = Skill(project=project, config=config, **starts)
        shown = (
            editor.check_panel(written, runs, is_edited=is_edited, is_blinded=is_blinded)
            if config
            else ""
        )
        draft = draft_of(obj)
        context = {
            "shown": shown,
            "project": project,
            "skill": runs,
            "draft": draft,
            "author": actors.describe_actor(draft.author) if draft else "",
            "is_edited": is_edited,
            "templates": skill_exchange.STANDARD,
            "kinds": editor.kinds(),
            "outline": outline.outline(),
        }
        return render_to_string("skills/editor.html", context)

    def get_urls(self) -> Any:
        check = self.admin_site.admin_view(self.check_text)
        schema = self.admin_site.admin_view(self.schema)
        own = [
            path("check/", check, name="skills_skill_check"),
            path("schema/", schema, name="skills_skill_schema"),
            path("rule/", self.admin_site.admin_view(self.rule), name="skills_skill_rule"),
            path("offer/", self.admin_site.admin_view(self.offer), name="skills_skill_offer"),
        ]
        return own + super().get_urls()

    def check_text(self, request: HttpRequest) -> HttpResponse:
        """Check a text that is being written."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        skill = self.get_object(request, key) if (key := request.POST.get("skill")) else None
        return editor.check_view(request, administered(self, request), skill)

    def rule(self, request: HttpRequest) -> HttpResponse:
        """A rule that is being built, told back with examples."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        return rule_views.rule_view(request, administered(self, request))

    def offer(self, request: HttpRequest) -> HttpResponse:
        """Fields, visits and operators for the rule builder."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        return rule_views.offer_view(request, administered(self, request))

    def schema(self, request: HttpRequest) -> HttpResponse:
        """The JSON Schema of a configuration."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        return editor.schema_view(request)

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Somebody may save between our check and our write."""
        try:
            if "_discard" in request.POST and request.method == "POST":
                return self._discard(request, str(kwargs.get("object_id") or args[0]))
            return super().changeform_view(request, *args, **kwargs)
        except services.SkillChanged as error:
            messages.error(request, str(error))
            return redirect(request.path)

    def _discard(self, request: HttpRequest, key: str) -> HttpResponse:
        skill = self.get_object(request, key)
        if skill is None or not self.has_change_permission(request, skill):
            raise PermissionDenied
        if request.POST.get("read_at", "") != stamp(skill):
            raise services.SkillChanged
        publish.discard_draft(skill=skill, actor=request.user, seen=_saved_at(skill))
        messages.success(request, gettext("The draft is discarded; what runs stays as it is."))
        return redirect(request.path)

    def save_model(self, request: HttpRequest, obj: Skill, form: Any, change: bool) -> None:
        read = {"updated_at": form.instance.updated_at} if change else None
        seen = _saved_at(obj)
        if not form.waits:
            publish.publish(skill=obj, actor=request.user, seen=seen, read=read)
            return
        config, obj.config = obj.config, form.runs
        if form.others:
            services.save_skill(skill=obj, actor=request.user, read=read)
        publish.keep_draft(
            skill=obj,
            config=config,
            effective_on=form.planned,
            actor=request.user,
            seen=seen,
        )

    def response_add(self, request: HttpRequest, obj: Skill, *args: Any) -> HttpResponse:
        """After a draft to its page."""
        if not SkillDraft.objects.filter(skill=obj.pk).exists():
            answer: HttpResponse = super().response_add(request, obj, *args)
            return answer
        told = gettext("The draft is kept. The workflow is off until it is saved and switched on.")
        messages.success(request, told)
        return redirect("admin:skills_skill_change", obj.pk)

    def response_change(self, request: HttpRequest, obj: Skill) -> HttpResponse:
        """After a draft the page stays, and says what runs."""
        draft = SkillDraft.objects.filter(skill=obj.pk).first()
        if draft is None:
            answer: HttpResponse = super().response_change(request, obj)
            return answer
        told = gettext("The draft is kept; version %d goes on.") % draft.base_version
        if draft.effective_on:
            values = {"day": draft.effective_on, "version": draft.base_version}
            told = gettext("It takes effect on %(day)s; until then version %(version)d goes on.")
            told %= values
        messages.success(request, told)
        return redirect(request.path)

    def delete_model(self, request: HttpRequest, obj: Skill) -> None:
        services.delete_skill(skill=obj, actor=request.user)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        for skill in queryset:
            services.delete_skill(skill=skill, actor=request.user)


def _saved_at(skill: Skill) -> datetime | None:
    """When the draft was saved that the writer of this request read."""
    draft = draft_of(skill)
    return draft.saved_at if draft else None
